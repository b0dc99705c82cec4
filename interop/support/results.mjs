import { readFileSync, writeFileSync } from 'node:fs'
import { fromRoot } from '../../tools/lib/run.mjs'

const page = fromRoot('docs/providers/interop.md')

const cell = (text) => text.replaceAll('|', '\\|')

/** `ok` and the like for each host; what a server does not offer is said once, with the reason. */
function toRow(title, hostNames, outcomes) {
  const cells = hostNames.map((host) => {
    const { outcome, reason } = outcomes.find((row) => row.title === title && row.host === host)
    return reason ? `${outcome}: ${reason}` : outcome
  })
  return `| ${[title, ...cells].map(cell).join(' | ')} |`
}

/**
 * The table of one provider.
 *
 * @param {{ title: string, host: string, outcome: string, reason?: string }[]} outcomes of every scenario on every host
 */
export function toTable(outcomes) {
  const hostNames = [...new Set(outcomes.map(({ host }) => host))]
  const titles = [...new Set(outcomes.map(({ title }) => title))]
  return [
    `| Scenario | ${hostNames.join(' | ')} |`,
    `|---|${hostNames.map(() => '---|').join('')}`,
    ...titles.map((title) => toRow(title, hostNames, outcomes)),
  ].join('\n')
}

/** The page with another section below the heading of the provider. */
export function withTable(text, heading, table) {
  const [before, rest] = text.split(`\n## ${heading}\n`)
  if (rest === undefined) throw new Error(`docs/providers/interop.md has no heading ${heading}`)
  const next = rest.indexOf('\n## ')
  return `${before}\n## ${heading}\n\n${table}\n${next < 0 ? '' : rest.slice(next)}`
}

/** Writes what a provider has shown into `docs/providers/interop.md`. */
export function writeResults(heading, outcomes) {
  writeFileSync(page, withTable(readFileSync(page, 'utf8'), heading, toTable(outcomes)))
}
