import { escaped, marked, toTable, writtenBelow } from './tables.mjs'

const HEADING = '## All other codes'

/** The names that have a place on the page: a heading that ends with one, a row that begins with some. */
const placed = (text) =>
  [...text.matchAll(/^(?:#+ .*\((`[A-Z_]+`)\)|\| (`[^|]*) \|)/gm)].flatMap(([, heading, cell]) =>
    marked(heading ?? cell),
  )

/**
 * The troubleshooting guide with the codes that it does not name above the last section: a log line links to each.
 *
 * @throws when a remedy that is not a code has no section
 */
export function troubleshootingPage(text, { codes, remedies }) {
  const [written] = text.split(`\n${HEADING}\n`)
  const names = new Set(placed(written))
  const lacking = Object.keys(remedies).filter((name) => !names.has(name))
  const unknown = lacking.filter((name) => !(name in codes))
  if (unknown.length > 0) throw new Error(`has no section for ${unknown.join(', ')}`)
  const rows = lacking.map((name) => [`\`${name}\``, ...[codes[name].message, remedies[name]].map(escaped)])
  return `${written}
${HEADING}

${writtenBelow}
${toTable(['Code', 'Meaning', 'What to do'], rows)}
`
}
