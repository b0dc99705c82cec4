import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { contrasts } from '../../e2e/migration/contrasts.mjs'
import { filesBelow } from './files.mjs'
import { fromRoot } from './run.mjs'
import { parseRows } from './tables.mjs'

const folder = 'examples/migration'

// A diff must not depend on what the user of this machine has configured.
const env = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' }

/** `<!-- diff: nextjs-auth0-v4 lib/old.ts -> lib/new.ts -->` and the fence below it. */
const marker = /^<!-- diff: (\S+) (\S+)(?: -> (\S+))? -->\n```diff\n([\s\S]*?)^```$/gm

/** Unified diff of two files, without the lines that name temporary places; a file may be missing on one side. */
export function unifiedDiff(before, after) {
  const [old, changed] = [before, after].map((path) => (existsSync(path) ? path : '/dev/null'))
  const options = ['--no-index', '--no-color', '--no-ext-diff', '--diff-algorithm=histogram']
  const args = ['diff', ...options, '--', old, changed]
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
 * The page about a migration with the diffs of its example, if it has one. It shows every changed file, and a row for each known
 * difference.
 */
export function migrationPage(text, path, known = contrasts) {
  const example = basename(path, '.md')
  if (!existsSync(fromRoot(join(folder, example)))) return text
  const shown = [...text.matchAll(marker)].flatMap(([, , oldPath, newPath = oldPath]) => [oldPath, newPath])
  const hidden = changedFiles(example).filter((file) => !shown.includes(file))
  if (hidden.length > 0)
    throw new Error(`does not show the change of ${hidden.join(', ')} in ${folder}/${example}`)
  const rows = parseRows(text).map((cells) => Object.values(cells)[0])
  const missing = known[example].filter(({ row }) => !rows.includes(row))
  if (missing.length > 0) throw new Error(`has no row "${missing.map(({ row }) => row).join('", "')}"`)
  return withDiffs(text)
}
