import { readFileSync } from 'node:fs'

const round = (value, digits = 2) => value.toFixed(digits)
const slug = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

function cellsOf({ kind, rows }) {
  if (kind === 'counts') {
    const columns = Object.keys(rows[0])
    return {
      head: ['', ...columns.slice(1)],
      body: rows.map((row) => columns.map((column) => String(row[column]))),
    }
  }
  return {
    head: ['', '× floor', '10 % to 90 %', 'CPU × floor', 'µs'],
    body: rows.map(({ cpu, high, low, micros, name, ratio }) => [
      name,
      round(ratio),
      `${round(low)} to ${round(high)}`,
      round(cpu),
      round(micros, 1),
    ]),
  }
}

export function toText(table) {
  const { body, head } = cellsOf(table)
  const all = [head, ...body]
  const widths = head.map((_cell, column) => Math.max(...all.map((row) => row[column].length)))
  const lines = all.map((row) =>
    row
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
      .join('  '),
  )
  return `\n${table.title}\n  ${lines.join('\n  ')}\n`
}

function toTable(table) {
  const { body, head } = cellsOf(table)
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [
    line(head),
    line(head.map((_cell, column) => (column === 0 ? '---' : '--:'))),
    ...body.map(line),
  ].join('\n')
}

const WIDTH = 640
const LABEL = 200
const BAR = 22

function toColour(name) {
  if (name === 'floor') return '#8b949e'
  return name.startsWith('idp-client') ? '#1f6feb' : '#c9d1d9'
}

/** A bar chart of the ratios, drawn from the same numbers as the table; null for tables without ratios. */
export function toChart({ kind, rows, title }) {
  if (kind === 'counts') return null
  const longest = Math.max(...rows.map(({ ratio }) => ratio))
  const room = WIDTH - LABEL - 60
  const bars = rows.map(({ name, ratio }, index) => {
    const y = 34 + index * BAR
    const width = Math.max(1, Math.round((ratio / longest) * room))
    return `<text x="${LABEL - 8}" y="${y + 12}" text-anchor="end">${name}</text><rect x="${LABEL}" y="${y}" width="${width}" height="16" fill="${toColour(name)}"/><text x="${LABEL + width + 6}" y="${y + 12}">${round(ratio, 1)}</text>`
  })
  const height = 44 + rows.length * BAR
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${title}: time as a multiple of the floor">
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="18" font-weight="bold">${title}, × floor (less is better)</text>
${bars.join('\n')}
</svg>
`
  return { file: `${slug(title)}.svg`, svg }
}

/** Versions of the products, without what they only need to run. */
function versions() {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const needed = new Set(['cookie', 'jose', 'oauth4webapi', 'react', 'react-dom'])
  return Object.entries(dependencies).flatMap(([name, version]) =>
    needed.has(name) ? [] : [`${name} ${version}`],
  )
}

export function toMarkdown(tables, { cpu, date, memory, node, system }) {
  const sections = tables.map((table) => {
    const chart = toChart(table)
    const floor = table.floor ? `Floor: ${table.floor}.\n\n` : ''
    const picture = chart ? `\n\n![${table.title}](benchmarks/${chart.file})` : ''
    return `## ${table.title}\n\n${floor}${toTable(table)}${picture}`
  })
  return `# Benchmarks

<!-- Written by \`npm run bench -- --write\`. Do not edit. -->

The cost of idp-client beside a hand-written minimum (the *floor*) and other login libraries, on the same session and the same
stub of a provider. [How it is measured](https://github.com/idp-client/idp-client/blob/main/bench/README.md).

- Read the ratios, not the times: machines differ, and a busy machine differs from itself.
- Machine: ${cpu}, ${memory}, ${system}, Node.js ${node}. Date: ${date}.
- Versions: ${versions().join(', ')}.

${sections.join('\n\n')}
`
}
