import { expect, test } from 'vitest'
import { entryProblems, growthProblem } from './check-entries.mjs'
import { entries } from './rules/entries.mjs'

const contents = (changes) => ({ bytes: 1, lazyBytes: 0, modules: 1, packages: [], external: [], ...changes })

test.each([
  ['react', 'other', { packages: ['jose'] }, 'contains jose'],
  ['errors', 'node', { external: ['node:crypto'] }, 'reaches node:crypto'],
  ['index', 'other', { external: ['node:crypto'] }, 'reaches node:crypto'],
  ['index', 'node', { external: ['node:fs'] }, 'reaches node:fs'],
  ['express', 'node', { external: ['next/server.js'] }, 'not one of its packages'],
  ['next', 'node', { external: ['next/headers'] }, 'without its extension'],
  ['react', 'other', { bytes: entries.react.bytes * 1.04 }, 'write down the new size'],
  ['errors', 'node', { lazyBytes: 1 }, 'loads later 1 bytes'],
  ['index', 'node', { modules: 100 }, 'imports 100 modules'],
  ['memory-store', 'node', { packages: ['cookie-es'] }, 'no store may bring along'],
  ['memory-store', 'node', { external: ['node:crypto'] }, 'reaches node:crypto'],
])('%s resolved for %s with %o is rejected', (entry, runtime, changes, message) => {
  expect(entryProblems(entry, runtime, contents(changes))).toEqual([expect.stringContaining(message)])
})

test('modules that belong to an entry pass', () => {
  expect(entryProblems('index', 'node', contents({ packages: ['jose'], external: ['node:crypto'] }))).toEqual(
    [],
  )
  expect(entryProblems('next', 'other', contents({ external: ['next/server.js'] }))).toEqual([])
  expect(entryProblems('react', 'other', contents({ external: ['react'] }))).toEqual([])
})

test('[P3] an entry may grow by 3 % before its recorded size must change', () => {
  expect(growthProblem(1030, 1000)).toBeNull()
  expect(growthProblem(1031, 1000)).toContain('1031 bytes')
  expect(growthProblem(1_000_000)).toBeNull()
})
