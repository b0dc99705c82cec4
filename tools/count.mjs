// node tools/count.mjs: how large the project is. A code line has a token that is not a comment.
import { readFileSync, statSync } from 'node:fs'
import { parseSync, Visitor } from 'rolldown/utils'
import { filesBelow } from './lib/files.mjs'
import { fromRoot, isMain, run } from './lib/run.mjs'

const isModule = (path) => /\.[cm]?[jt]sx?$/.test(path) && !/\.test\.\w+$/.test(path)

const parts = {
  library: filesBelow(
    'packages/idp-client/src',
    (path) => isModule(path) && !/\/src\/(?:testing|cli)\//.test(path),
  ),
  'library: testing, cli': ['testing', 'cli'].flatMap((name) =>
    filesBelow(`packages/idp-client/src/${name}`, isModule),
  ),
  tools: filesBelow('tools', isModule),
  'e2e: support': filesBelow(
    'e2e',
    (path) => isModule(path) && !/^e2e\/(?:fixtures|(?:consumers|hosts|guides)\/[^/]+)\//.test(path),
  ),
  'dev provider': filesBelow('packages/dev-provider/src', isModule),
}

/**
 * Returns the number of the code lines of a module, and that of each of its functions: of the lines between its braces, or
 * of its expression.
 *
 * @param {string} path its extension tells the language
 */
export function countLines(path, text) {
  const { comments, errors, program } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const blank = (part) => part.replace(/[^\n]/g, ' ')
  let code = text.replace(/^#!.*/, blank)
  for (const { end, start } of comments)
    code = code.slice(0, start) + blank(code.slice(start, end)) + code.slice(end)
  const count = (part) => part.split('\n').filter((line) => line.trim() !== '').length
  const functions = []
  const add = ({ body }) => {
    if (body) functions.push(count(code.slice(...toRange(body))))
  }
  new Visitor({ ArrowFunctionExpression: add, FunctionDeclaration: add, FunctionExpression: add }).visit(
    program,
  )
  return { functions, lines: count(code) }
}

/** Start and end of what a body holds. */
const toRange = ({ end, start, type }) =>
  /^(?:BlockStatement|FunctionBody)$/.test(type) ? [start + 1, end - 1] : [start, end]

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/** Returns the bytes of all files of a package as npm publishes it, or null without a build. */
async function unpackedSize(folder) {
  if (!statSync(fromRoot(`${folder}/dist`), { throwIfNoEntry: false })) return null
  const { output } = await run('npm', ['pack', '--dry-run', '--ignore-scripts', '--json'], {
    cwd: fromRoot(folder),
  })
  return JSON.parse(output.slice(output.indexOf('[')))[0].unpackedSize
}

if (isMain(import.meta)) {
  for (const [name, paths] of Object.entries(parts)) {
    const counted = paths.map((path) => countLines(path, readFileSync(fromRoot(path), 'utf8')))
    const lines = counted.reduce((sum, { lines }) => sum + lines, 0)
    const functions = counted.flatMap((each) => each.functions)
    const large = paths.filter((_, index) => counted[index].lines > 400)
    console.log(
      `${name}: ${lines} code lines, ${paths.length} files, ${functions.length} functions, median ${median(functions)} lines; above 400 lines: ${large.join(', ') || 'none'}`,
    )
  }
  const size = await unpackedSize('packages/idp-client')
  console.log(size === null ? 'unpacked package: not built' : `unpacked package: ${size} bytes`)
}
