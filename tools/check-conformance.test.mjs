import { expect, test } from 'vitest'
import { conformanceProblems, rowProblems, rowsOf, tagged } from './check-conformance.mjs'

const table = (...rows) =>
  ['| ID | Section | Requirement | Owner | Proof |', '|---|---|---|---|---|', ...rows].join('\n')
const files = { 'a/login.test.ts': "test('[S001, U5a] logs in', () => {})" }
const problems = (...rows) => conformanceProblems(rowsOf(table(...rows)), (path) => files[path] ?? null)

test('a proof must exist and carry the id', () => {
  expect(problems('| S001 | a | b | Later | `a/login.test.ts` › logs in |')).toEqual([])
  expect(problems('| S001 | a | b | Later | `a/none.test.ts` |')).toEqual([
    expect.stringContaining('does not exist'),
  ])
  expect(problems('| S001 | a | b | Later | somewhere |')).toEqual([expect.stringContaining('no test file')])
  expect(problems('| S001 | a | b | Later | open |', '| S002 | a | b | Later | `a/login.test.ts` |')).toEqual(
    [expect.stringContaining('[S002]')],
  )
})

test('an open row is fine for work to come only', () => {
  expect(problems('| S001 | a | b | Later | open |')).toEqual([])
  expect(problems('| S001 | a | b | A person logs in | open |')).toEqual([
    expect.stringContaining('finished'),
  ])
})

test('missing and repeated ids are found; an escaped bar does not split a cell', () => {
  expect(problems('| S002 | a | b | Later | open |')).toEqual([expect.stringContaining('lacks S001')])
  expect(problems('| S001 | a | b \\| c | Later | open |', '| S001 | a | b | Later | open |')).toEqual([
    expect.stringContaining('twice'),
  ])
})

test('tags are whole ids', () => {
  expect(tagged("test('[S001] x')", 'S001')).toBe(true)
  expect(tagged("test('[S0011] x')", 'S001')).toBe(false)
  expect(tagged("test('S001 x')", 'S001')).toBe(false)
})

test('the findings have ids of their own, with gaps', () => {
  const rows = rowsOf(table('| A1 | a | b | Later | open |', '| J3 | a | b | Later | `a/login.test.ts` |'))
  expect(rowProblems(rows, (path) => files[path] ?? null, 'findings.md')).toEqual([
    expect.stringContaining('findings.md:4 J3 names a/login.test.ts, where no test title carries [J3]'),
  ])
})
