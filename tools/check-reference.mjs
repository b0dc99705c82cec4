// The reference pages must say what the source says: options, variables, routes, codes, events, limits.
import { existsSync } from 'node:fs'
import { llmsProblems } from './generate-llms.mjs'
import { choices, errorsPage, optionsPage } from './generate-reference.mjs'
import { filesBelow, readText } from './lib/files.mjs'
import { finish } from './lib/gate.mjs'
import { loadSource, marked, parseRows } from './lib/reference.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

const page = (name) => `docs/reference/${name}.md`

/** Differences between what is documented and what there is; each documented once. */
function compare(path, what, documented, known) {
  const twice = documented.filter((name, index) => documented.indexOf(name) !== index)
  return [
    ...known.filter((name) => !documented.includes(name)).map((name) => `${path} lacks ${what} ${name}`),
    ...documented
      .filter((name) => !known.includes(name))
      .map((name) => `${path} names ${what} ${name}, which does not exist`),
    ...new Set(twice.map((name) => `${path} names ${what} ${name} twice`)),
  ]
}

const firstMark = (cell) => marked(cell ?? '')[0]

/** The problem of a page that differs from what the source says, or that cannot follow from it. */
function staleness(path, text, generate) {
  try {
    return text === generate() ? [] : [`${path} is not up to date: run node tools/generate-reference.mjs`]
  } catch (error) {
    return [error.message]
  }
}

/** `text` is the page about options. */
export const optionProblems = (text, source) =>
  staleness(page('options'), text, () => optionsPage(text, source))

/** How the page about variables begins to describe the values of a plain kind. */
const values = {
  boolean: () => 'boolean',
  number: ({ unit }) => unit,
  'one of': ({ values }) => choices(values),
}

/** `text` is the page about variables. */
export function variableProblems(text, { optionRows, variableNames }) {
  const path = page('env')
  const rows = parseRows(text).filter(({ cells }) => 'Variable' in cells)
  const names = rows.map(({ cells }) => firstMark(cells['Variable']))
  const options = Object.entries(optionRows)
  const pairs = options.flatMap(([option, { variable }]) => (variable ? [`${variable} ${option}`] : []))
  const told = rows
    .filter(({ cells }) => 'Value' in cells && firstMark(cells['Option']) !== undefined)
    .map(({ cells }) => `${firstMark(cells['Variable'])} ${firstMark(cells['Option'])}`)
  const wrong = rows.flatMap(({ line, cells }) => {
    const row = optionRows[firstMark(cells['Option'])]
    const value = values[row?.kind]?.(row) ?? ''
    return 'Value' in cells && !cells['Value'].startsWith(value)
      ? [`${path}:${line} the value is ${value}`]
      : []
  })
  return [
    ...compare(path, 'variable', names, [...variableNames]),
    ...compare(path, 'pair', told, pairs),
    ...wrong,
  ]
}

/** `text` is the page about routes. */
export function routeProblems(text, { table, resolve }) {
  const path = page('routes')
  const { settings } = resolve({ logger: () => {} }, {})
  const rows = parseRows(text).filter(({ cells }) => 'Default path' in cells)
  const kinds = {
    'on-navigation': 'navigations',
    'on-own-navigation': 'navigations, not cross-site',
    'not-on-prefetch': 'any request except prefetches',
    'not-cross-site': 'any request, not cross-site',
    'on-any-request': 'any request',
  }
  const told = rows.map(({ cells }) =>
    [firstMark(cells['Key']), firstMark(cells['Default path']), cells['Methods'], cells['Acts on']].join(
      ' | ',
    ),
  )
  const known = Object.entries(table).map(([key, { methods, acts }]) =>
    [key, settings.routes[key], methods.join(', '), kinds[acts]].join(' | '),
  )
  return compare(path, 'the route', told, known)
}

/** `text` is the page about errors. */
export const errorProblems = (text, { codes }) => staleness(page('errors'), text, () => errorsPage(codes))

/** Names of others that pages mention: variables of other libraries, of hosts and of Node, codes of the system. */
const foreign =
  /^(?:NEXT_PUBLIC_)?(?:AUTH0|NEXTAUTH|AUTH|OIDC|VERCEL|NODE|STAFF)_|^(?:ISSUER_BASE_URL|BASE_URL|CLIENT_ID|CLIENT_SECRET|HTTPS?_PROXY|NO_PROXY|SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_VERIFY_LEAF_SIGNATURE|DENO_CERT)$|^ERR_/

/** Codes that pages mention must exist: upper-case names between code marks. */
export function codeProblems(path, text, known) {
  const shape = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/
  const names = new Set(marked(text.replace(/^(```+)[\s\S]*?^\1$/gm, '')).filter((name) => shape.test(name)))
  return [...names]
    .filter((name) => !known.has(name) && !foreign.test(name))
    .map((name) => `${path} names ${name}, which does not exist`)
}

/** Names of events in the text of the log module: the properties of `LogEventDetails`. */
const eventNames = (source) => [...source.matchAll(/^ {2}readonly ([A-Z_]+):/gm)].map((match) => match[1])

/** `source` is the text of the log module, whose union of events exists as a type only. */
export function eventProblems(text, source) {
  const known = eventNames(source)
  const rows = parseRows(text).filter(({ cells }) => 'Level' in cells)
  const members = rows.flatMap(({ cells }) =>
    marked(cells['Further properties'])
      .slice(0, cells['Further properties'].includes(':') ? 1 : undefined)
      .filter((name) => !new RegExp(`\\breadonly ${name}\\??:`).test(source))
      .map((name) => `${page('events')} names the property ${name}, which does not exist`),
  )
  const names = rows.map(({ cells }) => firstMark(cells['Code']))
  return [...compare(page('events'), 'event', names, known), ...members]
}

/** Numbers in the page about limits: those of options and those of constants. `read` gives the text of a module. */
export function limitProblems(text, { optionRows }, read) {
  return parseRows(text)
    .filter(({ cells }) => 'Set by' in cells)
    .flatMap(({ line, cells }) => {
      const [first = '', constant] = marked(cells['Set by'])
      const value = constant === undefined ? optionRows[first]?.default : numberIn(read(first), constant)
      if (value === undefined) {
        return first === '' ? [] : [`${page('limits')}:${line} ${cells['Set by']} sets no number`]
      }
      return Number.parseFloat(cells['Value']) === value
        ? []
        : [`${page('limits')}:${line} ${cells['Limit']}: the value is ${value}`]
    })
}

function numberIn(module, constant) {
  const found = new RegExp(`\\bconst ${constant}(?:: \\w+)? = ([\\d_.]+)`).exec(module ?? '')?.[1]
  return found === undefined ? undefined : Number(found.replaceAll('_', ''))
}

/** Codes of Node.js and OpenSSL that pages name. */
const systemCodes = [
  'EAI_AGAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
]

const sourceFolder = 'packages/idp-client/src'

const readSource = (file) => {
  const path = `${sourceFolder}/${file}`
  return existsSync(fromRoot(path)) ? readText(path) : null
}

async function problemsOfReference() {
  const source = await loadSource()
  const text = Object.fromEntries(
    ['options', 'env', 'routes', 'errors', 'events', 'limits'].map((name) => [name, readText(page(name))]),
  )
  const log = readSource('log/log.ts')
  const events = eventNames(log)
  const limits = ['MAX_COOKIE_BYTES']
  const constants = parseRows(text.limits).flatMap(({ cells }) => marked(cells['Set by'] ?? '').slice(1))
  const variables = [...source.variableNames]
  const exported = ['DEFAULT_ID_TOKEN_CLAIMS']
  const known = new Set([
    ...Object.keys(source.codes),
    ...Object.keys(source.remedies),
    ...systemCodes,
    ...events,
    ...constants,
    ...limits,
    ...variables,
    ...exported,
  ])
  const pages = [
    'README.md',
    ...filesBelow('docs', (path) => path.endsWith('.md')),
    'packages/idp-client/README.md',
  ]
  return [
    ...optionProblems(text.options, source),
    ...variableProblems(text.env, source),
    ...routeProblems(text.routes, source),
    ...errorProblems(text.errors, source),
    ...eventProblems(text.events, log),
    ...limitProblems(text.limits, source, readSource),
    ...pages.flatMap((path) => codeProblems(path, readText(path), known)),
    ...llmsProblems(),
  ]
}

if (isMain(import.meta)) {
  finish(await problemsOfReference(), 'options, variables, routes, codes, events, limits and llms.txt agree')
}
