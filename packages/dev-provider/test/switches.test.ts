import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, importPKCS8, jwtVerify, SignJWT } from 'jose'
import * as client from 'openid-client'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { DevProvider } from '../src/index.ts'
import { startDevProvider } from '../src/index.ts'
import { isRecord } from '../src/wire/message.ts'
import type { RelyingParty } from './relying-party.ts'
import { CALLBACK, oauthError, relyingParty, SCOPE } from './relying-party.ts'

/** Switches that make the provider behave like real ones that differ from the rest. */

let provider: DevProvider
let app: RelyingParty
beforeEach(async () => {
  provider = await startDevProvider()
  app = await relyingParty(provider)
})
afterEach(() => provider.stop())

const WITHOUT = 'openid profile email'

describe('[N1] wrongSecretError', () => {
  const ENDPOINTS = [
    'token_endpoint',
    'pushed_authorization_request_endpoint',
    'revocation_endpoint',
    'backchannel_authentication_endpoint',
  ] as const

  /** The error code of a request with a wrong secret: in its response, and in the request log. */
  async function refusedWith(
    endpoint: (typeof ENDPOINTS)[number],
    inHeader: boolean,
    id = 'dev-app',
  ): Promise<unknown[]> {
    const headers = { authorization: `Basic ${Buffer.from(`${id}:wrong`).toString('base64')}` }
    const response = await fetch(app.config.serverMetadata()[endpoint] ?? '', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        ...(inHeader ? {} : { client_id: id, client_secret: 'wrong' }),
      }),
      ...(inHeader ? { headers } : {}),
    })
    const body: unknown = await response.json()
    const error = isRecord(body) ? body['error'] : undefined
    return [response.status, error, provider.requests().at(-1)?.failure?.error]
  }

  test.each(ENDPOINTS)('is the error of a wrong secret at the %s, in header and body', async (endpoint) => {
    for (const inHeader of [true, false]) {
      for (const code of ['invalid_client', 'unauthorized_client'] as const) {
        provider.settings.wrongSecretError = code
        expect(await refusedWith(endpoint, inHeader)).toEqual([401, code, code])
      }
    }
  })

  test('other responses stay: to an unknown client, a wrong grant and the right secret', async () => {
    provider.settings.wrongSecretError = 'unauthorized_client'
    expect((await refusedWith('token_endpoint', true, 'unknown'))[1]).toBe('invalid_client')
    expect(await oauthError(app.grant('authorization_code', { code: 'none' }))).toBe('invalid_grant')
    expect((await app.logIn()).claims()?.sub).toBe('dev|alice')
  })
})

describe('offlineAccess', () => {
  test('listed: the metadata has the scope, and a refresh token needs it', async () => {
    expect(app.config.serverMetadata().scopes_supported).toContain('offline_access')
    expect((await app.logIn({ scope: WITHOUT })).refresh_token).toBeUndefined()
    expect((await app.logIn()).refresh_token).toBeDefined()
  })

  test.each(['unlisted', 'refused'] as const)(
    '%s: the metadata lacks the scope, and every login returns a refresh token',
    async (offlineAccess) => {
      provider.settings.offlineAccess = offlineAccess
      const fresh = await relyingParty(provider)
      expect(fresh.config.serverMetadata().scopes_supported).toEqual(['openid', 'profile', 'email'])
      const tokens = await fresh.logIn({ scope: WITHOUT })
      expect(tokens.scope).toBe(WITHOUT)
      expect((await fresh.refresh(tokens)).scope).toBe(WITHOUT)
    },
  )

  test('unlisted: a request for it is responded to as before', async () => {
    provider.settings.offlineAccess = 'unlisted'
    expect((await app.logIn()).refresh_token).toBeDefined()
  })

  test('refused: invalid_scope at login, at a pushed request, at CIBA and at a refresh, which uses up nothing', async () => {
    provider.settings.offlineAccess = 'refused'
    const { url } = await app.authorize()
    const { location } = await provider.login(url.href)
    expect(new URL(location ?? '').searchParams.get('error')).toBe('invalid_scope')
    expect(await oauthError(client.buildAuthorizationUrlWithPAR(app.config, url.searchParams))).toBe(
      'invalid_scope',
    )
    const ciba = client.initiateBackchannelAuthentication(app.config, { scope: SCOPE, login_hint: 'alice' })
    expect(await oauthError(ciba)).toBe('invalid_scope')
    const tokens = await app.logIn({ scope: WITHOUT })
    expect(await oauthError(app.refresh(tokens, { scope: SCOPE }))).toBe('invalid_scope')
    await app.refresh(tokens)
  })
})

describe('enforceAuthMethod', () => {
  const methods = [
    ['client_secret_basic', client.ClientSecretBasic],
    ['client_secret_post', client.ClientSecretPost],
  ] as const

  test.each(methods)(
    'requires %s of a client, at every endpoint where clients authenticate',
    async (own, auth) => {
      provider.settings.enforceAuthMethod = true
      const { clientId, clientSecret = '' } = await provider.addClient({ tokenEndpointAuthMethod: own })
      const right = await relyingParty(provider, { clientId, auth: auth(clientSecret) })
      const tokens = await right.logIn()
      const [, other = auth] = methods.find(([name]) => name !== own) ?? []
      const wrong = await relyingParty(provider, { clientId, auth: other(clientSecret) })
      const { url } = await wrong.authorize()
      const attempts = [
        () => wrong.refresh(tokens),
        () => client.buildAuthorizationUrlWithPAR(wrong.config, url.searchParams),
        () => client.tokenIntrospection(wrong.config, tokens.access_token),
        () => client.tokenRevocation(wrong.config, tokens.access_token),
        () => client.initiateBackchannelAuthentication(wrong.config, { scope: SCOPE, login_hint: 'alice' }),
      ]
      provider.clearRequests()
      for (const attempt of attempts) await expect(attempt()).rejects.toThrow()
      expect(provider.requests().map(({ failure, status }) => [status, failure])).toEqual(
        attempts.map(() => [401, { error: 'invalid_client', reason: `the client is registered for ${own}` }]),
      )
      expect(wrong.config.serverMetadata().token_endpoint_auth_methods_supported).toContain(
        'client_secret_post',
      )
      await right.refresh(tokens)
    },
  )
})

describe('decodeBasic', () => {
  const SECRET = 'a-b_c.d~e f%2Bg'

  test.each([
    [true, 'a-b_c.d~e+f%252Bg', SECRET],
    [false, SECRET, 'a-b_c.d~e+f%252Bg'],
  ])('%s: the secret in the header is read as %s', async (decodeBasic, right, wrong) => {
    provider.settings.decodeBasic = decodeBasic
    const { clientId } = await provider.addClient({ clientSecret: SECRET })
    const status = async (secret: string): Promise<number> => {
      const { status } = await fetch(`${provider.issuer}/oauth/token`, {
        method: 'POST',
        headers: { authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}` },
        body: new URLSearchParams({ grant_type: 'client_credentials' }),
      })
      return status
    }
    expect([await status(right), await status(wrong)]).toEqual([200, 401])
  })
})

test('assertionAudience: only the token endpoint is accepted, at every endpoint', async () => {
  provider.settings.assertionAudience = 'token_endpoint'
  const { clientId, privateKey, privateKeyAlg = '' } = provider.keyClient
  const key = await importPKCS8(privateKey, privateKeyAlg)
  const partyWith = (aud?: string) =>
    relyingParty(provider, {
      clientId,
      auth: client.PrivateKeyJwt(key, {
        [client.modifyAssertion]: (_header, payload) => {
          if (aud !== undefined) payload['aud'] = aud
        },
      }),
    })
  const push = async (aud?: string) => {
    const party = await partyWith(aud)
    const { url } = await party.authorize()
    return client.buildAuthorizationUrlWithPAR(party.config, url.searchParams)
  }
  const tokenEndpoint = `${provider.issuer}/oauth/token`
  expect(await oauthError(push())).toBe('invalid_client')
  expect(await oauthError(push(`${provider.issuer}/oauth/par`))).toBe('invalid_client')
  expect((await push(tokenEndpoint)).searchParams.has('request_uri')).toBe(true)
  await (await partyWith(tokenEndpoint)).logIn()
  provider.settings.assertionAudience = 'any'
  await push()
})

test('several algorithms are advertised, and each client gets the registered one', async () => {
  const advertised = app.config.serverMetadata().id_token_signing_alg_values_supported
  for (const alg of ['PS256', 'ES256', 'EdDSA', 'RS256'] as const) {
    expect(advertised).toContain(alg)
    const { clientId, clientSecret = '' } = await provider.addClient({ idTokenSigningAlg: alg })
    const config = await client.discovery(
      new URL(provider.issuer),
      clientId,
      { id_token_signed_response_alg: alg },
      client.ClientSecretPost(clientSecret),
      { execute: [client.allowInsecureRequests, client.enableNonRepudiationChecks] },
    )
    const { url, checks } = await app.authorize({ client_id: clientId })
    const { location } = await provider.login(url.href)
    const tokens = await client.authorizationCodeGrant(config, new URL(location ?? ''), checks)
    expect(decodeProtectedHeader(tokens.id_token ?? '').alg).toBe(alg)
  }
})

test.each([undefined, 'https://api.example.test/'])(
  'userinfoSigningAlg: UserInfo is a signed JWT (audience of the access token: %s)',
  async (audience) => {
    const { clientId, clientSecret = '' } = await provider.addClient({ userinfoSigningAlg: 'ES256' })
    const party = await relyingParty(provider, { clientId, auth: client.ClientSecretPost(clientSecret) })
    const tokens = await party.logIn(audience === undefined ? {} : { audience })
    const response = await fetch(`${provider.issuer}/userinfo`, {
      headers: { authorization: `Bearer ${tokens.access_token}` },
    })
    expect(response.headers.get('content-type')).toMatch(/^application\/jwt\b/)
    const { payload } = await jwtVerify(await response.text(), createLocalJWKSet(provider.jwks()), {
      algorithms: ['ES256'],
      issuer: provider.issuer,
      audience: clientId,
    })
    expect(payload).toMatchObject({ sub: 'dev|alice', email: 'alice@example.test' })
  },
)

test('logoutTokenExp: with false no logout token has an exp, whether a user or an administrator ends the session', async () => {
  provider.settings.logoutTokenExp = false
  // No server listens there; the provider keeps what it tried to post.
  provider.registerApp('http://127.0.0.1:9', { backChannelLogout: true })
  const jar = provider.createJar()
  const tokens = await app.logIn({}, { jar })
  const logout = client.buildEndSessionUrl(app.config, { id_token_hint: tokens.id_token ?? '' })
  await provider.visit(logout.href, { jar })
  await app.logIn({}, { jar: provider.createJar() })
  await provider.endSessions('alice')
  const posted = provider.logoutNotices().map(({ token }) => token)
  expect(posted).toHaveLength(2)
  for (const token of [...posted, await provider.logoutToken({ sub: 'dev|alice' })]) {
    expect(decodeJwt(token)).not.toHaveProperty('exp')
    const { protectedHeader } = await jwtVerify(token, createLocalJWKSet(provider.jwks()), {
      issuer: provider.issuer,
      audience: provider.clientId,
    })
    expect(protectedHeader.typ).toBe('logout+jwt')
  }
})

test('ignoreRequestObjects takes the parameters outside, without the state and the nonce in the request object', async () => {
  const request = await new SignJWT({ state: 'inside', redirect_uri: CALLBACK })
    .setProtectedHeader({ alg: 'HS256' })
    .sign(new TextEncoder().encode(provider.clientSecret))
  const { url } = await app.authorize()
  url.searchParams.set('request', request)
  url.searchParams.set('state', 'outside')
  provider.settings.ignoreRequestObjects = true
  const { location = '' } = await provider.login(url.href)
  expect(new URL(location).searchParams.get('state')).toBe('outside')
  provider.settings.ignoreRequestObjects = false
  const refused = await provider.login(url.href).then(String, String)
  expect(refused).not.toContain('outside')
})

test('tamperAuthorizationResponse changes what the browser returns with, and no other redirect', async () => {
  const seen: string[] = []
  const stop = provider.tamperAuthorizationResponse((parameters) => {
    seen.push([...parameters.keys()].sort().join(' '))
    parameters.delete('iss')
    parameters.set('state', 'other')
  })
  const { url } = await app.authorize()
  const { location = '' } = await provider.login(url.href)
  expect([...new URL(location).searchParams.keys()].sort()).toEqual(['code', 'state'])
  expect(new URL(location).searchParams.get('state')).toBe('other')
  await provider.login(url.href, { deny: true })
  expect(seen).toEqual(['code iss state', 'error error_description iss state'])
  stop()
  const after = await provider.login(url.href)
  expect(new URL(after.location ?? '').searchParams.get('iss')).toBe(provider.issuer)
})
