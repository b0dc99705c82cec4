// node tools/generate-reference.mjs: writes the pages of docs/reference that follow from the source alone.
import { writeFileSync } from 'node:fs'
import { docstringsOfClasses, optionDocs } from './lib/docstrings.mjs'
import { filesBelow, readText } from './lib/files.mjs'
import { loadSource } from './lib/reference.mjs'
import { fromRoot, isMain } from './lib/run.mjs'

/**
 * The docstring of every error class, by its name. `IdpError` also is the class of errors without a class of their own.
 *
 * @returns {Record<string, string>}
 */
export function classDocs() {
  const modules = filesBelow('packages/idp-client/src/errors', (path) => /(?<!\.test)\.ts$/.test(path))
  return Object.fromEntries(modules.flatMap((path) => docstringsOfClasses(readText(path))))
}

const introduction = `# Errors

<!-- Written by tools/generate-reference.mjs from packages/idp-client/src/errors/codes.ts. Do not edit. -->

Every error has a \`code\` from the tables below. Rely on codes, not on texts. Check the code with \`isIdpError\`, or the class
with \`instanceof\`; every entry exports both. They work across several copies of the package in one process and for the
errors of the browser helpers. \`instanceof\` with your own subclass checks the prototype chain, as usual.

\`\`\`ts
import { InvalidConfigurationError, isIdpError } from 'idp-client/errors'

export function explain(error: unknown): string {
  if (isIdpError(error, 'MISSING_SESSION')) return 'Please log in.'
  if (error instanceof InvalidConfigurationError) return 'Login is not set up yet.'
  if (isIdpError(error)) return \`Login is not possible (\${error.code}).\`
  throw error
}
\`\`\`

Some frameworks show the \`message\` of an error to users. It consists of constant sentences: what happened, the fix, and the
same of a \`cause\` of this library. Which option, address or response it was follows only if \`NODE_ENV\` is \`development\` or
\`test\`, and in errors that are thrown while the application starts. A message never contains a token, a code, a cookie or text
of a request.

The same facts are in \`detail\`, and in further properties of some classes, such as \`url\`, \`systemCode\`, \`description\` and
\`reason\`. The provider's own error is the \`cause\`; its \`description\` is untrusted text, so escape it before you show it. None of
these is an own property of the error: \`console.error\` and \`util.inspect\` of Node.js show them, JSON and copies of the error do not
([logging them](../guides/troubleshooting.md#logging-errors-with-pino-winston-or-sentry)).

\`providerStatus\` is the HTTP status of the provider's response. \`status\` is for the response of your application: 502, 503 or
504 while the provider is down, which Express, Koa and Fastify use. Other errors do not have it, so frameworks respond with 500.

"Status" is the HTTP status of a route's response with this error. The cause may change it: if the provider failed or could
not be reached, it is 502, 503 (the provider responded 429 or 503) or 504 (timeout). If the account API rejected a request,
it is the status of its response. If the provider no longer accepts an authorization code, it is 400. For the bodies see
[routes](routes.md#bodies-of-errors).
`

const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

const row = (cells) => `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`

function section(family, text, codes) {
  const entries = Object.entries(codes).filter(([, entry]) => entry.class === family)
  const also = Object.entries(codes).flatMap(([code, entry]) =>
    entry.also?.includes(family) ? [`\`${code}\``] : [],
  )
  return [
    `## ${family}`,
    '',
    text + (also.length > 0 ? ` Also used with ${new Intl.ListFormat('en').format(also)}.` : ''),
    '',
    row(['Code', 'Status', 'Meaning', 'What to do']),
    '|---|---|---|---|',
    ...entries.map(([code, { status, message, advice }]) =>
      row([`\`${code}\``, status, ...[message, advice].map(escaped)]),
    ),
    '',
  ].join('\n')
}

/** The page about errors, a section for each class. Throws when a class of the table has no docstring. */
export function errorsPage(codes) {
  const docs = classDocs()
  const base = 'IdpError'
  const names = new Set(Object.values(codes).map((entry) => entry.class))
  const sections = [...names].filter((name) => name !== base).concat(base)
  return `${introduction}\n${sections
    .map((name) => {
      if (!docs[name]) throw new Error(`generate-reference: the class ${name} has no docstring`)
      return section(name, docs[name], codes)
    })
    .join('\n')}`
}

const units = { seconds: 's', milliseconds: 'ms', bytes: 'bytes' }

/** `a`, `b` or `c` */
export const choices = (values) =>
  values
    .map((value) => `\`${value}\``)
    .join(', ')
    .replace(/, (?=[^,]*$)/, ' or ')

function typeCell({ kind, max, min, unit, values }) {
  if (kind === 'number') return `number, ${units[unit]} (${min} to ${max})`
  if (kind === 'group') return 'object'
  return kind === 'one of' ? choices(values) : kind
}

function defaultCell(path, row, told) {
  if (row.kind === 'group') return 'see its own rows'
  if (row.default === undefined) return told ?? 'none'
  if (told === String(row.default)) return `\`${told}\``
  throw new Error(`config/options.ts: write "@default ${row.default}" in the docstring of ${path}`)
}

const documentation = 'https://github.com/idp-client/idp-client/blob/main/docs/'

/** Links of docstrings are URLs, since editors show them; those of a page are relative. */
const withRelativeLinks = (text) =>
  text
    .replaceAll(`](${documentation}reference/options.md#`, '](#')
    .replaceAll(`](${documentation}reference/`, '](')
    .replaceAll(`](${documentation}`, '](../')

function optionRow(path, option, docs) {
  const doc = docs.get(path)
  if (!doc?.text) throw new Error(`config/options.ts: ${path} has no docstring`)
  if (doc.tags.env !== option.variable) {
    throw new Error(`config/options.ts: the docstring of ${path} names the variable ${doc.tags.env}`)
  }
  return row([
    `\`${path}\``,
    typeCell(option),
    defaultCell(path, option, doc.tags.default),
    option.variable ? `\`${option.variable}\`` : '',
    escaped(withRelativeLinks(doc.text)),
  ])
}

/** A marker names the first option of the table that follows it; the table ends before the first option of the next one. */
const table = /(<!-- Options from `(.+?)`, .*-->\n\n)(?:\|.*\n)*/g

/** The page about options with its tables as they follow from the rows and the docstrings. */
export function optionsPage(text, { optionRows }) {
  const docs = optionDocs(
    readText('packages/idp-client/src/config/options.ts'),
    (path) => optionRows[path]?.kind === 'group',
  )
  const paths = Object.keys(optionRows)
  const starts = [...text.matchAll(table)].map(([, , first]) => paths.indexOf(first))
  if (starts[0] !== 0 || starts.some((start, index) => index > 0 && start <= starts[index - 1])) {
    throw new Error(
      'docs/reference/options.md: its tables must begin with options in the order of config/option-rows.ts',
    )
  }
  return text.replace(table, (_all, marker, first) => {
    const start = paths.indexOf(first)
    const end = starts.find((other) => other > start)
    const rows = paths.slice(start, end).map((path) => optionRow(path, optionRows[path], docs))
    return [
      `${marker}${row(['Option', 'Type', 'Default', 'Variable', 'Effect'])}`,
      '|---|---|---|---|---|',
      ...rows,
      '',
    ].join('\n')
  })
}

if (isMain(import.meta)) {
  const source = await loadSource()
  const pages = {
    'docs/reference/errors.md': () => errorsPage(source.codes),
    'docs/reference/options.md': (text) => optionsPage(text, source),
  }
  for (const [path, page] of Object.entries(pages)) {
    writeFileSync(fromRoot(path), page(readText(path)))
    console.log(path)
  }
}
