import { describe, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import { defined } from '../lib/objects.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { Refreshed } from './apply.ts'
import { applyRefresh, withoutRefreshToken } from './apply.ts'
import { toTokenRequest } from './token-request.ts'

const NOW = 1000
const API = 'https://api.example'
const { authorization: config } = engineFor().engine.config

const data: SessionData = {
  user: { sub: 'alice', name: 'Old' },
  tokenSet: {
    accessToken: 'old',
    expiresAt: NOW,
    idToken: 'id-1',
    refreshToken: 'rt-1',
    requestedScope: 'openid',
  },
  internal: { createdAt: 0 },
  extra: 1,
}
const grant: Refreshed = { accessToken: 'new', tokenType: 'Bearer', expiresAt: NOW + 60 }

function applied(options: GetAccessTokenOptions, changes: Partial<Refreshed> = {}, from = data): SessionData {
  return applyRefresh(from, {
    config,
    want: toTokenRequest(config, options),
    grant: { ...grant, ...changes },
    now: NOW,
  })
}

describe('a refreshed session', () => {
  test('replaces the main token set; properties that the response lacks are kept', () => {
    const { tokenSet, user, extra } = applied({}) as SessionData & { extra: number }
    expect(tokenSet).toMatchObject({
      accessToken: 'new',
      expiresAt: NOW + 60,
      idToken: 'id-1',
      refreshToken: 'rt-1',
    })
    expect(user).toBe(data.user)
    expect(extra).toBe(1)
    expect(applied({}, { refreshToken: 'rt-2', idToken: 'id-2' }).tokenSet).toMatchObject({
      refreshToken: 'rt-2',
      idToken: 'id-2',
    })
  })

  test.each([
    ['openid read', 'openid read', 'openid read write offline_access'],
    ['openid read more', 'openid read', 'openid read write offline_access more'],
    ['openid', 'openid', 'openid'],
    // Then the scope of the request is granted, and `write`, which was refused before, is not part of it.
    ['openid read', undefined, 'openid read offline_access'],
    ['openid read more', undefined, 'openid read offline_access more'],
    ['openid read write', undefined, 'openid read write offline_access'],
  ])(
    'a main token that was requested with %j and granted %j has the requested scope %j',
    (sent, scope, expected) => {
      const tokenSet = {
        ...data.tokenSet,
        scope: 'openid read',
        requestedScope: 'openid read write offline_access',
      }
      const from = { ...data, tokenSet }
      const want = { ...toTokenRequest(config, { scope: sent, mergeScopes: false }), isDefaultRequest: true }
      const response = { ...grant, ...defined({ scope }) }
      const after = applyRefresh(from, { config, want, grant: response, now: NOW }).tokenSet
      expect([after.requestedScope, after.scope]).toEqual([expected, scope])
    },
  )

  test('keeps the granted scope if neither request nor response names one (RFC 6749 section 6)', () => {
    const entry = {
      accessToken: 'a',
      audience: API,
      expiresAt: NOW,
      scope: 'read',
      requestedScope: 'openid profile email write',
    }
    const tokenSet = { ...data.tokenSet, scope: 'openid', requestedScope: 'openid profile email' }
    const from = { ...data, tokenSet, accessTokens: [entry] }
    const { requestedScope } = tokenSet
    expect(applied({}, {}, from).tokenSet).toMatchObject({
      accessToken: 'new',
      scope: 'openid',
      requestedScope,
    })
    expect(applied({}, { scope: 'email' }, from).tokenSet).toMatchObject({ scope: 'email' })
    expect(applied({ audience: API }, {}, from).accessTokens).toEqual([
      expect.objectContaining({ accessToken: 'new', scope: 'read' }),
    ])
    expect(applied({ audience: API }).accessTokens).toEqual([expect.objectContaining({ scope: '' })])
    const named = applied({ audience: API, scope: 'write', mergeScopes: false }, {}, from)
    expect(named.accessTokens?.[0]).not.toHaveProperty('scope')
    expect(named.accessTokens?.[0]).toMatchObject({ requestedScope: 'write' })
  })

  test('with an audience, a scope that is not granted any more counts as requested, so that it is not requested again', () => {
    const requestedScope = 'openid profile email'
    const tokenSet = { ...data.tokenSet, audience: API, scope: requestedScope, requestedScope }
    const after = applied({ audience: API }, { scope: 'openid profile' }, { ...data, tokenSet }).tokenSet
    expect(after).toMatchObject({ accessToken: 'new', scope: 'openid profile', requestedScope })
  })

  test('has the claims of a new ID token as user', () => {
    expect(applied({}, { claims: { sub: 'alice', name: 'New' } }).user).toEqual({ sub: 'alice', name: 'New' })
  })

  test('has the sid of a new ID token; the rest of internal is unchanged', () => {
    const from = { ...data, internal: { sid: 'one', createdAt: 7 } }
    const internal = (claims?: Refreshed['claims']) => applied({}, claims ? { claims } : {}, from).internal
    expect(internal({ sub: 'alice', sid: 'two' })).toEqual({ sid: 'two', createdAt: 7 })
    expect(internal({ sub: 'alice', sid: 3 })).toEqual(from.internal)
    expect(internal({ sub: 'alice' })).toEqual(from.internal)
    expect(internal()).toEqual(from.internal)
  })

  test('[S011] has an entry for another audience; rotated tokens go to the main set; expired entries are removed', () => {
    const stale = { accessToken: 'stale', audience: 'https://gone.example', expiresAt: NOW }
    const from = { ...data, accessTokens: [stale] }
    const after = applied({ audience: API }, { refreshToken: 'rt-2', scope: 'a' }, from)
    expect(after.tokenSet).toMatchObject({ accessToken: 'old', refreshToken: 'rt-2' })
    expect(after.accessTokens).toEqual([
      expect.objectContaining({ accessToken: 'new', audience: API, scope: 'a', expiresAt: NOW + 60 }),
    ])
  })

  test.each([
    [{}, 'old'],
    [{ verified: true }, 'new'],
  ] as const)(
    'a token %j for a further scope that lacks one of the login: the main token is the %s one',
    (proof, expected) => {
      const from = { ...data, tokenSet: { ...data.tokenSet, scope: 'openid' } }
      const { tokenSet } = applied({ scope: 'transfer' }, { scope: 'transfer', ...proof }, from)
      expect(tokenSet.accessToken).toBe(expected)
    },
  )

  test('a token of a verified factor that was requested without a scope of the login does not replace the main one', () => {
    const from = { ...data, tokenSet: { ...data.tokenSet, scope: 'openid', requestedScope: 'openid read' } }
    const { tokenSet } = applied({ scope: 'transfer' }, { scope: 'transfer', verified: true }, from)
    expect(tokenSet.accessToken).toBe('old')
  })

  test.each([
    ['openid', 'new'],
    ['openid email', 'old'],
  ])(
    'a token for a further scope of a session that has %j, and names no requested scope: %s',
    (scope, expected) => {
      const { requestedScope: _none, ...tokenSet } = { ...data.tokenSet, scope }
      const granted = { scope: 'openid profile transfer' }
      const after = applied({ scope: 'transfer' }, granted, { ...data, tokenSet })
      expect(after.tokenSet.accessToken).toBe(expected)
    },
  )

  test('replaces an entry that covered the request or has the same granted scope', () => {
    const first = applied({ audience: API, scope: 'a', mergeScopes: false }, { scope: 'a' })
    const again = applied(
      { audience: API, scope: 'a', mergeScopes: false },
      { accessToken: 'n2', scope: 'a' },
      first,
    )
    expect(again.accessTokens).toHaveLength(1)
    const more = applied(
      { audience: API, scope: 'b', mergeScopes: false },
      { accessToken: 'n3', scope: 'a' },
      again,
    )
    expect(more.accessTokens).toEqual([expect.objectContaining({ accessToken: 'n3', requestedScope: 'a b' })])
    const other = applied(
      { audience: API, scope: 'c', mergeScopes: false },
      { accessToken: 'n4', scope: 'c' },
      more,
    )
    expect(other.accessTokens).toHaveLength(2)
    const elsewhere = { audience: 'https://other.example', scope: 'c', mergeScopes: false }
    expect(applied(elsewhere, { scope: 'c' }, other).accessTokens).toHaveLength(3)
  })

  test('has an entry each for two scopes if the provider names none in its responses', () => {
    const first = applied({ audience: API, scope: 'a', mergeScopes: false })
    const { accessTokens } = applied({ audience: API, scope: 'b', mergeScopes: false }, {}, first)
    expect(accessTokens?.map(({ requestedScope }) => requestedScope)).toEqual(['a', 'b'])
  })

  test('has an entry each for a token without any scope, and one whose scope the response does not name', () => {
    const none = applied({ audience: API, scope: 'a', mergeScopes: false }, { scope: '' })
    const { accessTokens } = applied({ audience: API, scope: 'b', mergeScopes: false }, {}, none)
    expect(accessTokens?.map(({ requestedScope, scope }) => [requestedScope, scope])).toEqual([
      ['a', ''],
      ['b', undefined],
    ])
  })

  test('loses a dead refresh token, and nothing else', () => {
    const { refreshToken: _dead, ...tokenSet } = data.tokenSet
    expect(withoutRefreshToken(data)).toEqual({ ...data, tokenSet })
  })
})
