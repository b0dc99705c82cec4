// Charts as SVG, drawn from the numbers of a table.
import { toName } from './budgets.mjs'

const WIDTH = 640
const LABEL = 240
const BAR = 22

const slug = (title) =>
  title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')

function toColour({ isBase = false, name }) {
  if (isBase || name === 'floor') return '#8b949e'
  return name.startsWith('idp-client') ? '#1f6feb' : '#c9d1d9'
}

const toXml = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;')

function toSvg(title, label, height, content) {
  return {
    file: `${slug(title)}.svg`,
    svg: `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" role="img" aria-label="${toXml(`${title}: ${label}`)}">
<rect width="100%" height="100%" fill="#fff"/>
<text x="8" y="18" font-weight="bold">${toXml(`${title}, ${label}`)}</text>
${content.join('\n')}
</svg>
`,
  }
}

/** Bars of the ratios. */
function toBars({ kind, rows, title }) {
  const longest = Math.max(...rows.map(({ ratio }) => ratio))
  const room = WIDTH - LABEL - 60
  const bars = rows.map((row, index) => {
    const { ratio } = row
    const y = 34 + index * BAR
    const width = Math.max(1, Math.round((ratio / longest) * room))
    return `<text x="${LABEL - 8}" y="${y + 12}" text-anchor="end">${toXml(toName(row))}</text><rect x="${LABEL}" y="${y}" width="${width}" height="16" fill="${toColour(row)}"/><text x="${LABEL + width + 6}" y="${y + 12}">${ratio.toFixed(kind === 'servers' ? 2 : 1)}</text>`
  })
  const unit = kind === 'servers' ? 'CPU × base (less is better)' : '× floor (less is better)'
  return toSvg(title, unit, 44 + rows.length * BAR, bars)
}

const LINE = 14
const PLOT = { left: 60, right: 480, top: 34, bottom: 254 }

/** Names beside the ends of the lines, at least a line of text apart. */
function toLabels(ends) {
  let last = Number.NEGATIVE_INFINITY
  return [...ends]
    .sort((one, other) => one.end - other.end)
    .map(({ end, name }) => {
      last = Math.max(end, last + LINE)
      return `<text x="${PLOT.right + 8}" y="${last + 4}">${toXml(name)}</text>`
    })
}

/** Lines over the number of entries, one for each product. */
function toLines({ chart: { axis, value }, rows, title }) {
  const most = Math.max(...rows.map(({ entries }) => entries))
  const highest = Math.max(...rows.map((row) => row[value]))
  const x = (entries) => Math.round(PLOT.left + (entries / most) * (PLOT.right - PLOT.left))
  const y = (amount) => Math.round(PLOT.bottom - (amount / highest) * (PLOT.bottom - PLOT.top))
  const products = [...new Set(rows.map(({ name }) => name))].map((name) => {
    const own = rows.filter((row) => row.name === name)
    return { name, points: own.map((row) => [x(row.entries), y(row[value])]) }
  })
  const lines = products.map(
    ({ name, points }) =>
      `<polyline points="${points.join(' ')}" fill="none" stroke="${toColour({ name })}" stroke-width="2"/>`,
  )
  const labels = toLabels(products.map(({ name, points }) => ({ name, end: points.at(-1)[1] })))
  const ticks = [...new Set(rows.map(({ entries }) => entries))].map(
    (entries) => `<text x="${x(entries)}" y="${PLOT.bottom + 18}" text-anchor="middle">${entries}</text>`,
  )
  const frame = `<path d="M${PLOT.left} ${PLOT.top}V${PLOT.bottom}H${PLOT.right}" fill="none" stroke="#8b949e"/><text x="${PLOT.left - 6}" y="${PLOT.top + 8}" text-anchor="end">${Math.round(highest)}</text>`
  return toSvg(title, axis, PLOT.bottom + 30, [frame, ...ticks, ...lines, ...labels])
}

/** Returns a chart as `{ file, svg }`, or null for a table without ratios. */
export function toChart(table) {
  if (table.missing) return null
  if (table.chart) return toLines(table)
  return table.kind === 'counts' ? null : toBars(table)
}
