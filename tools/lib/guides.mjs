// The guides of hosts as applications: what their pages print, and what ran last.
import { existsSync, readFileSync } from 'node:fs'
import { readJson, readText } from './files.mjs'
import { hash } from './host-install.mjs'
import { findSection, parseFences } from './markdown.mjs'
import { fromRoot } from './run.mjs'

/**
 * The guides that print an application.
 *
 * @typedef {object} Guide
 * @property {string} [page] default: `docs/guides/hosts/<name>.md`
 * @property {string[]} [sections] headings of the parts of the page that are the guide; default: the whole page
 * @property {string} [starter] package of the official starter, as npm knows it; default: an empty folder
 * @property {string} [recorded] version of the starter whose output is in `e2e/guides/starters/<name>`, if it needs more than the
 *   npm registry
 * @property {string[]} frameworks packages whose installed versions the table of results names
 * @property {boolean} [action] whether `/account` has a form with a protected action
 * @property {string} [node] version of Node.js that it needs, installed unless the running one has this major version or a later one
 */

/** @type {Record<string, Guide>} */
export const guides = {
  astro: {
    starter: 'create-astro',
    recorded: '5.2.4',
    frameworks: ['astro', '@astrojs/node'],
    action: true,
    node: '22.23.3',
  },
  elysia: { starter: 'bun', frameworks: ['elysia'] },
  express: { frameworks: ['express'] },
  fastify: { frameworks: ['fastify'] },
  h3: { frameworks: ['h3', 'srvx'] },
  hono: { starter: 'create-hono', recorded: '0.19.5', frameworks: ['hono', '@hono/node-server'] },
  koa: { frameworks: ['koa', '@koa/router'] },
  nest: { starter: '@nestjs/cli', frameworks: ['@nestjs/core'], action: true },
  next: {
    page: 'docs/guides/quick-start.md',
    sections: ['Next.js 16', 'Next.js 16: a protected page, an API and a form'],
    starter: 'create-next-app',
    frameworks: ['next'],
    action: true,
  },
  node: { frameworks: [] },
  nuxt: {
    starter: 'create-nuxt',
    recorded: '3.37.0',
    frameworks: ['nuxt', 'vue'],
    action: true,
    node: '22.23.3',
  },
  'react-router': {
    starter: 'create-react-router',
    recorded: '8.4.0',
    frameworks: ['react-router'],
    action: true,
  },
  'solid-start': {
    starter: 'create-solid',
    recorded: '0.12.0',
    frameworks: ['@solidjs/start', 'nitro'],
    action: true,
    node: '24.21.0',
  },
  sveltekit: { starter: 'sv', frameworks: ['@sveltejs/kit', 'svelte', 'vite'], action: true },
  'tanstack-start': {
    starter: '@tanstack/cli',
    frameworks: ['@tanstack/react-start'],
    action: true,
    node: '22.23.3',
  },
}

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

/** Returns the hash of everything that a page prints for an application. */
export const hashBlocks = (blocks) => hash(JSON.stringify(blocks))

/** File with the latest run of a guide that passed. */
export const toResultFile = (name) => `e2e/guides/results/${name}.json`

/** Returns the latest run of a guide that passed, if there is one. */
export const readResult = (name) =>
  existsSync(fromRoot(toResultFile(name))) ? readJson(toResultFile(name)) : undefined

/** Returns the folder with the recorded output of the starter of a guide, if there is one. */
export const toStarterFolder = (name) => guides[name].recorded && fromRoot(`e2e/guides/starters/${name}`)

/** Returns a hash of what a run depends on, besides the registry: the page, the packages, the tool. */
export function toFingerprint(name, tarballs) {
  const tools = ['test-guides', 'lib/guides', 'lib/guide-run', 'lib/host-browser']
  const files = [...Object.values(tarballs), ...tools.map((tool) => fromRoot(`tools/${tool}.mjs`))]
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
