import { mkdirSync, readFileSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseSync } from 'rolldown/utils'
import { filesIn } from './files.mjs'
import { must } from './run.mjs'

const required = ['CHANGELOG.md', 'LICENSE', 'README.md', 'dist/index.d.ts', 'dist/index.js', 'package.json']

/** Of comments, code has the annotations that bundlers need, and what a type checker reads in a declaration. */
const isAnnotation = ({ value }) =>
  /^\s*(?:[@#]__(?:PURE|NO_SIDE_EFFECTS|INLINE)__|@vite-ignore)\s*$/.test(value)

/**
 * Problems of an unpacked tarball: files that are missing or too many bytes, source maps and what refers to them, comments
 * in code. Declarations have the comments for users; the repository has all.
 *
 * @param {string} folder where the package was unpacked
 * @param {number} limit bytes of all files together
 */
export function contentProblems(folder, limit) {
  const files = filesIn(folder)
  const paths = new Set(files.map((file) => relative(folder, file).replaceAll('\\', '/')))
  const size = files.reduce((sum, file) => sum + statSync(file).size, 0)
  const problems = required.filter((path) => !paths.has(path)).map((path) => `${path} is missing`)
  if (size > limit) problems.push(`${size} bytes unpacked, at most ${limit} are allowed`)
  for (const path of paths) {
    const text = readFileSync(join(folder, path), 'utf8')
    if (path.endsWith('.map')) problems.push(`${path}: source maps are not published`)
    if (/^\/\/# sourceMappingURL=/m.test(text)) problems.push(`${path} refers to a source map`)
    if (!path.endsWith('.js')) continue
    const { comments } = parseSync(path, text.replace(/^#!.*/, ''))
    const [comment] = comments.filter((each) => !isAnnotation(each))
    if (comment) problems.push(`${path} has a comment: ${comment.value.trim().split('\n')[0]}`)
  }
  return problems
}

/** Unpacks a tarball of npm into a folder, without the folder `package` that all its paths begin with. */
export async function unpack(tarball, folder) {
  mkdirSync(folder, { recursive: true })
  await must('tar', ['-xzf', tarball, '-C', folder, '--strip-components=1'])
}
