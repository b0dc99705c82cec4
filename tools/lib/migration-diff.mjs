import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow } from './files.mjs'
import { fromRoot } from './run.mjs'

const folder = 'examples/migration'

// A diff must not depend on what the user of this machine has configured.
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }

/** `<!-- diff: nextjs-auth0-v4 lib/old.ts -> lib/new.ts -->` and the fence below it. */
const marker = /^<!-- diff: (\S+) (\S+)(?: -> (\S+))? -->\n```diff\n([\s\S]*?)^```$/gm

/** Unified diff of two files, without the lines that name temporary places; a file may be missing on one side. */
export function unifiedDiff(before, after) {
  const [old, changed] = [before, after].map((path) => (existsSync(path) ? path : '/dev/null'))
  const args = [
    'diff',
    '--no-index',
    '--no-color',
    '--no-ext-diff',
    '--diff-algorithm=histogram',
    '--',
    old,
    changed,
  ]
  const { status, stdout, stderr } = spawnSync('git', args, { encoding: 'utf8', env })
  if (status === 0) return ''
  if (status !== 1) throw new Error(`git diff failed: ${stderr}`)
  // The text that git puts behind the numbers depends on how it knows the language.
  return stdout.slice(stdout.indexOf('\n@@') + 1).replace(/^(@@ .* @@).*$/gm, '$1')
}

function createDiff(example, oldPath, newPath) {
  const at = (side, path) => fromRoot(join(folder, example, side, path))
  const body = unifiedDiff(at('before', oldPath), at('after', newPath))
  const name = (side, path) => (existsSync(at(side, path)) ? `${side}/${path}` : '/dev/null')
  return body === '' ? '' : `--- ${name('before', oldPath)}\n+++ ${name('after', newPath)}\n${body}`
}

/** The page with the diff of today below each marker. */
export const withDiffs = (text) =>
  text.replace(marker, (_whole, example, oldPath, newPath = oldPath) => {
    const second = newPath === oldPath ? '' : ` -> ${newPath}`
    return `<!-- diff: ${example} ${oldPath}${second} -->\n\`\`\`diff\n${createDiff(example, oldPath, newPath)}\`\`\``
  })

/** Files of an example that differ, as paths inside its folders. */
function changedFiles(example) {
  const below = (side) => {
    const start = `${folder}/${example}/${side}`
    return filesBelow(start).map((path) => path.slice(start.length + 1))
  }
  const read = (side, path) => {
    const file = fromRoot(join(folder, example, side, path))
    return existsSync(file) ? readFileSync(file, 'utf8') : null
  }
  const all = [...new Set([...below('before'), ...below('after')])].sort()
  return all.filter((path) => read('before', path) !== read('after', path))
}

/**
 * Returns the problems of the diffs of one page: a fence that is out of date, or a changed file that it does not show.
 *
 * @param {string} path of the page
 * @param {string} text
 * @param {string} example folder in examples/migration
 */
export function diffProblems(path, text, example) {
  const shown = [...text.matchAll(marker)].filter((match) => match[1] === example)
  const files = new Set(shown.flatMap((match) => [match[2], match[3] ?? match[2]]))
  return [
    ...(withDiffs(text) === text ? [] : [`${path} is not up to date: run node tools/generate-migration.mjs`]),
    ...changedFiles(example)
      .filter((file) => !files.has(file))
      .map((file) => `${path} does not show the change of ${file} in ${folder}/${example}`),
  ]
}
