import { expect, test } from 'vitest'
import { linkProblem, pathProblems } from './check-links.mjs'

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

test('a link leads to a file, and to a heading if it names one', () => {
  const problem = (to) => linkProblem('docs/faq.md', '# A question?\n', to)
  expect(problem('../README.md')).toBeNull()
  expect(problem('#a-question')).toBeNull()
  expect(problem('guides/quick-start.md#nextjs-16')).toBeNull()
  expect(problem('guides/quick.md')).toContain('does not exist')
  expect(problem('../../README.md')).toContain('does not exist')
  expect(problem('#another')).toContain('no such heading')
  expect(problem('guides/quick-start.md#nextjs-9')).toContain('no such heading')
})
