// The pages of docs/reference as they follow from the source. A page that cannot follow from it is an error.
import { runnerImport } from 'vite'
import { docstringsOfClasses, optionDocs } from './docstrings.mjs'
import { filesBelow, readText } from './files.mjs'
import { findAnchors } from './markdown.mjs'
import { fromRoot } from './run.mjs'
import { escaped, mapRows, marked, toTable, writtenBelow } from './tables.mjs'

const folder = 'packages/idp-client/src'

/** The modules that the package chooses by runtime, from the build. */
const alias = Object.fromEntries(
  ['crypto/cipher', 'lib/async-context'].map((module) => [
    `#${module.split('/')[1]}`,
    fromRoot(`${folder}/${module}.node.ts`),
  ]),
)

/** Reads options, codes, remedies, routes and variables from the sources, so that no build is needed. */
export async function loadSource() {
  const config = { configFile: false, logLevel: 'error', resolve: { alias } }
  const load = async (file) => (await runnerImport(fromRoot(`${folder}/${file}`), config)).module
  const { plans } = await load('../test/support/conformance-modules.ts')
  const { optionRows } = await load('config/option-rows.ts')
  const { variableNames } = await load('config/env.ts')
  const { codes: rows } = await load('errors/codes.ts')
  const { codesByClass } = await load('errors/code.ts')
  const classesOf = (code) => Object.keys(codesByClass).filter((name) => codesByClass[name].includes(code))
  const toEntry = ([code, row]) => {
    const [first, ...also] = classesOf(code)
    return [code, { ...row, class: first, also }]
  }
  const codes = Object.fromEntries(Object.entries(rows).map(toEntry))
  const { remedies } = await load('errors/remedies.ts')
  const { table } = await load('routes/table.ts')
  const { doctorRemedies } = await load('cli/doctor/codes.ts')
  return {
    optionRows,
    variableNames: [...variableNames],
    codes,
    remedies,
    table,
    doctorRemedies,
    plans,
    log: readText(`${folder}/log/log.ts`),
  }
}

function errorSection(family, text, { codes, remedies }) {
  const also = Object.keys(codes).filter((code) => codes[code].also?.includes(family))
  const rows = Object.entries(codes)
    .filter(([, entry]) => entry.class === family)
    .map(([code, { status, message }]) => [`\`${code}\``, status, escaped(message), escaped(remedies[code])])
  return [
    `## ${family}`,
    '',
    text +
      (also.length > 0
        ? ` Also used with ${new Intl.ListFormat('en').format(also.map((code) => `\`${code}\``))}.`
        : ''),
    '',
    toTable(['Code', 'Status', 'Meaning', 'What to do'], rows),
    '',
  ].join('\n')
}

/** The page about errors, below its introduction a section for each class; `IdpError` is that of errors without their own. */
export function errorsPage(text, source) {
  const modules = filesBelow(`${folder}/errors`, (path) => /(?<!\.test)\.ts$/.test(path))
  const docs = Object.fromEntries(modules.flatMap((path) => docstringsOfClasses(readText(path))))
  const names = new Set(Object.values(source.codes).map((entry) => entry.class))
  const sections = [...names].filter((name) => name !== 'IdpError').concat('IdpError')
  const introduction = text.split(writtenBelow)[0] + writtenBelow
  return `${introduction}\n${sections
    .map((name) => {
      if (!docs[name]) throw new Error(`the class ${name} has no docstring`)
      return errorSection(name, docs[name], source)
    })
    .join('\n')}`
}

/** The page about the doctor with the fix for each code that it lists; the page about troubleshooting has most codes. */
export function doctorPage(text, { doctorRemedies, remedies }) {
  const anchors = findAnchors(readText('docs/guides/troubleshooting.md'))
  const toCell = (code) => {
    if (code in doctorRemedies) return `\`${code}\``
    const anchor = anchors.find((name) => name.endsWith(`-${code.toLowerCase()}`))
    if (!anchor) throw new Error(`docs/guides/troubleshooting.md has no section about ${code}`)
    return `[\`${code}\`](troubleshooting.md#${anchor})`
  }
  return mapRows(text, ({ Code: cell }) => {
    if (cell === undefined) return {}
    const [code] = marked(cell)
    const fix = remedies[code] ?? doctorRemedies[code]
    if (fix === undefined)
      throw new Error(`docs/guides/doctor.md lists ${code}, which is not a code of the doctor`)
    return { Code: toCell(code), 'What to do': escaped(fix) }
  })
}

const units = { seconds: 's', milliseconds: 'ms', bytes: 'bytes' }

/** `a`, `b` or `c` */
const toChoices = (values) =>
  new Intl.ListFormat('en', { type: 'disjunction' })
    .format(values.map((value) => `\`${value}\``))
    .replace(', or ', ' or ')

function typeCell({ kind, max, min, unit, values }) {
  if (kind === 'number') return `number, ${units[unit]} (${min} to ${max})`
  if (kind === 'group') return 'object'
  return kind === 'one of' ? toChoices(values) : kind
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

function optionCells(path, option, doc) {
  if (!doc?.text) throw new Error(`config/options.ts: ${path} has no docstring`)
  if (doc.tags.env !== option.variable)
    throw new Error(`config/options.ts: the docstring of ${path} names the variable ${doc.tags.env}`)
  const variable = option.variable ? `\`${option.variable}\`` : ''
  return [
    `\`${path}\``,
    typeCell(option),
    defaultCell(path, option, doc.tags.default),
    variable,
    escaped(withRelativeLinks(doc.text)),
  ]
}

/** A marker names the first option of the table that follows it; the table ends before the first option of the next one. */
const optionTable = /(<!-- Options from `(.+?)`, .*-->\n\n)(?:\|.*\n)*/g

/** The page about options with its tables as they follow from the rows and the docstrings. */
export function optionsPage(text, { optionRows }) {
  const docs = optionDocs(
    readText(`${folder}/config/options.ts`),
    (path) => optionRows[path]?.kind === 'group',
  )
  const paths = Object.keys(optionRows)
  const starts = [...text.matchAll(optionTable)].map(([, , first]) => paths.indexOf(first))
  if (starts[0] !== 0 || starts.some((start, index) => index > 0 && start <= starts[index - 1]))
    throw new Error('tables must begin with options in the order of config/option-rows.ts')
  return text.replace(optionTable, (_all, marker, first) => {
    const start = paths.indexOf(first)
    const rows = paths
      .slice(
        start,
        starts.find((other) => other > start),
      )
      .map((path) => optionCells(path, optionRows[path], docs.get(path)))
    return `${marker}${toTable(['Option', 'Type', 'Default', 'Variable', 'Effect'], rows)}\n`
  })
}

/**
 * The page in whose tables with a heading each known name has one row.
 *
 * @param {(name: string, cells: Record<string, string>) => Record<string, string>} change returns the cells that follow from the
 *   source
 */
function withNames(text, { heading, known, change }) {
  const seen = []
  const page = mapRows(text, (cells) => {
    if (!(heading in cells)) return {}
    const [name] = marked(cells[heading])
    seen.push(name)
    return known.includes(name) ? change(name, cells) : {}
  })
  const problems = [
    ...known.filter((name) => !seen.includes(name)).map((name) => `lacks ${name}`),
    ...seen.filter((name) => !known.includes(name)).map((name) => `names ${name}, which does not exist`),
    ...seen.filter((name, index) => seen.indexOf(name) !== index).map((name) => `names ${name} twice`),
  ]
  if (problems.length > 0) throw new Error(problems.join('; '))
  return page
}

/** How the description of a variable begins, by the kind of its option. */
const values = {
  boolean: () => 'boolean',
  number: ({ unit }) => unit,
  'one of': ({ values }) => toChoices(values),
}

/** The page with a row for each new variable below the one before it. */
const withNewVariables = (text, names) =>
  names.reduce((page, name, index) => {
    if (page.includes(`\n| \`${name}\` |`)) return page
    const before = new RegExp(`^\\| \`${names[index - 1]}\` \\|.*\n`, 'm')
    return page.replace(before, `$&| \`${name}\` | | |\n`)
  }, text)

export const variablesPage = (text, { optionRows, variableNames }) =>
  withNames(withNewVariables(text, variableNames), {
    heading: 'Variable',
    known: variableNames,
    change(name, { Value: described }) {
      if (described === undefined) return {}
      const [option, row] = Object.entries(optionRows).find(([, { variable }]) => variable === name) ?? []
      const value = values[row?.kind]?.(row) ?? ''
      return {
        Option: option ? `\`${option}\`` : 'none',
        Value: described.startsWith(value) ? described : value,
      }
    },
  })

/** The requests on which a route acts, as the page calls them. */
const acting = {
  'on-navigation': 'navigations',
  'on-own-navigation': 'navigations, not cross-site',
  'not-on-prefetch': 'any request except prefetches',
  'not-cross-site': 'any request, not cross-site',
  'in-iframe': 'iframes, no prefetches',
  'on-any-request': 'any request',
}

export const routesPage = (text, { optionRows, table }) =>
  withNames(text, {
    heading: 'Key',
    known: Object.keys(table),
    change: (name) => ({
      'Default path': `\`${optionRows[`routes.${name}`].default}\``,
      Methods: table[name].methods.join(', '),
      'Acts on': acting[table[name].acts],
    }),
  })

/** Names of events in the text of the log module: the properties of `LogEventDetails`, which exists as a type only. */
export const eventNames = ({ log }) =>
  [...log.matchAll(/^ {2}readonly ([A-Z_]+):/gm)].map((match) => match[1])

export const eventsPage = (text, source) =>
  withNames(text, {
    heading: 'Code',
    known: eventNames(source),
    change(_name, { 'Further properties': properties }) {
      const names = marked(properties).slice(0, properties.includes(':') ? 1 : undefined)
      const unknown = names.find((name) => !new RegExp(`\\breadonly ${name}\\??:`).test(source.log))
      if (unknown) throw new Error(`names the property ${unknown}, which does not exist`)
      return {}
    },
  })

/** The page about limits with the numbers of options and of constants, whose module is below the source folder. */
export const limitsPage = (text, { optionRows }) =>
  mapRows(text, (cells) => {
    const [first, constant] = marked(cells['Set by'] ?? '')
    if (first === undefined) return {}
    const value = constant ? readNumber(first, constant) : optionRows[first]?.default
    if (value === undefined) throw new Error(`${cells['Set by']} sets no number`)
    return { Value: cells['Value'].replace(/^[\d.]+/, String(value)) }
  })

function readNumber(module, constant) {
  const found = new RegExp(`\\bconst ${constant}(?:: \\w+)? = ([\\d_.]+)`).exec(
    readText(`${folder}/${module}`),
  )?.[1]
  return found === undefined ? undefined : Number(found.replaceAll('_', ''))
}
