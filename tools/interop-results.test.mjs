import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { scenarios } from '../interop/scenarios/index.mjs'
import { toTable, withTable } from '../interop/support/results.mjs'
import { fromRoot } from './lib/run.mjs'

const text = readFileSync(fromRoot('docs/providers/interop.md'), 'utf8')

/** Rows of the tables below a heading, the first two left out. */
function rowsBelow(heading) {
  const section = text.split(`\n## ${heading}`)[1]?.split('\n## ')[0] ?? ''
  const rows = section.split('\n').filter((line) => line.startsWith('|'))
  return rows.slice(2).map((row) => row.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')))
}

describe('the results of npm run interop', () => {
  test.each(['Keycloak', 'Spring'])('%s: a row for every scenario, and no failed one', (provider) => {
    const rows = rowsBelow(provider)
    expect(rows.map(([title]) => title)).toEqual(scenarios.map(({ title }) => title))
    for (const [title, ...cells] of rows) {
      expect(cells, title).toHaveLength(2)
      for (const cell of cells)
        expect(cell, title).toMatch(
          provider === 'Keycloak' ? /^(ok|not offered: access tokens are JWTs)$/ : /^(ok|not offered: .+)$/,
        )
    }
  })

  test.each([
    'rotation: a second use of a refresh token ends the tokens of this client, not single sign-on',
    'an administrator ends an offline session: the next refresh fails',
    'an administrator signs the user out: an offline session ends at the next refresh',
    'login by private_key_jwt, Ed25519 key registered as PEM certificate',
  ])('[O5] show what the guide of Keycloak says: %s', (title) => {
    expect(rowsBelow('Keycloak').find(([each]) => each === title)).toEqual([title, 'ok', 'ok'])
  })

  test('are written below the heading of their provider, and nothing else changes', () => {
    const outcomes = [
      { title: 'login', host: 'web', outcome: 'ok' },
      { title: 'CIBA', host: 'web', outcome: 'not offered', reason: 'no CIBA' },
      { title: 'login', host: 'next', outcome: 'failed' },
      { title: 'CIBA', host: 'next', outcome: 'not offered', reason: 'no CIBA' },
    ]
    const table = [
      '| Scenario | web | next |',
      '|---|---|---|',
      '| login | ok | failed |',
      '| CIBA | not offered: no CIBA | not offered: no CIBA |',
    ].join('\n')
    expect(toTable(outcomes)).toBe(table)
    const page = '# Results\n\n## One\n\nold\n\n## Two\n\nother\n'
    expect(withTable(page, 'One', table)).toBe(`# Results\n\n## One\n\n${table}\n\n## Two\n\nother\n`)
    expect(withTable(page, 'Two', table)).toBe(`# Results\n\n## One\n\nold\n\n## Two\n\n${table}\n`)
    expect(() => withTable(page, 'Three', table)).toThrow('no heading Three')
  })
})
