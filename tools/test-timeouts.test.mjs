import { expect, test } from 'vitest'
import { filesBelow, readText } from './lib/files.mjs'

// A busy machine does not respond within a short time either: only the case whose fault is silence may set one.
test('[Q1] no test file has a short httpTimeout for all its requests', () => {
  const files = filesBelow('packages/idp-client/test').filter((file) => file.endsWith('.test.ts'))
  const shared = /\b(?:start\w*World|startRealm|realm\.engine)\([^()]*httpTimeout: (?:\d{1,4}|SHORT)\b/
  expect(files.length).toBeGreaterThan(50)
  expect(files.filter((file) => shared.test(readText(file)))).toEqual([])
})
