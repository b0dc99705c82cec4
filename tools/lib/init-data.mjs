// The guides as data, for `idp-client init` and `npm create idp-app`.
import { existsSync } from 'node:fs'
import { hosts } from '../hosts.mjs'
import { readJson, readText } from './files.mjs'
import { guides, parseGuide, readGuide, readResult } from './guides.mjs'
import { findSection } from './markdown.mjs'
import { fromRoot } from './run.mjs'
import { parseRows } from './tables.mjs'

const own = ['idp-client', 'idp-dev-provider']

/** By guide and path, the SHA-256 of what official starters created in place of a file that the guide replaces. */
export const starterFilesPath = 'e2e/guides/starters/files.json'

/** How an application of a guide is recognized, besides the first of its `frameworks`: by files of a name, or another package. */
const detection = {
  next: { configs: ['next.config'] },
  nuxt: { configs: ['nuxt.config'] },
  nest: { configs: ['nest-cli'] },
  astro: { configs: ['astro.config'] },
  // Applications without its server have react-router, too.
  'react-router': { packages: ['@react-router/dev'], configs: ['react-router.config'] },
}

const findBlocks = (blocks, role) => blocks.filter((block) => block.role === role)

/** Names of the further packages that a guide installs; `h3@2` is `h3`. */
const toPackages = (lines) =>
  lines
    .flatMap((line) => line.split(' ').slice(2))
    .filter((word) => !/^[-.]/.test(word))
    .map((word) => word.replace(/(?<=.)@.*$/, ''))
    .filter((name) => !own.includes(name))

/** The range of a package that the latest run of the guide installed, or that the example has. */
function toRange(name, host) {
  const example = `examples/${host}/package.json`
  const { dependencies = {} } = existsSync(fromRoot(example)) ? readJson(example) : {}
  const version = readResult(host)?.versions[name] ?? dependencies[name]
  if (version === undefined)
    throw new Error(`${name} of the guide of ${host}: no version in its results, none in ${example}`)
  return `^${version.replace(/^\D+/, '')}`
}

const toFiles = (blocks, starterFiles) =>
  blocks
    .filter(({ path }) => path !== undefined)
    .map(({ path, text }) => ({ path, text, starter: starterFiles?.[path] ?? [] }))

function toGuide(name, starterFiles) {
  const { page = `docs/guides/hosts/${name}.md`, starter, frameworks } = guides[name]
  const { packages: detected, configs = [] } = detection[name] ?? {}
  const blocks = readGuide(name)
  const provider = findBlocks(blocks, 'provider')[0].lines.at(-1)
  const [, app] = /--app (\S+)/.exec(provider)
  const [, envFile] = /--write (\S+)/.exec(provider)
  const packages = toPackages(findBlocks(blocks, 'install').flatMap(({ lines }) => lines))
  return {
    title: hosts[name]?.title ?? 'Next.js 16',
    page,
    // A host without one, such as node:http, is never detected.
    packages: detected ?? frameworks.slice(0, 1),
    configs,
    needsStarter: starter !== undefined,
    tested: frameworks.length === 0 ? '' : toRange(frameworks[0], name),
    dependencies: Object.fromEntries(packages.map((each) => [each, toRange(each, name)])),
    app,
    envFile,
    development: findBlocks(blocks, 'development')[0].lines.at(-1),
    files: toFiles(blocks, starterFiles[name]),
  }
}

/** The quick start's variants of Next.js: what replaces `proxy.ts` in older versions, and the Pages Router. */
function toNextVariants(next, starterFiles) {
  const page = readText(next.page)
  const print = (name, heading) => toFiles(parseGuide(findSection(page, heading)), starterFiles[name])
  const isMount = ({ path }) => path === 'proxy.ts'
  const paths = print('next', 'Next.js 16').map(({ path }) => path)
  const start = (name) =>
    next.files
      .filter((file) => paths.includes(file.path) && !isMount(file))
      .map((file) => ({ ...file, starter: starterFiles[name]?.[file.path] ?? [] }))
  const pagesRouter = print('next', 'Next.js, Pages Router')
  const client = next.files.filter(({ path }) => path === 'lib/idp.ts')
  const mounts = {
    next: next.files.filter(isMount),
    'next-15': print('next-15', 'Next.js 15'),
    'next-14': print('next-14', 'Next.js 14'),
  }
  const variants = Object.entries(mounts).flatMap(([name, mount]) => {
    const title = name === 'next' ? next.title : `Next.js ${name.slice(-2)}`
    const pages = { ...next, title: `${title}, Pages Router`, files: [...client, ...mount, ...pagesRouter] }
    const app = { ...next, title, files: [...start(name), ...mount] }
    return [...(name === 'next' ? [] : [[name, app]]), [`${name}-pages`, pages]]
  })
  // A version and a router are chosen after Next.js was detected.
  return Object.fromEntries(variants.map(([name, guide]) => [name, { ...guide, packages: [], configs: [] }]))
}

const providerPages = {
  keycloak: 'keycloak',
  auth0: 'auth0',
  entra: 'microsoft-entra-id',
  okta: 'okta',
  google: 'google',
  cognito: 'amazon-cognito',
  zitadel: 'zitadel',
  authentik: 'authentik',
  ory: 'ory',
  spring: 'spring-authorization-server',
}

/** A table's cell as text for a terminal. */
const toText = (cell) =>
  cell
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '')
    .trim()

/** The title of a provider's page, and what the page says of the variable IDP_DOMAIN. */
function toProvider(file) {
  const page = `docs/providers/${file}.md`
  const text = readText(page)
  const rows = parseRows(findSection(text, 'Settings'))
  const domain =
    rows.find(({ Variable }) => Variable?.includes('IDP_DOMAIN'))?.Value ??
    rows.find((row) => row['`IDP_DOMAIN`'])?.['`IDP_DOMAIN`']
  if (domain === undefined) throw new Error(`${page}: no row of IDP_DOMAIN in its settings`)
  return { title: /^# (.+)$/m.exec(text)[1], page, domain: toText(domain) }
}

const mapValues = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value, key)]))

/** The guides and providers that `init` knows; its types are in `cli/init/guides.ts`. */
export function createInitData() {
  const starterFiles = readJson(starterFilesPath)
  const all = mapValues(guides, (_, name) => toGuide(name, starterFiles))
  return {
    guides: { ...all, ...toNextVariants(all.next, starterFiles) },
    providers: mapValues(providerPages, toProvider),
  }
}

/** How `npm create idp-app` makes the application of each guide: the commands that the guide prints. */
export const createStarterData = () =>
  mapValues(guides, ({ node, starter }, name) => ({
    title: hosts[name]?.title ?? 'Next.js 16',
    needsStarter: starter !== undefined,
    create: findBlocks(readGuide(name), 'create').flatMap(({ lines }) => lines),
    node: node ?? null,
  }))

/** Modules that a build makes of the pages, by the name that the source imports. */
const modules = {
  '#init-data': () => {
    const { guides: all, providers } = createInitData()
    return `export const guides = ${JSON.stringify(all)}\nexport const providers = ${JSON.stringify(providers)}`
  },
  '#starters': () =>
    [
      `export const starters = ${JSON.stringify(createStarterData())}`,
      `export const providers = ${JSON.stringify(['dev', ...Object.keys(providerPages)])}`,
    ].join('\n'),
}

/** Returns the text of a generated module. */
export const createModule = (name) => modules[name]()

/** Plugin for rolldown and Vite that provides the generated modules. */
export const generatedModules = () => ({
  name: 'generated-modules',
  // Vite would look for a name with # in the manifest first.
  enforce: 'pre',
  resolveId: (id) => (Object.hasOwn(modules, id) ? `\0${id.slice(1)}.js` : null),
  load: (id) => {
    const name = Object.keys(modules).find((each) => id === `\0${each.slice(1)}.js`)
    return name === undefined ? null : createModule(name)
  },
})
