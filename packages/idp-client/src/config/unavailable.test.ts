import { expect, test } from 'vitest'
import type { Problem } from './config.ts'
import type { IdpClientOptions } from './options.ts'
import { noteUnavailable } from './unavailable.ts'

function resolveIt(options: IdpClientOptions): Problem[] {
  const problems: Problem[] = []
  noteUnavailable(options, (kind, message) => {
    problems.push({ kind, message })
  })
  return problems
}

test.each([
  [{ sessionStore: { get: async () => null, set: async () => {}, delete: async () => {} } }, 'sessionStore'],
  [{ enableConnectAccountEndpoint: true }, 'enableConnectAccountEndpoint'],
] satisfies [IdpClientOptions, string][])('%j is refused while nothing acts on it', (options, name) => {
  expect(resolveIt(options)).toEqual([
    { kind: 'wrong-option', message: expect.stringMatching(`^${name}.*not available in this version`) },
  ])
})

test('their defaults are fine', () => {
  expect(resolveIt({ enableConnectAccountEndpoint: false, sessionStore: undefined })).toEqual([])
})
