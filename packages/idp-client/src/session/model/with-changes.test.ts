import { describe, expect, test } from 'vitest'
import { defined } from '../../lib/objects.ts'
import { freshlyStored, withChanges, withDifference } from './session.ts'
import type { AccessTokenSet, ConnectionTokenSet, SessionData, TokenSet } from './session-data.ts'

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
    audience: 'https://api.example.test/',
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

test('the time of use is the later one of two writers', () => {
  const found = freshlyStored(session({}), 10)
  const usedAt = (current: number, mine: number): number =>
    withDifference({ ...found, usedAt: current }, { found, session: { ...found, usedAt: mine } }).usedAt
  expect([usedAt(20, 15), usedAt(15, 20)]).toEqual([20, 20])
})

test('claims that an update has not changed stay as a refresh has set them', () => {
  const of = (user: Record<string, unknown>): SessionData => ({
    ...session({}),
    user: { sub: 'alice', ...user },
  })
  const found = of({ email: 'old@example.test', beta: true })
  const current = of({ email: 'new@example.test', beta: true })
  const { user } = withChanges({ current, found, changes: of({ email: 'old@example.test', nickname: 'al' }) })
  expect(user).toEqual({ sub: 'alice', email: 'new@example.test', nickname: 'al' })
})

describe('lists of tokens that two writers have changed', () => {
  const lists = (accessTokens: AccessTokenSet[], connectionTokenSets: ConnectionTokenSet[]) =>
    session(
      {},
      defined({ accessTokens: listed(accessTokens), connectionTokenSets: listed(connectionTokenSets) }),
    )
  const listed = <T>(list: T[]): T[] | undefined => (list.length > 0 ? list : undefined)
  const api = (audience: string, accessToken = audience): AccessTokenSet => ({
    accessToken,
    audience,
    expiresAt: 100,
  })
  const of = (connection: string, accessToken = connection): ConnectionTokenSet => ({
    accessToken,
    connection,
    expiresAt: 100,
  })
  const found = lists([api('a')], [of('github')])

  test.each([
    ['one added, one removed all', [api('a'), api('b')], [], [api('b')]],
    ['one removed all, one added', [], [api('a'), api('b')], [api('b')]],
    ['both added', [api('a'), api('b')], [api('a'), api('c')], [api('a'), api('b'), api('c')]],
    ['both replaced', [api('a', 'theirs')], [api('a', 'mine')], [api('a', 'mine')]],
    ['one replaced, one removed', [api('a', 'theirs'), api('b')], [], [api('a', 'theirs'), api('b')]],
    ['both removed all', [], [], undefined],
  ])('access tokens: %s', (_name, theirs, mine, expected) => {
    const { accessTokens } = withChanges({ current: lists(theirs, []), found, changes: lists(mine, []) })
    expect(accessTokens).toEqual(expected)
  })

  test('connection tokens: one added, one removed', () => {
    const [added, removed] = [lists([], [of('github'), of('google')]), lists([], [])]
    for (const [current, changes] of [
      [added, removed],
      [removed, added],
    ] as const)
      expect(withChanges({ current, found, changes }).connectionTokenSets).toEqual([of('google')])
  })

  test('tokens that differ in audience, scope, connection or login hint are kept beside each other', () => {
    const scoped = { ...api('a', 'scoped'), requestedScope: 'read' }
    const tokens = withChanges({
      current: lists([api('a', 'plain')], []),
      found: lists([], []),
      changes: lists([scoped], []),
    })
    expect(tokens.accessTokens).toEqual([api('a', 'plain'), scoped])
    const hinted = { ...of('google', 'hinted'), loginHint: 'bob' }
    const connections = withChanges({
      current: lists([], [of('google')]),
      found: lists([], []),
      changes: lists([], [hinted]),
    })
    expect(connections.connectionTokenSets).toEqual([of('google'), hinted])
  })

  test('an empty list of the application removes all', () => {
    const [current, changes] = [lists([api('a'), api('b')], []), session({}, { accessTokens: [] })]
    expect(withChanges({ current, found, changes }).accessTokens).toEqual([])
  })

  test('a value of the application that is not a list stays as it is', () => {
    const changes = { ...found, accessTokens: [null] } as unknown as SessionData
    const merged = withChanges({ current: lists([api('b')], []), found, changes })
    expect(merged.accessTokens).toEqual([null])
  })
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
