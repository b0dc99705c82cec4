import { readFileSync } from 'node:fs'
import { readBudgets, toName } from './budgets.mjs'
import { percentile } from './measure.mjs'

const round = (value, digits = 2) => value.toFixed(digits)
const versionsIn = ({ rows }) => rows[0].ratios.map(({ version }) => version)
const isAgainst = ({ rows }) => rows.some(({ name }) => name === 'idp-client-before')

/** The median of the runs, with the lowest and the highest. */
const toRatioCell = ({ high, low, ratio }) =>
  round(ratio) + (low < high ? ` (${round(low)} to ${round(high)})` : '')
const toRatioCells = ({ ratios }) => ratios.map(toRatioCell)

/** Heads of the columns, and the cells of a row, for each kind of table. */
const kinds = {
  ratios: (table) => ({
    head: [
      ...versionsIn(table).map((version) => `CPU × floor, Node.js ${version}`),
      'µs',
      ...(isAgainst(table) ? versionsIn(table).map((version) => `× before, Node.js ${version}`) : []),
    ],
    cells: (row) => [
      ...toRatioCells(row),
      round(row.micros, 1),
      ...(isAgainst(table) ? row.ratios.map(({ toBefore }) => (toBefore ? toRatioCell(toBefore) : '')) : []),
    ],
  }),
  growth: () => ({
    head: ['CPU × floor', 'µs', 'µs per entry'],
    cells: (row) => [
      ...toRatioCells(row),
      round(row.micros, 1),
      row.perEntry === null ? '' : round(row.perEntry),
    ],
  }),
  servers: () => ({
    head: ['CPU × base', 'CPU added, µs', 'CPU, µs', 'requests/s'],
    cells: (row) => [...toRatioCells(row), round(row.added, 0), round(row.micros, 0), round(row.rate, 0)],
  }),
  counts({ rows }) {
    const head = Object.keys(rows[0]).filter(isCount)
    return { head, cells: (row) => head.map((column) => String(row[column])) }
  },
}

const NOT_COUNTED = new Set(['name', 'work', 'entries', 'ratios'])
const isCount = (column) => !NOT_COUNTED.has(column)

const summarize = (ratios) => ({
  ratio: percentile(ratios, 0.5),
  low: Math.min(...ratios),
  high: Math.max(...ratios),
})

/** The ratios of the row at `index` in the tables of one version of Node.js. */
function mergeRatios(version, tables, index) {
  const rows = tables.map((table) => table.rows[index])
  const toBefore = rows.flatMap((row) => row.toBefore ?? [])
  return {
    version,
    ...summarize(rows.map(({ ratio }) => ratio)),
    toBefore: toBefore.length > 0 ? summarize(toBefore) : undefined,
  }
}

const findSameRow = ({ rows }, { name, work }) => rows.find((row) => row.name === name && row.work === work)

/**
 * Merges the tables of two processes that load the builds in opposite orders, if there are two: the geometric mean of the ratios
 * to the other build does not depend on the order. Everything else is that of the first process.
 */
export function mergeOrders([tables, opposite = tables]) {
  return tables.map((table, at) => {
    if (table.missing) return table
    const rows = table.rows.map((row) =>
      row.toBefore
        ? { ...row, toBefore: Math.sqrt(row.toBefore * findSameRow(opposite[at], row).toBefore) }
        : row,
    )
    return { ...table, rows }
  })
}

/**
 * Merges the tables of several runs, on one or more versions of Node.js. Ratios are those of each version, everything else is
 * that of the first run.
 *
 * @param {readonly { version: string, tables: readonly object[] }[]} runs
 */
export function mergeRuns(runs) {
  const versions = [...new Set(runs.map(({ version }) => version))]
  return runs[0].tables.map((table, at) => {
    if (table.missing || table.kind === 'counts') return table
    const toRatios = (index) =>
      versions.map((version) => {
        const own = runs.filter((run) => run.version === version)
        return mergeRatios(
          version,
          own.map(({ tables }) => tables[at]),
          index,
        )
      })
    return { ...table, rows: table.rows.map((row, index) => ({ ...row, ratios: toRatios(index) })) }
  })
}

/** Rows of this build that take more than 5 % longer than those of the other one in every run. */
export function toWorseRows({ rows = [], title }) {
  return rows.flatMap((row) =>
    row.ratios.flatMap(({ toBefore, version }) =>
      row.name === 'idp-client' && toBefore.low > 1.05
        ? [`${title}, ${toName(row)}, Node.js ${version}: ${toRatioCell(toBefore)}`]
        : [],
    ),
  )
}

function toCells(table) {
  const { cells, head } = kinds[table.kind ?? 'ratios'](table)
  const budgets = table.rows.map((row) => readBudgets(table, row))
  const hasBudget = budgets.some((each) => each.length > 0)
  const verdicts = (index) => (hasBudget ? [budgets[index].map(({ text }) => text).join('; ')] : [])
  return {
    head: ['', ...head, ...(hasBudget ? ['budget'] : [])],
    body: table.rows.map((row, index) => [toName(row), ...cells(row), ...verdicts(index)]),
    notes: budgets.flat().flatMap(({ note }) => note ?? []),
  }
}

const isOurs = ({ name }) => name.startsWith('idp-client')
const isOther = (row) => !row.isBase && row.name !== 'floor' && !isOurs(row)

/** Costs of a row by column: CPU time on each version of Node.js, or counts. Less is better. */
function toCosts({ kind }, row) {
  if (kind !== 'counts')
    return Object.fromEntries(
      row.ratios.map(({ ratio, version }) => [`CPU time on Node.js ${version}`, ratio]),
    )
  return Object.fromEntries(
    Object.entries(row).filter(([column, value]) => isCount(column) && typeof value === 'number'),
  )
}

/** One sentence for each other library that takes less than idp-client does for the same work. */
function findCheaperLibraries(table) {
  const ours = table.rows.filter(isOurs)
  const others = table.rows.filter(isOther)
  return others.flatMap((other) =>
    ours
      .filter(({ work }) => work === other.work)
      .flatMap((row) => {
        const [theirs, own] = [toCosts(table, other), toCosts(table, row)]
        const less = Object.keys(own).filter((column) => theirs[column] < own[column])
        return less.length > 0 ? [`${toName(other)} takes less than ${toName(row)}: ${less.join(', ')}.`] : []
      }),
  )
}

export function toText(table) {
  if (table.missing) return `\n${table.title}\n  not measured: ${table.missing}\n`
  const { body, head, notes } = toCells(table)
  const all = [head, ...body]
  const widths = head.map((_cell, column) => Math.max(...all.map((row) => row[column].length)))
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  '),
  )
  return `\n${table.title}\n  ${[...lines, ...findCheaperLibraries(table), ...notes].join('\n  ')}\n`
}

function toSection(table) {
  if (table.missing) return `## ${table.title}\n\nNot measured: ${table.missing}.`
  const { body, head, notes } = toCells(table)
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    `## ${table.title}`,
    ...(table.note ? [table.note] : []),
    ...(table.floor ? [`${table.kind === 'servers' ? 'Base' : 'Floor'}: ${table.floor}.`] : []),
    [line(head), line(head.map((_cell, column) => (column === 0 ? '---' : '--:'))), ...body.map(line)].join(
      '\n',
    ),
    [...findCheaperLibraries(table), ...notes].map((note) => `- ${note}`).join('\n'),
  ]
    .filter((part) => part !== '')
    .join('\n\n')
}

const readManifest = (path) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8'))

/** Versions of the products, drivers and tools, without the packages that idp-client and Next.js need. */
function versions() {
  const { dependencies, devDependencies } = readManifest('../package.json')
  const library = readManifest('../../packages/idp-client/package.json')
  const needed = new Set([...Object.keys(library.dependencies), 'react', 'react-dom'])
  return Object.entries({ ...dependencies, ...devDependencies }).flatMap(([name, version]) =>
    needed.has(name) ? [] : [`${name} ${version}`],
  )
}

export function toMarkdown(tables, { command, cpu, date, memory, system }) {
  return `# Benchmarks

<!-- Written by \`npm run bench -- --write\`. Do not edit. -->

The cost of idp-client beside a hand-written minimum (the *floor*) and other login libraries, on the same session and the same
stub of a provider. [How it is measured](https://github.com/idp-client/idp-client/blob/main/bench/README.md).

- Read the ratios, not the times: machines differ. Ratios are of CPU time; where three runs differ, the range is in parentheses.
- A row without a sender has the headers of a browser behind a proxy.
- Command: \`${command}\`. Machine: ${cpu}, ${memory}, ${system}. Date: ${date}.
- Versions: ${versions().join(', ')}.
- A budget is what the project aims at. Where a budget is missed, the reason is below the table.

${tables.map(toSection).join('\n\n')}
`
}
