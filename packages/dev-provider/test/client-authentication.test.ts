import type { JWTPayload } from 'jose'
import { importPKCS8, SignJWT } from 'jose'
import * as client from 'openid-client'
import { describe, expect, test } from 'vitest'
import type { DevProvider, DevProviderOptions } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import { CALLBACK, oauthError, relyingParty } from './relying-party.ts'

async function withProvider(
  options: DevProviderOptions,
  work: (provider: DevProvider) => Promise<void>,
): Promise<void> {
  const provider = await startDevProvider(options)
  try {
    await work(provider)
  } finally {
    await provider.stop()
  }
}

describe('client authentication', () => {
  test('by secret works in the header and in the body, and not with a wrong secret', () =>
    withProvider({}, async (provider) => {
      const secret = provider.clientSecret ?? ''
      for (const auth of [client.ClientSecretBasic(secret), client.ClientSecretPost(secret)]) {
        const app = await relyingParty(provider, { auth })
        expect((await app.logIn()).claims()?.sub).toBe('dev|alice')
      }
      const wrong = await relyingParty(provider, { auth: client.ClientSecretBasic('wrong') })
      await expect(wrong.logIn()).rejects.toThrow()
    }))

  test('by private key works for the client that has one', () =>
    withProvider({}, async (provider) => {
      const { clientId, privateKey, privateKeyAlg = '' } = provider.keyClient
      const key = await importPKCS8(privateKey, privateKeyAlg)
      const app = await relyingParty(provider, { clientId, auth: client.PrivateKeyJwt(key) })
      const tokens = await app.logIn()
      await app.refresh(tokens)
      expect(provider.requests('token').every(({ body }) => 'client_assertion' in body)).toBe(true)
    }))

  test('by RSA key works for a client that is added later', () =>
    withProvider({}, async (provider) => {
      const added = await provider.addClient({
        tokenEndpointAuthMethod: 'private_key_jwt',
        privateKeyAlg: 'RS256',
        idTokenSigningAlg: 'PS256',
      })
      const key = await importPKCS8(added.privateKey ?? '', 'RS256')
      const app = await relyingParty(provider, {
        clientId: added.clientId,
        auth: client.PrivateKeyJwt(key),
      })
      expect((await app.logIn()).claims()?.aud).toBe(added.clientId)
    }))

  test('by key works for the default client, and `env` shows it', () =>
    withProvider({ tokenEndpointAuthMethod: 'private_key_jwt' }, async (provider) => {
      expect(provider.clientSecret).toBeUndefined()
      expect(provider.env).not.toHaveProperty('IDP_CLIENT_SECRET')
      const key = await importPKCS8(
        provider.env['IDP_CLIENT_ASSERTION_SIGNING_KEY'] ?? '',
        provider.env['IDP_CLIENT_ASSERTION_SIGNING_ALG'] ?? '',
      )
      const app = await relyingParty(provider, { auth: client.PrivateKeyJwt(key) })
      await app.logIn()
    }))
})

test('pushed authorization requests work, and are required if configured', () =>
  withProvider({ requirePar: true }, async (provider) => {
    const app = await relyingParty(provider)
    const { url, checks } = await app.authorize({ audience: 'https://api.example.test/' })
    const refused = await provider.login(url.href)
    expect(new URL(refused.location ?? '').searchParams.get('error')).toBe('invalid_request')

    const pushed = await client.buildAuthorizationUrlWithPAR(app.config, url.searchParams)
    expect([...pushed.searchParams.keys()].sort()).toEqual(['client_id', 'request_uri'])
    const { location } = await provider.login(pushed.href)
    const tokens = await client.authorizationCodeGrant(app.config, new URL(location ?? ''), checks)
    expect(tokens.claims()?.['email']).toBe('alice@example.test')
    expect(tokens.scope).toBe('openid profile email offline_access')
    expect(tokens.access_token.split('.')).toHaveLength(3)
    await app.refresh(tokens)
    expect(provider.requests('par')[0]?.body['redirect_uri']).toBe(CALLBACK)
  }))

test('a pushed, signed request brings the refresh token that its scope asks for', () =>
  withProvider({}, async (provider) => {
    const { clientId, privateKey, privateKeyAlg = '' } = provider.keyClient
    const key = await importPKCS8(privateKey, privateKeyAlg)
    const app = await relyingParty(provider, { clientId, auth: client.PrivateKeyJwt(key) })
    const { url, checks } = await app.authorize()
    const signed = await client.buildAuthorizationUrlWithJAR(app.config, url.searchParams, key)
    const pushed = await client.buildAuthorizationUrlWithPAR(app.config, signed.searchParams)
    const { location } = await provider.login(pushed.href)
    const tokens = await client.authorizationCodeGrant(app.config, new URL(location ?? ''), checks)
    expect(tokens.scope).toBe('openid profile email offline_access')
    await app.refresh(tokens)
  }))

describe('DPoP', () => {
  test('binds tokens; a client that must use it gets none without', () =>
    withProvider({ requireDpop: true }, async (provider) => {
      const plain = await relyingParty(provider)
      expect(await oauthError(plain.logIn())).toBe('invalid_grant')
      const handle = client.getDPoPHandle(plain.config, await client.randomDPoPKeyPair())
      const app = await relyingParty(provider, { dpop: handle })
      const tokens = await app.logIn()
      expect(tokens.token_type).toBe('dpop')
      const userinfo = await client.fetchUserInfo(app.config, tokens.access_token, 'dev|alice', {
        DPoP: handle,
      })
      expect(userinfo.sub).toBe('dev|alice')
      await app.refresh(tokens)
    }))

  test('requires a nonce if configured, which costs one extra request', () =>
    withProvider({ dpopNonces: true }, async (provider) => {
      const plain = await relyingParty(provider)
      const handle = client.getDPoPHandle(plain.config, await client.randomDPoPKeyPair())
      const app = await relyingParty(provider, { dpop: handle })
      const tokens = await app.logIn()
      expect(provider.requests('token').map(({ status }) => status)).toEqual([400, 200])
      await app.refresh(tokens)
      expect(provider.count('token')).toBe(3)
    }))
})

test('PAR, DPoP with nonces, and a private key work together', () =>
  withProvider(
    { requirePar: true, requireDpop: true, dpopNonces: true, tokenEndpointAuthMethod: 'private_key_jwt' },
    async (provider) => {
      const key = await importPKCS8(provider.env['IDP_CLIENT_ASSERTION_SIGNING_KEY'] ?? '', 'ES256')
      const auth = client.PrivateKeyJwt(key)
      const plain = await relyingParty(provider, { auth })
      const dpop = client.getDPoPHandle(plain.config, await client.randomDPoPKeyPair())
      const app = await relyingParty(provider, { auth, dpop })
      const { url, checks } = await app.authorize()
      const pushed = await client.buildAuthorizationUrlWithPAR(app.config, url.searchParams, { DPoP: dpop })
      const { location } = await provider.login(pushed.href)
      const back = new URL(location ?? '')
      const tokens = await client.authorizationCodeGrant(app.config, back, checks, undefined, { DPoP: dpop })
      expect(tokens.token_type).toBe('dpop')
      expect(provider.requests('par').map(({ status }) => status)).toEqual([400, 201])
      await app.refresh(tokens)
    },
  ))

describe('signed authorization requests', () => {
  type Change = (token: SignJWT) => SignJWT

  /** Pushes a request that the client has signed, by default a right one, and returns the error in the response. */
  async function push(
    provider: DevProvider,
    { change = (token) => token, typ = 'oauth-authz-req+jwt' }: { change?: Change; typ?: string } = {},
  ): Promise<unknown[]> {
    const { clientId, privateKey = '' } = await provider.addClient({
      tokenEndpointAuthMethod: 'private_key_jwt',
      requireSignedRequests: true,
      redirectUris: [CALLBACK],
    })
    const key = await importPKCS8(privateKey, 'ES256')
    const now = Math.floor(Date.now() / 1000)
    const sign = (claims: JWTPayload, type: string | undefined, edit: Change = (token) => token) =>
      edit(
        new SignJWT({ iss: clientId, aud: provider.issuer, jti: crypto.randomUUID(), ...claims })
          .setProtectedHeader({ alg: 'ES256', ...(type === undefined ? {} : { typ: type }) })
          .setIssuedAt(now)
          .setNotBefore(now)
          .setExpirationTime(now + 60),
      ).sign(key)
    const parameters = { client_id: clientId, response_type: 'code', redirect_uri: CALLBACK, scope: 'openid' }
    const request = await sign(parameters, typ, change)
    const newAssertion = () => sign({ sub: clientId }, undefined)
    const send = async (form: Record<string, string>): Promise<unknown> => {
      const body = new URLSearchParams({
        client_id: clientId,
        client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
        ...form,
      })
      const response = await fetch(`${provider.issuer}/oauth/par`, { method: 'POST', body })
      const { error } = (await response.json()) as { error?: unknown }
      return error ?? response.status
    }
    return [
      await send({ request, client_assertion: await newAssertion() }),
      await send({ request: await newAssertion(), client_assertion: await newAssertion() }),
      await send({ request, client_assertion: request }),
    ]
  }

  test('are accepted; an assertion is no request object, and the reverse', () =>
    withProvider({}, async (provider) => {
      expect(await push(provider)).toEqual([201, 'invalid_request_object', 'invalid_client'])
    }))

  test.each<[string, Parameters<typeof push>[1]]>([
    ['another type', { typ: 'JWT' }],
    ['a lifetime of more than 300 s', { change: (token) => token.setExpirationTime('10 min') }],
    ['a sub', { change: (token) => token.setSubject('client') }],
    ['another audience', { change: (token) => token.setAudience('https://other.example') }],
  ])('are refused with %s', (_, options) =>
    withProvider({}, async (provider) => {
      const [outcome] = await push(provider, options)
      expect(outcome).toBe('invalid_request_object')
    }),
  )
})
