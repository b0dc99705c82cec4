// Keeps files and functions small enough to be read in one go.
import { filesBelow, readText } from './lib/files.mjs'
import { functionsOf } from './lib/functions.mjs'
import { finish } from './lib/gate.mjs'
import { isMain } from './lib/run.mjs'
import { blank } from './lib/source-text.mjs'
import { exceptions, limits, soft } from './rules/sizes.mjs'

const folders = ['packages', 'examples', 'e2e', 'bench', 'interop', 'tools']

/** Lines of a text that hold code. */
export function codeLines(text) {
  return blank(text, { strings: false })
    .split('\n')
    .filter((line) => line.trim() !== '').length
}

/** What a file has above the limits: itself, or functions in it (`name` is set for those). */
export function oversized(path, text) {
  const isTest = /\.test\.\w+$/.test(path) || /\/test\//.test(path)
  const limit = isTest ? limits.test : limits.file
  const lines = codeLines(text)
  const found = lines > limit ? [{ path, name: undefined, line: 1, lines, limit }] : []
  if (isTest) return found
  const long = functionsOf(text).filter((item) => item.lines > limits.function)
  return [...found, ...long.map((item) => ({ path, limit: limits.function, ...item }))]
}

if (isMain(import.meta)) {
  const paths = folders.flatMap((folder) => filesBelow(folder, (path) => /\.(?:tsx?|mjs)$/.test(path)))
  const sizes = paths.map((path) => ({ path, text: readText(path) }))
  const used = new Set()
  const problems = []
  for (const item of sizes.flatMap(({ path, text }) => oversized(path, text))) {
    const exception = exceptions.find((row) => row.path === item.path && row.name === item.name)
    if (exception) used.add(exception)
    if (exception && item.lines <= exception.lines) continue
    const what = item.name === undefined ? 'file' : `function ${item.name}`
    problems.push(
      `${item.path}:${item.line} ${what} has ${item.lines} code lines, the limit is ${exception?.lines ?? item.limit}`,
    )
  }
  for (const row of exceptions) {
    if (!used.has(row)) problems.push(`exception for ${row.path} ${row.name ?? ''} is not needed any more`)
  }
  const large = sizes.filter(({ path, text }) => !/\.test\./.test(path) && codeLines(text) > soft)
  for (const { path, text } of large) console.log(`note: ${path} has ${codeLines(text)} code lines`)
  finish(problems, `${paths.length} files`)
}
