import { importPKCS8 } from 'jose'
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
