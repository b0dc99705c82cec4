// Workflows run other people's code beside a token of this repository, so every action is pinned to a commit.
import { readdirSync, readFileSync } from 'node:fs'
import { readJson } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { fromRoot, isMain, run } from './lib/run.mjs'

const folder = '.github/workflows'
const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12'

/** Problems of one workflow, as text: actions that are not pinned, and permissions that are not stated. */
export function workflowProblems(name, text) {
  const uses = [...text.matchAll(/^\s*(?:- )?uses: (.+)$/gm)].map(([, value]) => value)
  return [
    ...uses
      .filter((value) => !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(value))
      .map((value) => `${name}: pin ${value} to a commit, with its version as comment`),
    ...(/^permissions:/m.test(text) ? [] : [`${name}: state the permissions of the workflow, at best none`]),
  ]
}

/** Problems of a package manifest that does not name the repository as the root's manifest does. */
export function manifestProblems(root, manifest, directory) {
  const expected = {
    author: root.author,
    homepage: root.homepage,
    bugs: root.bugs,
    repository: { ...root.repository, directory },
  }
  return Object.entries(expected)
    .filter(([field, value]) => JSON.stringify(manifest[field]) !== JSON.stringify(value))
    .map(([field, value]) => `${directory}/package.json: ${field} should be ${JSON.stringify(value)}`)
}

/** Problems that actionlint finds, or `null` where it cannot be had: no Go, or no network to load it from. */
async function lint() {
  const { code, output } = await run('go', ['run', actionlint, '-shellcheck=']).catch(() => ({ code: null }))
  if (code === 0) return []
  const lines = output?.split('\n').filter((line) => line.startsWith(folder)) ?? []
  return lines.length === 0 ? null : lines
}

if (isMain(import.meta)) {
  const names = readdirSync(fromRoot(folder))
  const root = readJson('package.json')
  const problems = [
    ...names.flatMap((name) => workflowProblems(name, readFileSync(fromRoot(`${folder}/${name}`), 'utf8'))),
    ...['packages/idp-client', 'packages/dev-provider'].flatMap((directory) =>
      manifestProblems(root, readJson(`${directory}/package.json`), directory),
    ),
  ]
  const linted = await lint()
  if (linted === null)
    console.log('note: actionlint did not check the workflows: it needs Go, and the network to load it')
  finish([...problems, ...(linted ?? [])], `${names.length} workflows`)
}
