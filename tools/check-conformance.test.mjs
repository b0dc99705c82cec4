import { expect, test } from 'vitest'
import { conformanceProblems, parseRows, rowProblems, tagged, titleProblems } from './check-conformance.mjs'

const table = (...rows) =>
  ['| ID | Section | Requirement | Owner | Proof |', '|---|---|---|---|---|', ...rows].join('\n')
const files = { 'a/login.test.ts': "test('[S001, U5a] logs in', () => {})" }
const problems = (...rows) => conformanceProblems(parseRows(table(...rows)), (path) => files[path] ?? null)

test('a proof must exist and contain the id', () => {
  expect(problems('| S001 | a | b | Later | `a/login.test.ts` › logs in |')).toEqual([])
  expect(problems('| S001 | a | b | Later | `a/none.test.ts` |')).toEqual([
    expect.stringContaining('does not exist'),
  ])
  expect(problems('| S001 | a | b | Later | somewhere |')).toEqual([expect.stringContaining('no test file')])
  expect(problems('| S001 | a | b | Later | open |', '| S002 | a | b | Later | `a/login.test.ts` |')).toEqual(
    [expect.stringContaining('[S002]')],
  )
})

test('an open row is allowed for planned work only', () => {
  expect(problems('| S001 | a | b | Later | open |')).toEqual([])
  expect(problems('| S001 | a | b | Login | open |')).toEqual([expect.stringContaining('finished')])
})

test('missing and repeated ids are found; an escaped bar does not split a cell', () => {
  expect(problems('| S002 | a | b | Later | open |')).toEqual([expect.stringContaining('lacks S001')])
  expect(problems('| S001 | a | b \\| c | Later | open |', '| S001 | a | b | Later | open |')).toEqual([
    expect.stringContaining('exists twice'),
  ])
})

test('tags are whole ids', () => {
  expect(tagged("test('[S001] x')", 'S001')).toBe(true)
  expect(tagged("test('[S0011] x')", 'S001')).toBe(false)
  expect(tagged("test('S001 x')", 'S001')).toBe(false)
})

test('the findings have their own ids, with gaps', () => {
  const rows = parseRows(table('| A1 | a | b | Later | open |', '| J3 | a | b | Later | `a/login.test.ts` |'))
  expect(rowProblems(rows, (path) => files[path] ?? null, 'findings.md')).toEqual([
    expect.stringContaining('findings.md:4 J3 names a/login.test.ts, where no test title carries [J3]'),
  ])
})

test('an id in a title is that of a row', () => {
  const text = [
    "describe('[S001] one', () => {",
    "  test.each([1])('[S002, J3] %i', () => {})",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a line of the test that is checked
    '  it.skip(`[S004] ${name}`, () => {})',
    "  other('[S009] not a title', () => {})",
    "  test('the header [Host] is read', () => {})",
    '})',
  ].join('\n')
  const found = titleProblems('a.test.ts', text, new Set(['S001', 'J3']))
  expect(found.map((problem) => /the id (\w+)/.exec(problem)?.[1])).toEqual(['S002', 'S004'])
})
