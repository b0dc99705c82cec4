import { expect, test } from 'vitest'
import { entryProblems } from './check-entries.mjs'
import { budgets } from './rules/entries.mjs'

const contents = (changes) => ({ bytes: 1, lazyBytes: 0, modules: 1, packages: [], external: [], ...changes })

test.each([
  ['./react', 'other', { packages: ['jose'] }, 'contains jose'],
  ['./errors', 'node', { external: ['node:crypto'] }, 'reaches node:crypto'],
  ['.', 'other', { external: ['node:crypto'] }, 'reaches node:crypto'],
  ['.', 'node', { external: ['node:fs'] }, 'reaches node:fs'],
  ['./express', 'node', { external: ['next/server.js'] }, 'only ./next may'],
  ['./next', 'node', { external: ['next/headers'] }, 'without its extension'],
  ['./react', 'other', { bytes: budgets['./react'] + 1 }, 'the budget is'],
  ['./errors', 'node', { lazyBytes: 1 }, 'later, the budget is 0'],
  ['.', 'node', { modules: 100 }, 'imports 100 modules'],
  ['./stores/memory', 'node', { packages: ['cookie-es'] }, 'no store may bring along'],
  ['./stores/memory', 'node', { external: ['node:crypto'] }, 'reaches node:crypto'],
])('%s resolved for %s with %o is rejected', (entry, runtime, changes, message) => {
  expect(entryProblems(entry, runtime, contents(changes))).toEqual([expect.stringContaining(message)])
})

test('modules that belong to an entry pass', () => {
  expect(entryProblems('.', 'node', contents({ packages: ['jose'], external: ['node:crypto'] }))).toEqual([])
  expect(entryProblems('./next', 'other', contents({ external: ['next/server.js'] }))).toEqual([])
  expect(entryProblems('./react', 'other', contents({ external: ['react'] }))).toEqual([])
})
