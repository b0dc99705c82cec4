import { describe, expect, test } from 'vitest'
import { engineFor } from '../../test/support/engine.ts'
import type { AuthorizationParameters } from '../config/options.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import type { AccessTokenSet, SessionData, TokenSet } from '../session/model/session-data.ts'
import { selectToken } from './refresh/process-tokens.ts'
import { restoreTokenRequest, toTokenRequest } from './token-request.ts'

const NOW = 1000
const API = 'https://api.example'

function session(tokenSet: Partial<TokenSet> = {}, accessTokens: AccessTokenSet[] = []): SessionData {
  return {
    user: { sub: 'alice' },
    tokenSet: { accessToken: 'main', expiresAt: NOW + 60, refreshToken: 'rt', ...tokenSet },
    accessTokens,
    internal: { createdAt: 0 },
  }
}

function entry(accessToken: string, changes: Partial<AccessTokenSet> = {}): AccessTokenSet {
  return { accessToken, audience: API, expiresAt: NOW + 60, ...changes }
}

function selected(
  data: SessionData,
  options: GetAccessTokenOptions = {},
  { parameters = {}, buffer = 0 }: { parameters?: AuthorizationParameters; buffer?: number } = {},
) {
  const { config } = engineFor({ authorizationParameters: parameters }).engine
  const want = toTokenRequest(config.authorization, options)
  const own = { data, sessionKey: 'key', usedAt: NOW }
  const { stored: _stored, ...selection } = selectToken({ ...config, clock: () => NOW }, own, want, buffer)
  return selection
}

const usable = (accessToken: string) => ({ usable: expect.objectContaining({ accessToken }) })

describe('selection of a stored token', () => {
  test('without an audience the token of the login is selected, whatever its scope', () => {
    expect(selected(session({ requestedScope: 'openid' }))).toEqual(usable('main'))
    expect(selected(session({ audience: 'https://other.example' }))).toEqual(usable('main'))
  })

  test.each([
    [NOW + 1, 0, 'main'],
    [NOW, 0, undefined],
    [NOW + 30, 30, undefined],
    [NOW + 31, 30, 'main'],
  ])('[S066,S214] expires at %s with a buffer of %s: %s is usable', (expiresAt, buffer, accessToken) => {
    expect(selected(session({ expiresAt }), {}, { buffer }).usable?.accessToken).toBe(accessToken)
  })

  test('within the buffer the valid token is returned if a refresh fails or there is no refresh token', () => {
    expect(selected(session({ expiresAt: NOW + 10 }), {}, { buffer: 30 })).toEqual({
      fallback: expect.objectContaining({ accessToken: 'main' }),
    })
    const { refreshToken: _none, ...tokenSet } = session({ expiresAt: NOW + 10 }).tokenSet
    expect(selected({ ...session(), tokenSet }, {}, { buffer: 30 })).toEqual(usable('main'))
    expect(selected({ ...session(), tokenSet: { ...tokenSet, expiresAt: NOW } })).toEqual({})
  })

  test('a token whose end a hook or an update has removed has expired', () => {
    const { expiresAt: _removed, refreshToken: _none, ...tokenSet } = session().tokenSet
    const data = { ...session(), tokenSet } as SessionData
    expect(selected(data)).toEqual({})
  })

  test('[S166] refresh: true never returns the stored token', () => {
    expect(selected(session(), { refresh: true })).toEqual({})
    const { refreshToken: _none, ...tokenSet } = session().tokenSet
    expect(selected({ ...session(), tokenSet }, { refresh: true })).toEqual({})
  })

  describe('[I2] a token for one audience is never returned for another', () => {
    // The scope of every token covers every request: only the audience differs.
    const OTHER = 'https://other.example'
    const wide = {
      scope: 'openid profile email offline_access a b',
      requestedScope: 'openid profile email offline_access a b',
    }
    const parameters = { scope: 'openid a', audience: API }

    test.each<[string, SessionData, GetAccessTokenOptions, AuthorizationParameters]>([
      ['the main one', session({ ...wide, audience: OTHER }), { audience: API }, {}],
      [
        'the main one, with a scope',
        session({ ...wide, audience: OTHER }),
        { audience: API, scope: 'a' },
        {},
      ],
      ['the main one of no audience', session(wide), { audience: API }, {}],
      ['the main one of the configured audience', session(wide), { audience: OTHER }, parameters],
      ['a further one', session({}, [entry('other', { ...wide, audience: OTHER })]), { audience: API }, {}],
      [
        'a further one, in place of the main one',
        session({ audience: OTHER }, [entry('other', { ...wide, audience: OTHER })]),
        { audience: API, scope: 'b', mergeScopes: false },
        parameters,
      ],
    ])('%s', (_which, data, options, configured) => {
      expect(selected(data, options, { parameters: configured })).toEqual({})
      const { refreshToken: _none, ...tokenSet } = data.tokenSet
      expect(selected({ ...data, tokenSet }, options, { parameters: configured })).toEqual({})
    })

    test.each<[string, SessionData, GetAccessTokenOptions, string]>([
      ['the main one', session({ ...wide, audience: API }), { audience: API, scope: 'a' }, 'main'],
      ['the main one of the configured audience', session(wide), { audience: API }, 'main'],
      [
        'the further one',
        session({ ...wide, audience: API }, [
          entry('other', { ...wide, audience: OTHER }),
          entry('api', { ...wide, audience: `${API}/v2` }),
        ]),
        { audience: OTHER, scope: 'a', mergeScopes: false },
        'other',
      ],
    ])('but %s for its own', (_which, data, options, accessToken) => {
      expect(selected(data, options, { parameters })).toEqual(usable(accessToken))
    })
  })

  test('[S167] a scope that the login did not request causes a refresh; one that it requested does not', () => {
    const data = session({ requestedScope: 'openid read write' })
    expect(selected(data, { scope: 'read', mergeScopes: false })).toEqual(usable('main'))
    expect(selected(data, { scope: 'delete', mergeScopes: false })).toEqual({})
  })

  test.each<[string, AuthorizationParameters, GetAccessTokenOptions, boolean]>([
    ['the default one', {}, { scope: 'profile' }, true],
    ['the default one', {}, { scope: 'delete' }, false],
    ['the configured one', { scope: 'openid read' }, { scope: 'read' }, true],
    ['the configured one', { scope: 'openid read' }, { scope: 'profile', mergeScopes: false }, false],
    ['unknown with a map', { scope: { [API]: 'openid read' }, audience: API }, { scope: 'read' }, false],
    [
      'unknown with a map',
      { scope: { [API]: 'openid read' }, audience: API },
      { scope: 'profile', mergeScopes: false },
      false,
    ],
  ])(
    'the scope of a session that does not name it is %s %j: %j is covered: %s',
    (_which, parameters, options, covered) => {
      expect(selected(session({ audience: parameters.audience ?? API }), options, { parameters })).toEqual(
        covered ? usable('main') : {},
      )
    },
  )

  test('[S168] among the entries of an audience the one with the smallest sufficient scope is selected', () => {
    const data = session({}, [
      entry('wide', { requestedScope: 'a b c', scope: 'a b c' }),
      entry('narrow', { requestedScope: 'a', scope: 'a' }),
      entry('fitting', { requestedScope: 'a b', scope: 'a b' }),
    ])
    const parameters = {
      scope: { [API]: 'openid', 'https://x.example': 'openid' },
      audience: 'https://x.example',
    }
    const want = { audience: API, scope: 'a b', mergeScopes: false }
    expect(selected(data, want, { parameters })).toEqual(usable('fitting'))
    expect(selected(data, { ...want, scope: 'a b c d' }, { parameters })).toEqual({})
  })

  test('mergeScopes adds the configured scope of the audience', () => {
    const parameters = {
      scope: { [API]: 'openid read', 'https://x.example': 'openid' },
      audience: 'https://x.example',
    }
    const { authorization } = engineFor({ authorizationParameters: parameters }).engine.config
    expect(toTokenRequest(authorization, { audience: API, scope: 'write' }).scope).toBe('openid read write')
    expect(toTokenRequest(authorization, { audience: API, scope: 'write', mergeScopes: false }).scope).toBe(
      'write',
    )
    expect(toTokenRequest(authorization, { audience: API }).wireParameters).toEqual({ audience: API })
    expect(toTokenRequest(authorization, { audience: API, scope: 'w' }).wireParameters).toEqual({
      audience: API,
      scope: 'openid read w',
    })
    expect(toTokenRequest(authorization, {}).wireParameters).toEqual({})
  })

  test.each<[AuthorizationParameters, string]>([
    [{}, 'openid profile email a'],
    [{ scope: 'openid offline_access' }, 'openid offline_access a'],
    [{ scope: { [API]: 'openid offline_access' }, audience: API }, 'openid offline_access a'],
  ])('with the parameters %j, the access token must have the scope %j', (parameters, expected) => {
    const { authorization } = engineFor({ authorizationParameters: parameters }).engine.config
    expect(toTokenRequest(authorization, { scope: 'a' }).scope).toBe(expected)
  })

  test('a part of the scope of a session that does not name it is requested with all that was granted', () => {
    const { authorization } = engineFor().engine.config
    const data = session({ scope: 'openid email' })
    const { wireParameters } = toTokenRequest(
      authorization,
      { scope: 'openid', mergeScopes: false },
      { data },
    )
    expect(wireParameters.scope).toBe('openid email')
  })

  test.each<[GetAccessTokenOptions]>([
    [{}],
    [{ scope: 'delete' }],
    [{ audience: API }],
    [{ audience: API, scope: 'delete' }],
  ])('a stored request for %j is restored as it was', (options) => {
    const { authorization } = engineFor().engine.config
    const given = { data: session({ requestedScope: 'openid' }) }
    const want = toTokenRequest(authorization, options, given)
    expect(restoreTokenRequest(authorization, want, given)).toEqual(want)
  })

  test('a map of scopes adds nothing for an audience that it lacks, but the default scope for the configured one', () => {
    const scope = { [API]: 'openid read' }
    const requested = (options: GetAccessTokenOptions, audience: string) => {
      const { authorization } = engineFor({ authorizationParameters: { scope, audience } }).engine.config
      const { scope: required, wireParameters } = toTokenRequest(authorization, options)
      return [required, wireParameters.scope]
    }
    const other = 'https://other.example'
    expect(requested({ audience: other, scope: 'a' }, API)).toEqual(['a', 'a'])
    expect(requested({ scope: 'a' }, other)).toEqual([
      'openid profile email a',
      'openid profile email offline_access a',
    ])
  })
})
