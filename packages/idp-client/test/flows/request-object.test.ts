import type { JWK } from 'jose'
import { decodeJwt, decodeProtectedHeader, exportJWK, exportPKCS8, generateKeyPair } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { customFetch } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { rejectionOf } from '../support/provider-engine.ts'

const REGISTERED = 'request-signer'

let world: World
let key: CryptoKey
let jwk: JWK
let pem: string
let client: IdpClientOptions

beforeAll(async () => {
  world = await startWorld({})
  const pair = await generateKeyPair('ES256', { extractable: true })
  key = pair.privateKey
  pem = await exportPKCS8(key)
  jwk = { ...(await exportJWK(pair.publicKey)), kid: 'request-key', use: 'sig', alg: 'ES256' }
  const { clientSecret } = await world.provider.addClient({
    clientId: REGISTERED,
    jwks: { keys: [jwk] },
    requireSignedRequests: true,
    apps: ['http://localhost:3000'],
  })
  client = { clientId: REGISTERED, clientSecret, requestObject: { key, keyId: 'request-key' } }
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.settings.cibaAutoApprove = true
  world.provider.settings.cibaInterval = 0.01
  world.provider.clearRequests()
  world.events.length = 0
})

interface Changes {
  readonly requestObject?: () => { readonly key: CryptoKey }
}

const queryOf = (url: string) => Object.fromEntries(new URL(url).searchParams)
const scope = 'openid profile email offline_access'

/** Logs in, and returns where the browser is at the end. */
async function login(options: IdpClientOptions, query = ''): Promise<string | null> {
  const { browser } = world.another({ ...client, ...options })
  const url = await world.begin(browser, query)
  return (await browser.send(await world.authorize(url))).headers.get('location')
}

describe('signed authorization requests (RFC 9101)', () => {
  test('at the authorization endpoint only client_id, response_type and scope are outside, too', async () => {
    const { browser } = world.another(client)
    const url = await world.begin(browser, '?returnTo=/after&max_age=600&ui_locales=de')
    const { request = '', ...outside } = queryOf(url)
    expect(outside).toEqual({ client_id: REGISTERED, response_type: 'code', scope })
    expect(decodeProtectedHeader(request)).toEqual({
      alg: 'ES256',
      kid: 'request-key',
      typ: 'oauth-authz-req+jwt',
    })
    const { exp = 0, nbf = 0, ...claims } = decodeJwt(request)
    expect(exp - nbf).toBe(60)
    expect(claims).toEqual({
      ...outside,
      iss: REGISTERED,
      aud: world.provider.issuer,
      iat: nbf,
      jti: expect.stringMatching(/^[\w-]{20,}$/),
      redirect_uri: 'http://localhost:3000/auth/callback',
      code_challenge: expect.any(String),
      code_challenge_method: 'S256',
      state: expect.any(String),
      nonce: expect.any(String),
      max_age: 600,
      ui_locales: 'de',
    })
    const done = await browser.send(await world.authorize(url))
    expect(done.headers.get('location')).toBe('http://localhost:3000/after')
  })

  test('the configured algorithm takes precedence over others of the key', async () => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true })
    const requestObject = { key: await exportPKCS8(privateKey), alg: 'PS256' } as const
    const { request = '' } = queryOf(await world.begin(world.another({ ...client, requestObject }).browser))
    expect(decodeProtectedHeader(request).alg).toBe('PS256')
  })

  test('a pushed request has nothing outside but the client authentication', async () => {
    expect(await login({ pushedAuthorizationRequests: true }, '?returnTo=/after')).toBe(
      'http://localhost:3000/after',
    )
    const [pushed] = world.provider.requests('par')
    expect(pushed?.body).toEqual({ client_id: REGISTERED, request: expect.any(String) })
    expect(pushed?.headers).toMatchObject({ authorization: expect.stringMatching(/^Basic /) })
  })

  test('a pushed request is signed anew for the proof with a nonce', async () => {
    world.provider.settings.dpopNonces = true
    const pair = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
      'verify',
    ])
    await login({ pushedAuthorizationRequests: true, useDPoP: true, dpopKeyPair: pair })
    world.provider.settings.dpopNonces = false
    const ids = world.provider.requests('par').map(({ body }) => decodeJwt(body?.['request'] ?? '').jti)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(2)
  })

  test('the key may be a PEM text and that of the client assertion', async () => {
    const assertion = { clientSecret: undefined, clientAssertionSigningKey: pem }
    const requestObject = { key: pem, alg: 'ES256', keyId: 'request-key' }
    const { clientId, privateKey } = await world.provider.addClient({
      tokenEndpointAuthMethod: 'private_key_jwt',
      requireSignedRequests: true,
      apps: ['http://localhost:3000'],
    })
    const own = privateKey ?? ''
    expect(
      await login({ ...assertion, clientId, clientAssertionSigningKey: own, requestObject: { key: own } }),
    ).toBe('http://localhost:3000/')
    expect(await login({ requestObject })).toBe('http://localhost:3000/')
  })

  test('claims and authorization_details are JSON inside; a configured request and sub stay outside of both', async () => {
    const details = [{ type: 'payment' }]
    const { browser } = world.another({
      ...client,
      authorizationParameters: {
        claims: { id_token: { acr: null } },
        authorization_details: details,
        request_uri: 'https://app.example/r',
        request: 'x',
        sub: 'x',
      },
    })
    const { request = '', ...outside } = queryOf(await world.begin(browser))
    const claims = decodeJwt(request)
    expect(claims).toMatchObject({ claims: { id_token: { acr: null } }, authorization_details: details })
    for (const name of ['request', 'request_uri', 'sub']) expect(claims).not.toHaveProperty(name)
    expect(Object.keys(outside).sort()).toEqual(['client_id', 'response_type', 'scope'])
  })

  test('a parameter that is not the JSON it has to be is named, not quoted', async () => {
    const { browser } = world.another({ ...client, authorizationParameters: { claims: 'no json' } })
    const response = await browser.send('/auth/login')
    expect(response.status).toBe(500)
    expect(world.events).toContainEqual(
      expect.objectContaining({
        error: 'INVALID_CONFIGURATION',
        detail: expect.stringContaining('The authorization parameter claims is not the JSON'),
      }),
    )
    expect(JSON.stringify(world.events)).not.toContain('no json')
  })

  test('a provider that ignores the request object returns no state: nothing of its response is used', async () => {
    const { clientId, clientSecret } = await world.provider.addClient({
      jwks: { keys: [jwk] },
      apps: ['http://localhost:3000'],
    })
    const options = { clientId, clientSecret }
    expect(await login(options)).toBe('http://localhost:3000/')
    world.provider.settings.ignoreRequestObjects = true
    world.provider.clearRequests()
    expect(await login(options)).toBeNull()
    world.provider.settings.ignoreRequestObjects = false
    expect(world.events).toContainEqual(expect.objectContaining({ error: 'MISSING_STATE' }))
    expect(world.provider.count('token')).toBe(0)
  })

  test.each([
    [
      'without requestObject, at a provider that demands signed requests',
      {},
      { require_signed_request_object: true },
      { remedy: 'REQUEST_OBJECT_REQUIRED' },
    ],
    [
      'with a key that the provider does not take',
      { requestObject: () => ({ key }) },
      { request_object_signing_alg_values_supported: ['PS256'] },
      { message: expect.stringContaining('requestObject signs with ES256, but the provider takes none') },
    ],
  ])(
    '%s, a login is a configuration error that says so',
    async (_, { requestObject }: Changes, change, expected) => {
      const stop = world.provider.rewrite('discovery', (json) => ({ ...json, ...change }))
      const options = requestObject ? { requestObject: requestObject() } : {}
      const own = world.another({ ...options, [customFetch]: (...given) => fetch(...given) })
      const error = await rejectionOf(own.client.startInteractiveLogin({}, own.browser.request('/')))
      stop()
      expect(error).toMatchObject({ code: 'INVALID_CONFIGURATION', ...expected })
    },
  )
})

describe('signed backchannel authentication requests (CIBA section 7.1.1)', () => {
  test('have no parameter outside of the request object', async () => {
    const { client: idp } = world.another(client)
    await idp.getTokenByBackchannelAuth({ bindingMessage: 'Order 42', loginHint: { sub: 'dev|alice' } })
    const [{ body = {} } = {}] = world.provider.requests('backchannelAuthentication')
    expect(body).toEqual({ client_id: REGISTERED, request: expect.any(String) })
    const { exp = 0, nbf = 0, ...claims } = decodeJwt(body['request'] ?? '')
    expect(exp - nbf).toBe(60)
    expect(claims).toEqual({
      iss: REGISTERED,
      aud: world.provider.issuer,
      iat: nbf,
      jti: expect.any(String),
      scope,
      binding_message: 'Order 42',
      requested_expiry: '300',
      login_hint: JSON.stringify({ format: 'iss_sub', iss: world.provider.issuer, sub: 'dev|alice' }),
    })
  })

  test('with a key that the provider does not take for them, are a configuration error that says so', async () => {
    const stop = world.provider.rewrite('discovery', (json) => ({
      ...json,
      backchannel_authentication_request_signing_alg_values_supported: ['PS256'],
    }))
    const own = world.another({ ...client, [customFetch]: (...given) => fetch(...given) })
    const request = { bindingMessage: 'Order 42', loginHint: { sub: 'dev|alice' } }
    const error = await rejectionOf(own.client.getTokenByBackchannelAuth(request))
    stop()
    expect(error).toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringContaining('backchannel_authentication_request_signing_alg_values_supported'),
    })
  })
})
