// The guides of hosts as applications: what their pages print, and what ran last.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { guides } from '../hosts.mjs'
import { readJson, readText } from './files.mjs'
import { findSection, parseFences } from './markdown.mjs'
import { fromRoot } from './run.mjs'

export { guides }

/** The runs that make the application of a guide by `idp-client init`, with the name of the guide. */
export const initRuns = Object.fromEntries(
  Object.keys(guides)
    .filter((name) => name !== 'solid-start')
    .map((name) => [`init-${name}`, name]),
)

/** The runs that make an application by `npm create idp-app`, with the name of the guide. */
export const createRuns = { 'create-express': 'express', 'create-next': 'next' }

/** In the order in which they run; the files are written after `install`. */
export const roles = ['create', 'install', 'check', 'provider', 'development', 'build', 'production']

/** The line that makes a block a file of the application. */
export const FILE_LINE = /^(?:\/\/|<!--|#) file: (\S+?)(?: -->)?\n/

const toWords = (info) => info.split(/\s+/).filter((word) => word !== '')

/** Whether a block is an alternative, by the words behind its language. */
export const isVariant = (info) => toWords(info).includes('variant')

/**
 * Returns the blocks of a guide that make an application, in the order of the page: commands with their role, and whole files
 * without the line that names them.
 *
 * @param {string} text of the page, or of the part that is the guide
 * @returns {({ role: string, lines: string[] } | { path: string, text: string })[]}
 * @throws when a block of commands has an unknown word, or a file is printed twice
 */
export function parseGuide(text) {
  const blocks = parseFences(text).flatMap(({ language, info, code, line }) => {
    if (isVariant(info)) return []
    const path = FILE_LINE.exec(code)?.[1]
    if (path !== undefined) return [{ path, text: `${code.replace(FILE_LINE, '')}\n` }]
    const [role] = toWords(info)
    if (language !== 'sh' || role === undefined) return []
    if (!roles.includes(role))
      throw new Error(`line ${line}: sh ${role}; known: ${roles.join(', ')}, variant`)
    return [{ role, lines: code.split('\n').filter((each) => each.trim() !== '') }]
  })
  const paths = blocks.flatMap(({ path }) => path ?? [])
  const twice = paths.find((path, index) => paths.indexOf(path) !== index)
  if (twice !== undefined)
    throw new Error(`${twice} is printed twice: print it once as a whole, or as variant`)
  return blocks
}

/** Returns the blocks that the page of a guide prints. */
export function readGuide(name) {
  const { page = `docs/guides/hosts/${name}.md`, sections } = guides[name]
  const text = readText(page)
  try {
    return parseGuide(
      sections === undefined ? text : sections.map((heading) => findSection(text, heading)).join('\n'),
    )
  } catch (error) {
    throw new Error(`${page}: ${error.message}`)
  }
}

const hash = (...parts) => {
  const sum = createHash('sha256')
  for (const part of parts) sum.update(part)
  return sum.digest('hex')
}

/** Returns the hash of everything that a page prints for an application. */
export const hashBlocks = (blocks) => hash(JSON.stringify(blocks))

/** File with the latest run of a guide that passed. */
export const toResultFile = (name) => `e2e/guides/results/${name}.json`

/** Returns the latest run of a guide that passed, if there is one. */
export const readResult = (name) =>
  existsSync(fromRoot(toResultFile(name))) ? readJson(toResultFile(name)) : undefined

/** Returns a hash of what a run depends on, besides the registry: the page, the packages, the tool. */
export function toFingerprint(name, tarballs) {
  const tools = [
    'e2e/guides/guides.test',
    'e2e/guides/guide-run',
    'e2e/support/example-visit',
    'tools/lib/guides',
  ]
  const files = [...Object.values(tarballs), ...tools.map((tool) => fromRoot(`${tool}.mjs`))]
  return hash(JSON.stringify([guides[name], readGuide(name)]), ...files.map((path) => readFileSync(path)))
}

/**
 * Returns why the latest run of a guide does not stand for its page, or `null`.
 *
 * @param {{ blocks: string, version: string } | undefined} result
 * @param {string} blocks hash of what the page prints
 * @param {string} version of the packages
 */
export function findStale(result, blocks, version) {
  if (result === undefined) return 'no run has passed'
  if (result.blocks !== blocks) return 'the page prints other blocks than those that ran'
  return result.version === version ? null : `ran for version ${result.version}, not ${version}`
}
