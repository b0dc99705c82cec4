import { expect, test } from 'vitest'
import { pathProblems } from './check-links.mjs'

const source = 'packages/idp-client/src'
const known = new Set([`${source}/http/chunks.ts`, `${source}/lib/`])
const problems = (...lines) => pathProblems('docs/page.md', lines.join('\n'), (path) => known.has(path))

test('a file or a folder in backticks must exist below the source folder', () => {
  expect(problems('`http/chunks.ts` and `lib/` exist')).toEqual([])
  expect(problems('a line', '| 1 | `http/chunks.ts`, `http/chunk.ts` |')).toEqual([
    `docs/page.md:2 names http/chunk.ts, which does not exist below ${source}`,
  ])
  expect(problems('`libs/`')).toHaveLength(1)
  expect(problems('`chunks.ts`')).toHaveLength(1)
})

test('other code is not a path', () => {
  expect(
    problems('`touchSession`, `packages/idp-client/src`, http/chunk.ts', '```', '`http/chunk.ts`', '```'),
  ).toEqual([])
})
