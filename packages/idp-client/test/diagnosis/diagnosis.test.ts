import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { remedies } from '../../src/errors/remedies.ts'
import type { Remedy } from '../../src/errors/remedy.ts'
import { application } from './application.ts'
import type { Mistake } from './bench.ts'
import { observe, withoutChance } from './bench.ts'
import { configuration } from './configuration.ts'
import { network } from './network.ts'
import { refusals } from './refusals.ts'
import { tokens } from './tokens.ts'

const groups: Readonly<Record<string, readonly Mistake[]>> = {
  network,
  refusals,
  tokens,
  application,
  configuration,
}

/** The line of each mistake. */
const told: { readonly mistake: string; readonly remedy: Remedy; readonly line: string }[] = []

const isRemedy = (name: string): name is Remedy => name in remedies

/** The row that a line names: one of the closed list. */
function rowIn(line: string): Remedy {
  const [, inLine, inError] = /#[A-Z_]+:~:text=([A-Z_]+)$|\bremedy: '([A-Z_]+)'/.exec(line) ?? []
  const name = inLine ?? inError ?? ''
  if (isRemedy(name)) return name
  throw new Error(`no row of the list: ${line}`)
}

describe.each(Object.entries(groups))(
  '[A1,A3,A4] the log line names cause and fix: %s',
  (_group, mistakes) => {
    test.each(mistakes.map((mistake) => [mistake.mistake, mistake] as const))(
      '%s',
      async (mistake, given) => {
        const { lines, secrets } = await observe(given)
        if (given.remedy === null) {
          expect(lines).toEqual([])
          return
        }
        expect(lines).toHaveLength(1)
        const [line = ''] = lines
        expect(rowIn(line)).toBe(given.remedy)
        for (const secret of secrets) expect(line).not.toContain(secret)
        expect(line).not.toMatch(/eyJ|@|example\.test/)
        told.push({ mistake, remedy: given.remedy, line: withoutChance(line) })
      },
    )
  },
)

describe('[A1] all log lines together', () => {
  /** A line as a reader sees it, without the name of its row and what differs from run to run. */
  const readable = (line: string): string => line.replace(/ See \S+$/, '').replace(/^.*?: /, '')

  test('at least forty failures are caused, and each is logged', () => {
    const all = Object.values(groups).flat()
    expect(told).toHaveLength(all.filter(({ remedy }) => remedy !== null).length)
    expect(told.length).toBeGreaterThanOrEqual(40)
  })

  test('log lines of different remedies differ', () => {
    const byWords = new Map<string, Set<Remedy>>()
    for (const { line, remedy } of told) {
      const words = readable(line)
      byWords.set(words, (byWords.get(words) ?? new Set()).add(remedy))
    }
    expect([...byWords].filter(([, named]) => named.size > 1)).toEqual([])
  })

  test('the guide has a section per remedy that quotes a log line', () => {
    const guide = readFileSync(new URL('../../../../docs/guides/troubleshooting.md', import.meta.url), 'utf8')
    const sections = new Map(
      guide
        .split(/^### /m)
        .map((section) => [/\(`([A-Z_]+)`\)\n/.exec(section)?.[1] ?? '', section] as const),
    )
    const lacking = [...new Set(told.map(({ remedy }) => remedy))].filter((remedy) => {
      const section = sections.get(remedy) ?? ''
      return !told.some(({ line, ...other }) => other.remedy === remedy && section.includes(line))
    })
    expect(lacking.map((name) => told.find(({ remedy }) => remedy === name))).toEqual([])
  })
})
