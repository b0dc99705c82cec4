import * as client from 'openid-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import type { RelyingParty } from './relying-party.ts'
import { relyingParty } from './relying-party.ts'

/** Introspection (RFC 7662) as an API uses it. */

const THINGS = 'https://api.example.test/'
const OPAQUE = 'https://opaque.example.test/'

let provider: DevProvider
let app: RelyingParty
beforeEach(async () => {
  provider = await startDevProvider()
  provider.addApi({ audience: OPAQUE, scopes: ['read:secrets'], tokenFormat: 'opaque' })
  app = await relyingParty(provider)
})
afterEach(() => provider.stop())

const introspect = (token: string | undefined) => client.tokenIntrospection(app.config, token ?? '')
const logIn = (audience: string) =>
  app.logIn({ audience, scope: 'openid offline_access read:things read:secrets' })

test('an API with opaque access tokens: they are active, with audience, scope and issuer', async () => {
  const { access_token: token } = await logIn(OPAQUE)
  expect(token).not.toContain('.')
  expect(await introspect(token)).toMatchObject({
    active: true,
    aud: OPAQUE,
    client_id: 'dev-app',
    iss: provider.issuer,
    scope: 'read:secrets',
    sub: 'dev|alice',
    token_type: 'Bearer',
  })
  expect(provider.count('introspection')).toBe(1)
})

test('opaque access tokens also come from client credentials and a refresh', async () => {
  const { access_token: own } = await client.clientCredentialsGrant(app.config, { audience: OPAQUE })
  expect(await introspect(own)).toMatchObject({ active: true, aud: OPAQUE, client_id: 'dev-app' })
  const { access_token: refreshed } = await app.refresh(await logIn(THINGS), { audience: OPAQUE })
  expect(await introspect(refreshed)).toMatchObject({ active: true, aud: OPAQUE, sub: 'dev|alice' })
})

test.each(['rfc9068', 'keycloak', 'entra'] as const)(
  'a JWT access token with the profile %s',
  async (profile) => {
    provider.settings.accessTokenProfile = profile
    const { access_token: token, id_token: idToken } = await logIn(THINGS)
    expect(await introspect(token)).toMatchObject({
      active: true,
      client_id: 'dev-app',
      iss: provider.issuer,
      scope: 'openid offline_access read:things',
      sub: 'dev|alice',
      token_type: 'Bearer',
    })
    expect(await introspect(idToken)).toEqual({ active: false })
  },
)

test.each([THINGS, OPAQUE])('%s: expired, revoked and unknown tokens are not active', async (audience) => {
  const { access_token: revoked, refresh_token: refreshToken = '' } = await logIn(audience)
  await client.tokenRevocation(app.config, refreshToken)
  const { access_token: expired } = await logIn(audience)
  provider.clock.advance(3601)
  for (const token of [revoked, refreshToken, expired, `${expired}x`, 'unknown']) {
    expect(await introspect(token)).toEqual({ active: false })
  }
})

test('a JWT of another client is active only with introspectionOf any', async () => {
  const token = await provider.signAccessToken({ sub: 'dev|alice', aud: THINGS })
  expect(await introspect(token)).toEqual({ active: false })
  provider.settings.introspectionOf = 'any'
  expect(await introspect(token)).toMatchObject({ active: true, client_id: 'api-client' })
})

test('the client authenticates, by secret or by key, before it learns something of a JWT', async () => {
  const token = await provider.signAccessToken({ aud: THINGS, client_id: provider.keyClient.clientId })
  const wrong = await relyingParty(provider, { auth: client.ClientSecretBasic('wrong') })
  await expect(client.tokenIntrospection(wrong.config, token)).rejects.toMatchObject({ status: 401 })
  const key = await crypto.subtle.importKey(
    'pkcs8',
    Buffer.from(provider.keyClient.privateKey.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64'),
    { name: 'ECDSA', namedCurve: 'P-256' },
    false,
    ['sign'],
  )
  const byKey = await relyingParty(provider, {
    clientId: provider.keyClient.clientId,
    auth: client.PrivateKeyJwt(key),
  })
  expect(await client.tokenIntrospection(byKey.config, token)).toMatchObject({ active: true })
})

describe('responses that an API has to expect', () => {
  const ask = async (token: string) => {
    const response = await fetch(`${provider.issuer}/oauth/introspect`, {
      method: 'POST',
      headers: { authorization: `Basic ${btoa(`${provider.clientId}:${provider.clientSecret ?? ''}`)}` },
      body: new URLSearchParams({ token }),
    })
    return response.text()
  }

  test.each([
    ['no audience', { aud: undefined }],
    ['another issuer', { iss: 'https://other.example.test' }],
    ['active as text', { active: 'true' }],
  ])('%s', async (_name, change) => {
    const { access_token: token } = await logIn(OPAQUE)
    const correct: unknown = JSON.parse(await ask(token))
    provider.rewrite('introspection', (json) => ({ ...json, ...change }), { times: 1 })
    expect(JSON.parse(await ask(token))).toEqual(
      JSON.parse(JSON.stringify({ ...Object(correct), ...change })),
    )
  })

  test('down, not JSON, and no connection', async () => {
    provider.faults.set('introspection', { kind: 'reset' }, { times: 1 })
    await expect(ask('unknown')).rejects.toThrow('fetch failed')
    provider.faults.set(
      'introspection',
      { kind: 'respond', status: 500, body: '<h1>Down</h1>' },
      { times: 1 },
    )
    expect(await ask('unknown')).toBe('<h1>Down</h1>')
    expect(await ask('unknown')).toBe('{"active":false}')
    expect(provider.count('introspection')).toBe(3)
  })
})
