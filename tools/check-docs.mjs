// Compiles every TypeScript snippet of the documentation against the built package. The pages of frameworks print files of
// their examples instead, which compile and run where the framework is installed (`e2e/hosts/hosts.test.mjs`). Other pages can print
// such files, too.
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { filesBelow, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { FILE_LINE, guides, isVariant } from './lib/guides.mjs'
import { parseFences } from './lib/markdown.mjs'
import { bin, fromRoot, isMain, runNode } from './lib/run.mjs'

/** The extensions of languages. */
const languages = new Map(Object.entries({ ts: 'ts', typescript: 'ts', tsx: 'tsx' }))

/** Snippets import the client of the application from here, unless the page shows the file itself. */
const fallbacks = {
  'lib/idp.ts': "import { IdpClient } from 'idp-client/next'\n\nexport const idp = new IdpClient()\n",
}

const compilerOptions = {
  target: 'ES2022',
  module: 'ESNext',
  moduleResolution: 'Bundler',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  jsx: 'react-jsx',
  types: ['node'],
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  resolveJsonModule: true,
}

/**
 * The snippets of a page as files of one small project. A first line `// file: app/page.tsx` names
 * the file; the second snippet with the same name becomes a file of its own, so that variants are
 * checked as well. A fence ```` ```ts continued ```` continues the snippet before it.
 *
 * @returns {{ files: { path: string, text: string, lines: number[] }[], problems: string[] }} `lines`
 *   has the line of the page for each line of the file
 */
export function findSnippets(page, text) {
  const files = []
  const problems = []
  const taken = new Set()
  for (const fence of parseFences(text)) {
    const extension = languages.get(fence.language)
    if (extension === undefined) continue
    if (/\bno-check\b/.test(fence.info)) {
      if (!/no-check="[^"]{10,}"/.test(fence.info)) {
        problems.push(`${page}:${fence.line} no-check needs its reason: no-check="..."`)
      }
      continue
    }
    const code = fence.code.split('\n')
    const lines = code.map((_, index) => fence.line + index)
    const last = files.at(-1)
    if (/\bcontinued\b/.test(fence.info) && last) {
      last.code.push(...code)
      last.lines.push(...lines)
      continue
    }
    const named = /^\/\/ file: (\S+)/.exec(fence.code)?.[1]
    const wanted = named ?? `snippet-${fence.line}.${extension}`
    const path = taken.has(wanted) ? wanted.replace(/(\.\w+)$/, `.line-${fence.line}$1`) : wanted
    taken.add(path)
    files.push({ path, code, lines })
  }
  return {
    files: files.map(({ path, code, lines }) => ({ path, text: moduleText(code.join('\n')), lines })),
    problems,
  }
}

/**
 * Returns the name of the example whose files a page prints, `undefined` for other pages. Files of other examples have their path
 * in the repository.
 */
export const findExample = (page) => /^docs\/guides\/hosts\/([\w-]+)\.md$/.exec(page)?.[1]

/**
 * Compares the snippets of a page that name a file with the files of its example, or of the example that they name: the files
 * of a guide are those of the example, or files that only the guide has (`npm run test:guides` runs them); other snippets are
 * consecutive parts of their file.
 *
 * @param {(path: string) => string | null} readFile returns the text of a file of the example, `null` if there is none
 * @returns {string[]} a problem for each snippet that differs
 */
export function misquoted(page, text, readFile) {
  const example = findExample(page)
  const isGuide = example in guides
  return parseFences(text).flatMap(({ code, info, line }) => {
    const path = FILE_LINE.exec(code)?.[1]
    if (path === undefined || (example === undefined && !path.startsWith('examples/'))) return []
    const [printed, file] = [code.replace(FILE_LINE, ''), readFile(path)]
    const isSame =
      isGuide && !isVariant(info)
        ? file === null || file === `${printed}\n`
        : file?.includes(printed.trim()) === true
    return isSame ? [] : [`${page}:${line} differs from ${path} of the example`]
  })
}

// Without an import or export a file would share its names with all others.
const moduleText = (code) => `${code}\n${/^\s*(?:import|export)\b/m.test(code) ? '' : 'export {}\n'}`

const toFolder = (page) => page.replace(/\W+/g, '-')

/** Compiles the snippets of pages as one program; each page has a folder of its own, which `@/` stands for. */
async function compile(name, pages) {
  const root = fromRoot(`.cache/docs/${name}`)
  rmSync(root, { recursive: true, force: true })
  const written = pages.flatMap(({ page, files }) => {
    const names = new Set(files.map(({ path }) => path))
    const added = Object.entries(fallbacks).filter(([path]) => !names.has(path))
    return [...files, ...added.map(([path, text]) => ({ path, text }))].map(({ path, text }) => {
      const file = posix.join(toFolder(page), path)
      mkdirSync(dirname(join(root, file)), { recursive: true })
      const up = '../'.repeat(path.split('/').length - 1) || './'
      writeFileSync(join(root, file), text.replace(/(?<=['"])@\//g, up))
      return file
    })
  })
  writeFileSync(join(root, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: written }))
  const tsc = [bin.tsc, '-p', root, '--pretty', 'false']
  const { code, output } = await runNode(tsc, { cwd: root })
  return code === 0 ? [] : located(pages, output)
}

/** Compiler messages with the place in the page instead of the place in the extracted file. */
export function located(pages, output) {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return lines.map((line) => {
    const [, folder, path, at, message] = /^([^/(]+)\/(.+?)\((\d+),\d+\): (.*)$/.exec(line) ?? []
    const { page, files } = pages.find((candidate) => toFolder(candidate.page) === folder) ?? { files: [] }
    const file = files.find((candidate) => candidate.path === path)
    return file ? `${page}:${file.lines[Number(at) - 1] ?? file.lines.at(-1)} ${message}` : line.trim()
  })
}

const declares = ({ files }) => files.some(({ text }) => /^declare (?:module|global)\b/m.test(text))

function pages() {
  const isPage = (path) => path.endsWith('.md')
  return [
    ...filesBelow('', (path) => !path.includes('/') && isPage(path)),
    ...filesBelow('docs', isPage),
    ...filesBelow('packages', (path) => /^packages\/[^/]+\/[^/]+\.md$/.test(path)),
    ...filesBelow('e2e/consumers', isPage),
  ]
}

if (isMain(import.meta)) {
  const compiled = pages().filter((page) => !findExample(page))
  const all = [...new Set(compiled)].map((page) => ({ page, ...findSnippets(page, readText(page)) }))
  const work = all.filter(({ files }) => files.length > 0)
  const problems = all.flatMap((item) => item.problems)
  for (const page of pages()) {
    const toExampleFile = (path) =>
      path.startsWith('examples/') ? path : `examples/${findExample(page)}/${path}`
    const readFile = (path) =>
      existsSync(fromRoot(toExampleFile(path))) ? readText(toExampleFile(path)) : null
    problems.push(...misquoted(page, readText(page), readFile))
  }
  const count = work.reduce((sum, { files }) => sum + files.length, 0)
  // A page that declares something about a package must not change the others.
  const [apart, together] = [work.filter(declares), work.filter((item) => !declares(item))]
  problems.push(...(await compile('pages', together)))
  for (const item of apart) problems.push(...(await compile(toFolder(item.page), [item])))
  finish(problems, `${count} snippets on ${all.length} pages`)
}
