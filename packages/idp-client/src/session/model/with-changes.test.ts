import { expect, test } from 'vitest'
import { withChanges } from './session.ts'
import type { SessionData, TokenSet } from './session-data.ts'

function session(tokenSet: Partial<TokenSet>, more: Partial<SessionData> = {}): SessionData {
  return {
    user: { sub: 'alice' },
    tokenSet: { accessToken: 'a1', expiresAt: 100, ...tokenSet },
    internal: { createdAt: 1 },
    ...more,
  }
}

test('an access token never gets the scope or the expiry of another one', () => {
  const found = session({ scope: 'read', refreshToken: 'r1' })
  const current = session({
    accessToken: 'a2',
    expiresAt: 300,
    scope: 'read write',
    requestedScope: 'read write',
  })
  const changes = session({ accessToken: 'a3', scope: 'read', refreshToken: 'r3' })
  expect(withChanges({ current, found, changes }).tokenSet).toEqual({
    accessToken: 'a3',
    expiresAt: 100,
    scope: 'read',
    refreshToken: 'r3',
  })
  const untouched = withChanges({ current, found, changes: { ...found, theme: 'dark' } })
  expect(untouched).toMatchObject({ theme: 'dark', tokenSet: current.tokenSet })
})

test('of two ends that the provider sets, the earlier one stays', () => {
  const found = session({})
  const endingAt = (sessionExpiresAt: number): SessionData =>
    session({}, { internal: { createdAt: 1, sessionExpiresAt } })
  const endAfter = (current: SessionData, { internal }: SessionData): number | undefined =>
    withChanges({ current, found, changes: found, internal }).internal.sessionExpiresAt
  expect(endAfter(endingAt(100), endingAt(200))).toBe(100)
  expect(endAfter(endingAt(200), endingAt(100))).toBe(100)
  expect(endAfter(endingAt(100), found)).toBe(100)
  expect(endAfter(found, endingAt(100))).toBe(100)
  expect(endAfter(found, found)).toBeUndefined()
})

test('names of Object.prototype are ordinary properties', () => {
  const hostile = JSON.parse('{"__proto__":{"polluted":1},"constructor":"x","toString":"y"}') as object
  const found = session({}, { ...hostile })
  const kept = withChanges({
    current: session({}, { ...hostile }),
    found,
    changes: { ...found, theme: 'dark' },
  })
  expect(JSON.parse(JSON.stringify(kept))).toEqual({ ...session({}), ...hostile, theme: 'dark' })
  const dropped = withChanges({ current: found, found, changes: session({}) })
  const stored = JSON.parse(JSON.stringify(dropped)) as Record<string, unknown>
  expect([Object.hasOwn(stored, 'constructor'), Object.hasOwn(stored, 'toString')]).toEqual([false, false])
  expect(Object.hasOwn(stored, '__proto__')).toBe(false)
  expect('polluted' in {}).toBe(false)
})
