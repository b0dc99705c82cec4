import { createLocalJWKSet, jwtVerify } from 'jose'
import * as client from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty, Tokens } from './relying-party.ts'
import { oauthError, relyingParty, SCOPE } from './relying-party.ts'

const THINGS = 'https://api.example.test/'
const ORDERS = 'https://orders.example.test/'

let provider: DevProvider
let app: RelyingParty
beforeAll(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterAll(() => provider.stop())

async function accessClaims(token: string, audience: string): Promise<Record<string, unknown>> {
  const { payload, protectedHeader } = await jwtVerify(token, createLocalJWKSet(provider.jwks()), {
    issuer: provider.issuer,
    audience,
  })
  expect(protectedHeader.typ).toBe('at+jwt')
  return payload
}

describe('refresh tokens', () => {
  test('rotate, and the reuse of an old one revokes the whole family but no other login', async () => {
    const jar = provider.createJar()
    const first = await app.logIn({}, { jar })
    const bystander = await app.logIn({}, { jar })
    const second = await app.refresh(first)
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect(second.scope).toBe(SCOPE)
    expect(await oauthError(app.refresh(first))).toBe('invalid_grant')
    expect(await oauthError(app.refresh(second))).toBe('invalid_grant')
    await app.refresh(bystander)
  })

  test('stay the same when rotation is off', async () => {
    provider.settings.rotateRefreshTokens = false
    try {
      const first = await app.logIn()
      const second = await app.refresh(first)
      expect(second.refresh_token ?? first.refresh_token).toBe(first.refresh_token)
      await app.refresh(first)
    } finally {
      provider.settings.rotateRefreshTokens = true
    }
  })

  test('are rejected after revocation and after they expire', async () => {
    const revoked = await app.logIn()
    await client.tokenRevocation(app.config, revoked.refresh_token ?? '', {
      token_type_hint: 'refresh_token',
    })
    expect(await oauthError(app.refresh(revoked))).toBe('invalid_grant')
    provider.settings.refreshTokenTtl = 100
    const short = await app.logIn()
    provider.settings.refreshTokenTtl = 14 * 86_400
    provider.clock.advance(101)
    try {
      expect(await oauthError(app.refresh(short))).toBe('invalid_grant')
    } finally {
      provider.clock.reset()
    }
  })
})

describe('APIs', () => {
  test('have JWT access tokens with the requested scopes', async () => {
    const tokens = await app.logIn({ audience: THINGS, scope: `${SCOPE} read:things` })
    expect(tokens.scope).toBe(`${SCOPE} read:things`)
    expect(await accessClaims(tokens.access_token, THINGS)).toMatchObject({
      sub: 'dev|alice',
      client_id: provider.clientId,
      scope: `${SCOPE} read:things`,
    })
  })

  test('are reached by a refresh, which keeps the audience or changes it with its scopes', async () => {
    const tokens = await app.logIn({ audience: THINGS, scope: `${SCOPE} read:things` })
    const same = await app.refresh(tokens)
    expect((await accessClaims(same.access_token, THINGS))['scope']).toContain('read:things')
    const other = await app.refresh(same, { audience: ORDERS, scope: 'openid read:orders' })
    expect((await accessClaims(other.access_token, ORDERS))['scope']).toBe('openid read:orders')
    expect(other.scope).toBe('openid read:orders')
    const back = await app.refresh(other)
    await accessClaims(back.access_token, THINGS)
  })

  test('an unknown audience is rejected, and uses up no refresh token', async () => {
    const { url } = await app.authorize({ audience: 'https://unknown.example.test/' })
    const { location } = await provider.login(url.href)
    expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_target')
    const tokens = await app.logIn()
    const wrong = app.refresh(tokens, { audience: 'https://unknown.example.test/' })
    expect(await oauthError(wrong)).toBe('invalid_target')
    await app.refresh(tokens)
  })

  test('can be added while it runs, and have their own lifetime', async () => {
    provider.addApi({ audience: 'urn:example:late', scopes: ['late:read'], accessTokenTtl: 7 })
    const tokens = await app.logIn({ audience: 'urn:example:late', scope: 'openid late:read' })
    expect(tokens).toMatchObject({ expires_in: 7, scope: 'openid late:read' })
  })

  test('can be requested with client credentials as well', async () => {
    const tokens = await client.clientCredentialsGrant(app.config, {
      audience: THINGS,
      scope: 'read:things',
    })
    expect((await accessClaims(tokens.access_token, THINGS))['sub']).toBe(provider.clientId)
  })
})

describe('userinfo', () => {
  test('responds for opaque access tokens and for those of an API', async () => {
    for (const parameters of [{}, { audience: THINGS }]) {
      const tokens = await app.logIn(parameters)
      const userinfo = await client.fetchUserInfo(app.config, tokens.access_token, 'dev|alice')
      expect(userinfo).toMatchObject({ sub: 'dev|alice', email: 'alice@example.test' })
    }
  })

  test('returns the claims of the granted scopes only, and none without openid or for a revoked token', async () => {
    const narrow = await app.logIn({ audience: THINGS, scope: 'openid read:things' })
    const userinfo = await client.fetchUserInfo(app.config, narrow.access_token, 'dev|alice')
    expect(userinfo).toEqual({ sub: 'dev|alice' })
    const machine = await client.clientCredentialsGrant(app.config, { audience: THINGS })
    const status = async (token: string): Promise<number> => {
      const headers = { authorization: `Bearer ${token}` }
      return (await fetch(`${provider.issuer}/userinfo`, { headers })).status
    }
    expect(await status(machine.access_token)).toBe(401)
    expect(await status('nonsense')).toBe(401)
    provider.clock.advance(3601)
    try {
      expect(await status(narrow.access_token)).toBe(401)
    } finally {
      provider.clock.reset()
    }
  })
})

test('introspection distinguishes an active token from a revoked one', async () => {
  const tokens = await app.logIn()
  expect(await client.tokenIntrospection(app.config, tokens.access_token)).toMatchObject({ active: true })
  await client.tokenRevocation(app.config, tokens.access_token)
  expect(await client.tokenIntrospection(app.config, tokens.access_token)).toEqual({ active: false })
})

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange'
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

describe('token exchange', () => {
  test.each(['jwt', 'opaque'] as const)('refuses an expired access token: %s', async (tokenFormat) => {
    const audience = `https://${tokenFormat}.exchange.example.test/`
    provider.addApi({ audience, scopes: [], tokenFormat, accessTokenTtl: 60 })
    const { access_token: token } = await app.logIn({ audience }, { user: 'alice' })
    const exchange = (): Promise<Tokens> =>
      app.grant(EXCHANGE, { subject_token: token, subject_token_type: ACCESS_TOKEN, scope: 'openid' })
    expect((await exchange()).token_type).toBe('bearer')
    provider.clock.advance(61)
    try {
      expect(await oauthError(exchange())).toBe('invalid_grant')
    } finally {
      provider.clock.reset()
    }
  })

  test('exchanges an access token of the provider for tokens for an API, with the actor', async () => {
    const alice = await app.logIn({ audience: THINGS, scope: 'openid read:things' })
    const bob = await app.logIn({}, { user: 'bob' })
    const tokens = await app.grant(EXCHANGE, {
      subject_token: alice.access_token,
      subject_token_type: ACCESS_TOKEN,
      actor_token: bob.access_token,
      actor_token_type: ACCESS_TOKEN,
      audience: ORDERS,
      organization: 'org_acme',
      scope: `${SCOPE} read:orders`,
    })
    expect(tokens).toMatchObject({ issued_token_type: ACCESS_TOKEN, expires_in: 3600 })
    expect(await accessClaims(tokens.access_token, ORDERS)).toMatchObject({
      sub: 'dev|alice',
      act: { sub: 'dev|bob' },
      org_id: 'org_acme',
    })
    expect(tokens.claims()).toMatchObject({
      sub: 'dev|alice',
      email: 'alice@example.test',
      act: { sub: 'dev|bob' },
    })
    const refreshed = await app.refresh(tokens)
    await accessClaims(refreshed.access_token, ORDERS)
  })

  test('accepts foreign tokens if configured, and rejects others', async () => {
    const foreign = (token: string): Promise<unknown> =>
      app.grant(EXCHANGE, { subject_token: token, subject_token_type: 'urn:example:legacy', scope: 'openid' })
    await foreign('bob')
    expect(await oauthError(foreign('nobody'))).toBe('invalid_grant')
  })
})

describe('the federated-connection grant', () => {
  const exchange = (token: string, parameters: Record<string, string> = {}): Promise<unknown> =>
    app.grant('urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token', {
      connection: 'google-oauth2',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:refresh_token',
      requested_token_type: 'http://auth0.com/oauth/token-type/federated-connection-access-token',
      ...parameters,
    })

  test('returns a token of the connection and does not change the refresh token', async () => {
    const tokens = await app.logIn()
    const first = await exchange(tokens.refresh_token ?? '')
    expect(first).toMatchObject({
      access_token: expect.stringMatching(/^google-oauth2\./),
      expires_in: 3600,
      token_type: 'bearer',
      issued_token_type: 'http://auth0.com/oauth/token-type/federated-connection-access-token',
    })
    const hinted = await exchange(tokens.refresh_token ?? '', { login_hint: 'second-account' })
    expect(hinted).not.toEqual(first)
    await exchange(tokens.access_token, { subject_token_type: ACCESS_TOKEN })
    await app.refresh(tokens)
  })

  test('rejects unknown connections, wrong types and revoked tokens', async () => {
    const tokens = await app.logIn()
    const live = tokens.refresh_token ?? ''
    expect(await oauthError(exchange(live, { connection: 'nowhere' }))).toBe('invalid_request')
    expect(await oauthError(exchange(live, { requested_token_type: ACCESS_TOKEN }))).toBe('invalid_request')
    expect(await oauthError(exchange('forged'))).toBe('invalid_grant')
    await app.refresh(tokens)
    expect(await oauthError(exchange(live))).toBe('invalid_grant')
  })
})
