import { readFileSync } from 'node:fs'
import { readBudgets, toName } from './budgets.mjs'
import { toChart } from './chart.mjs'

const round = (value, digits = 2) => value.toFixed(digits)
const range = (low, high, digits) => `${round(low, digits)} to ${round(high, digits)}`

/** Heads of the columns, and the cells of a row, for each kind of table. */
const kinds = {
  ratios: {
    head: ['× floor', '10 % to 90 %', 'CPU × floor', 'µs'],
    cells: ({ cpu, high, low, micros, ratio }) => [
      round(ratio),
      range(low, high),
      round(cpu),
      round(micros, 1),
    ],
  },
  growth: {
    head: ['× floor', '10 % to 90 %', 'µs', 'µs per entry'],
    cells: ({ high, low, micros, perEntry, ratio }) => [
      round(ratio),
      range(low, high),
      round(micros, 1),
      perEntry === null ? '' : round(perEntry),
    ],
  },
  servers: {
    head: ['CPU × base', 'quartiles', 'CPU added, µs', 'quartiles', 'CPU, µs', 'requests/s', '× base'],
    cells: ({ added, high, low, micros, rate, rateRatio, ratio }) => [
      round(ratio, 3),
      range(low, high, 3),
      round(added[1], 0),
      range(added[0], added[2], 0),
      round(micros, 0),
      round(rate, 0),
      round(rateRatio),
    ],
  },
}

const NOT_COUNTED = new Set(['name', 'work', 'entries'])
const isCount = (column) => !NOT_COUNTED.has(column)

function toColumns({ kind = 'ratios', rows }) {
  if (kind !== 'counts') return kinds[kind]
  const head = Object.keys(rows[0]).filter(isCount)
  return { head, cells: (row) => head.map((column) => String(row[column])) }
}

function toCells(table) {
  const { cells, head } = toColumns(table)
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

/** Costs of a row by column: time, CPU time or counts. Less is better. */
function toCosts({ kind = 'ratios' }, row) {
  if (kind !== 'counts') return { [kind === 'servers' ? 'CPU time' : 'time']: row.ratio }
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
  const chart = toChart(table)
  return [
    `## ${table.title}`,
    ...(table.note ? [table.note] : []),
    ...(table.floor ? [`${table.kind === 'servers' ? 'Base' : 'Floor'}: ${table.floor}.`] : []),
    [line(head), line(head.map((_cell, column) => (column === 0 ? '---' : '--:'))), ...body.map(line)].join(
      '\n',
    ),
    [...findCheaperLibraries(table), ...notes].map((note) => `- ${note}`).join('\n'),
    ...(chart ? [`![${table.title}](benchmarks/${chart.file})`] : []),
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

export function toMarkdown(tables, { command, cpu, date, memory, node, system }) {
  return `# Benchmarks

<!-- Written by \`npm run bench -- --write\`. Do not edit. -->

The cost of idp-client beside a hand-written minimum (the *floor*) and other login libraries, on the same session and the same
stub of a provider. [How it is measured](https://github.com/idp-client/idp-client/blob/main/bench/README.md).

- Read the ratios, not the times: machines differ, and a busy machine differs from itself.
- Command: \`${command}\`. Machine: ${cpu}, ${memory}, ${system}, Node.js ${node}. Date: ${date}.
- Versions: ${versions().join(', ')}.
- A budget is what the project aims at. Where a budget is missed, the reason is below the table.

${tables.map(toSection).join('\n\n')}
`
}
