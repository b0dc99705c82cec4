/** Texts between code marks, in their order. */
export const marked = (text) => [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1])

/** The line of a page below which all of it is generated. */
export const writtenBelow = '<!-- Written by tools/generate.mjs from here on. -->\n'

/** Text for a cell of a table. */
export const escaped = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

/** A row of a table. */
export const toRow = (cells) => `|${cells.map((cell) => (cell === '' ? ' ' : ` ${cell} `)).join('|')}|`

/** A whole table. */
export const toTable = (head, rows) =>
  [toRow(head), `|${'---|'.repeat(head.length)}`, ...rows.map(toRow)].join('\n')

const parseCells = (line) =>
  line
    .split(/(?<!\\)\|/)
    .slice(1, -1)
    .map((cell) => cell.trim())

/**
 * Returns a page with other cells in its tables; code marks are kept.
 *
 * @param {string} text
 * @param {(cells: Record<string, string>) => Record<string, string>} change gets the cells of a row by the heading of their
 *   column, and returns those that change
 */
export function mapRows(text, change) {
  let headings = null
  const toLine = (line) => {
    if (!line.startsWith('|')) headings = null
    else if (headings === null) headings = parseCells(line)
    else if (!/^\|[\s:|-]+\|\s*$/.test(line)) {
      const values = parseCells(line)
      const cells = Object.fromEntries(headings.map((heading, at) => [heading, values[at] ?? '']))
      const row = { ...cells, ...change(cells) }
      const changed = headings.map((heading) => row[heading])
      if (changed.join('|') !== values.join('|')) return toRow(changed)
    }
    return line
  }
  return text.split('\n').map(toLine).join('\n')
}

/** The rows of all tables of a page: cells by the heading of their column. */
export function parseRows(text) {
  const rows = []
  mapRows(text, (cells) => {
    rows.push(cells)
    return {}
  })
  return rows
}
