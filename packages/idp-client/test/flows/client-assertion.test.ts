import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import type { JWK } from 'jose'
import { decodeProtectedHeader, importPKCS8, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { authenticateByBackchannel } from '../../src/oidc/ciba.ts'
import { revokeToken } from '../../src/oidc/end-session.ts'
import { getProvider } from '../../src/oidc/provider.ts'
import { exchangeTokens, refreshTokens } from '../../src/oidc/token-endpoint.ts'
import { requestConnectionToken } from '../../src/oidc/vendor/connection-token.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import type { Realm } from '../support/provider-engine.ts'
import { rejectionOf, startRealm } from '../support/provider-engine.ts'

let world: World
beforeAll(async () => {
  world = await startWorld({ pushedAuthorizationRequests: true })
})
afterAll(() => world.provider.stop())
beforeEach(() => world.provider.clearRequests())
afterEach(() => vi.unstubAllEnvs())

const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'

type Bodies = readonly { readonly headers: object; readonly body: Readonly<Record<string, unknown>> }[]

/** The client assertions of the requests, verified with the public key. */
async function assertionsOf(requests: Bodies, pem: string, issuer: string, clientId: string) {
  const publicKey = createPublicKey(createPrivateKey(pem))
  const ids = new Set<string>()
  for (const { body, headers } of requests) {
    expect(headers).not.toHaveProperty('authorization')
    expect(body).not.toHaveProperty('client_secret')
    expect(body['client_assertion_type']).toBe(ASSERTION_TYPE)
    const assertion = String(body['client_assertion'])
    const { payload } = await jwtVerify(assertion, publicKey, { algorithms: ['ES256'] })
    expect(payload).toMatchObject({ aud: issuer, iss: clientId, sub: clientId })
    expect((payload.exp ?? Number.POSITIVE_INFINITY) - (payload.iat ?? 0)).toBeLessThanOrEqual(300)
    ids.add(String(payload.jti))
  }
  expect(ids.size).toBe(requests.length)
}

describe('a client that authenticates with a signed assertion', () => {
  test('[S029,S033,S230] PEM text signs PAR and code exchange', async () => {
    const { clientId, privateKey } = world.provider.keyClient
    const { browser } = world.another({
      clientId,
      clientSecret: undefined,
      clientAssertionSigningKey: privateKey,
    })
    expect((await world.login(browser)).status).toBe(302)
    const requests = [...world.provider.requests('par'), ...world.provider.requests('token')]
    expect(requests).toHaveLength(2)
    await assertionsOf(requests, privateKey, world.provider.issuer, clientId)
  })

  test('[S030] a CryptoKey that is not extractable signs, and takes precedence over a secret', async () => {
    const { clientId, privateKey } = world.provider.keyClient
    const clientAssertionSigningKey = await importPKCS8(privateKey, 'ES256')
    const { browser } = world.another({ clientId, clientAssertionSigningKey })
    expect((await world.login(browser)).status).toBe(302)
    const [sent] = world.provider.requests('token')
    expect(sent?.body['client_assertion_type']).toBe(ASSERTION_TYPE)
    expect(sent?.headers).not.toHaveProperty('authorization')
  })

  test('[S031,S034] variables set PEM text with escaped line breaks, and the algorithm', async () => {
    const { clientId, privateKey } = world.provider.keyClient
    vi.stubEnv('IDP_CLIENT_ASSERTION_SIGNING_KEY', privateKey.replaceAll('\n', '\\n'))
    vi.stubEnv('IDP_CLIENT_ASSERTION_SIGNING_ALG', 'ES256')
    const { browser } = world.another({ clientId, clientSecret: undefined })
    expect((await world.login(browser)).status).toBe(302)
  })

  test('[S032] an RSA key signs with the configured algorithm', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
    const jwk = { ...rsa.publicKey.export({ format: 'jwk' }), use: 'sig' }
    const { clientId } = await world.provider.addClient({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: { keys: [jwk] },
    })
    const { browser } = world.another({
      clientId,
      clientSecret: undefined,
      clientAssertionSigningKey: rsa.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      clientAssertionSigningAlg: 'PS256',
    })
    expect((await world.login(browser)).status).toBe(302)
    const sent = String(world.provider.requests('token')[0]?.body['client_assertion'])
    expect(decodeProtectedHeader(sent).alg).toBe('PS256')
  })

  test('the configured key id selects one of several registered keys', async () => {
    const [first, second] = [1, 2].map(() => generateKeyPairSync('ec', { namedCurve: 'P-256' }))
    const keys = [first, second].map((pair, index) => ({
      ...pair?.publicKey.export({ format: 'jwk' }),
      kid: `key-${index}`,
      use: 'sig',
    }))
    const { clientId } = await world.provider.addClient({
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: { keys: keys as JWK[] },
    })
    const { browser } = world.another({
      clientId,
      clientSecret: undefined,
      clientAssertionSigningKey: second?.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      clientAssertionSigningKeyId: 'key-1',
    })
    expect((await world.login(browser)).status).toBe(302)
    const sent = String(world.provider.requests('token')[0]?.body['client_assertion'])
    expect(decodeProtectedHeader(sent).kid).toBe('key-1')
  })

  test('a key that the provider does not know ends the login with its error', async () => {
    const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const { browser, client } = world.another({
      clientId: world.provider.keyClient.clientId,
      clientAssertionSigningKey: key.export({ type: 'pkcs8', format: 'pem' }).toString(),
    })
    expect(await rejectionOf(client.startInteractiveLogin({}, browser.request('/')))).toMatchObject({
      code: 'AUTHORIZATION_REQUEST_ERROR',
      cause: { error: 'invalid_client', providerStatus: 401 },
    })
  })
})

describe('every endpoint', () => {
  let realm: Realm
  beforeAll(async () => {
    realm = await startRealm({ cibaAutoApprove: true })
  })
  afterAll(() => realm.provider.stop())

  test('refresh, connection, exchange, CIBA with its polls and revocation have the issuer as audience and a new jti each', async () => {
    const { keyClient, issuer } = realm.provider
    const options = { clientId: keyClient.clientId, clientAssertionSigningKey: keyClient.privateKey }
    const provider = getProvider(realm.engine({ ...options, clientSecret: undefined }).config)
    const exchanged = await exchangeTokens(provider, [
      ['subject_token', 'alice'],
      ['subject_token_type', 'urn:example:user-name'],
      ['scope', 'openid offline_access'],
    ])
    const refreshToken = exchanged.refreshToken ?? ''
    await requestConnectionToken(provider, {
      connection: 'github',
      subjectToken: refreshToken,
      subjectTokenType: 'urn:ietf:params:oauth:token-type:refresh_token',
    })
    const refreshed = await refreshTokens(provider, { refreshToken, subject: 'dev|alice' })
    realm.provider.faults.set(
      'token',
      { kind: 'respond', status: 400, body: '{"error":"authorization_pending"}' },
      { times: 2 },
    )
    await authenticateByBackchannel(
      provider,
      {
        parameters: new Map([['scope', 'openid']]),
        hint: { name: 'login_hint', subject: 'dev|alice' },
        bindingMessage: 'm',
        requestedExpiry: 60,
      },
      async () => {},
    )
    expect(await revokeToken(provider, refreshed.refreshToken ?? '')).toBe(true)
    const requests = realm.provider
      .requests()
      .filter(({ endpoint }) => ['token', 'backchannelAuthentication', 'revocation'].includes(endpoint))
    expect(requests).toHaveLength(8)
    await assertionsOf(requests, keyClient.privateKey, issuer, keyClient.clientId)
  })

  test('revocation invalidates the token and sends a hint; without the endpoint it returns false', async () => {
    const provider = getProvider(realm.engine().config)
    const { refreshToken = '' } = await exchangeTokens(provider, [
      ['subject_token', 'alice'],
      ['subject_token_type', 'urn:example:user-name'],
      ['scope', 'openid offline_access'],
    ])
    realm.provider.clearRequests()
    expect(await revokeToken(provider, refreshToken)).toBe(true)
    expect(realm.provider.requests('revocation')[0]).toMatchObject({
      method: 'POST',
      headers: { authorization: expect.stringMatching(/^Basic /) },
      body: { token: refreshToken, token_type_hint: 'refresh_token' },
    })
    const request = { refreshToken, subject: 'dev|alice' }
    expect(await rejectionOf(refreshTokens(provider, request))).toMatchObject({ error: 'invalid_grant' })
    realm.provider.faults.set('revocation', { kind: 'respond', status: 503 })
    expect(await rejectionOf(revokeToken(provider, refreshToken))).toMatchObject({ transient: true })
    realm.provider.faults.clear()
    const metadata = async () => {
      const { revocationEndpoint: _none, ...rest } = await provider.metadata()
      return rest
    }
    expect(await revokeToken({ ...provider, metadata }, refreshToken)).toBe(false)
  })
})
