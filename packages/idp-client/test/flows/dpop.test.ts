import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader, EmbeddedJWK, jwtVerify } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { generateDpopKeyPair } from '../../src/crypto/keys.ts'
import type { DpopKeyPair, IdpClientOptions } from '../../src/index.ts'
import { revokeToken } from '../../src/oidc/end-session.ts'
import { getProvider } from '../../src/oidc/provider.ts'
import { exchangeTokens } from '../../src/oidc/token-endpoint.ts'
import { requestConnectionToken } from '../../src/oidc/vendor/connection-token.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { rejectionOf, startRealm } from '../support/provider-engine.ts'

const API = 'https://api.example.test/'
const TTL = 600

let pair: DpopKeyPair
let world: World
beforeAll(async () => {
  pair = await generateDpopKeyPair()
  world = await startWorld(
    { useDPoP: true, dpopKeyPair: pair, dpopOptions: { retry: { delay: 1 } } },
    { requireDpop: true, accessTokenTtl: TTL },
  )
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.settings.dpopNonces = false
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
})
afterEach(() => vi.unstubAllEnvs())

const proofsAt = (endpoint: 'token' | 'par'): string[] =>
  world.provider.requests(endpoint).map(({ headers }) => String(headers['dpop']))

const thumbprintOf = async (publicKey: CryptoKey) =>
  calculateJwkThumbprint((await crypto.subtle.exportKey('jwk', publicKey)) as { kty: 'EC' })

async function metadata(): Promise<{ token_endpoint: string }> {
  const response = await fetch(`${world.provider.issuer}/.well-known/openid-configuration`)
  return (await response.json()) as { token_endpoint: string }
}

/** A client with nothing remembered: its own fetch, its own configuration. */
const anew = (changes: IdpClientOptions = {}) => world.another(changes)

describe('proofs at the authorization server', () => {
  test('[S069,S104,S234,S236] code exchange and refresh have a proof of the key pair; tokens are bound', async () => {
    const { browser, client } = anew({
      authorizationParameters: { audience: API, scope: 'openid offline_access' },
    })
    const url = await world.begin(browser)
    const jkt = await thumbprintOf(pair.publicKey)
    expect(new URL(url).searchParams.get('dpop_jkt')).toBe(jkt)
    await browser.send(await world.authorize(url))
    const token = await client.getAccessToken(browser.request('/'), new Headers(), { refresh: true })
    expect(token.token_type).toBe('DPoP')
    expect(decodeJwt(token.token)).toMatchObject({ aud: API, cnf: { jkt } })
    const proofs = proofsAt('token')
    expect(proofs).toHaveLength(2)
    for (const proof of proofs) {
      const { alg, jwk, typ } = decodeProtectedHeader(proof)
      expect({ alg, typ }).toEqual({ alg: 'ES256', typ: 'dpop+jwt' })
      expect(Object.keys(jwk ?? {}).sort()).toEqual(['crv', 'kty', 'x', 'y'])
      const { payload } = await jwtVerify(proof, EmbeddedJWK)
      expect(payload).toMatchObject({
        jti: expect.stringMatching(/.{20,}/),
        htm: 'POST',
        htu: (await metadata()).token_endpoint,
        iat: world.clock.now,
      })
      expect(payload).not.toHaveProperty('ath')
      expect(await calculateJwkThumbprint(jwk ?? { kty: 'EC' })).toBe(jkt)
    }
  })

  test('[S068] are not sent by default: no proof, no dpop_jkt', async () => {
    const plain = await startWorld()
    const url = await plain.begin(plain.browser)
    await plain.browser.send(await plain.authorize(url))
    expect(new URL(url).searchParams.has('dpop_jkt')).toBe(false)
    expect(plain.provider.requests('token')[0]?.headers).not.toHaveProperty('dpop')
    await plain.provider.stop()
  })

  test('[S070] use keys of the variables, with escaped line breaks', async () => {
    const pems = generateKeyPairSync('ec', {
      namedCurve: 'P-256',
      publicKeyEncoding: { type: 'spki', format: 'pem' },
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    })
    vi.stubEnv('IDP_DPOP_PUBLIC_KEY', pems.publicKey)
    vi.stubEnv('IDP_DPOP_PRIVATE_KEY', pems.privateKey.replaceAll('\n', '\\n'))
    const { browser } = anew({ dpopKeyPair: undefined })
    expect((await world.login(browser)).status).toBe(302)
    const [proof = ''] = proofsAt('token')
    expect(createPublicKey(pems.publicKey).export({ format: 'jwk' })).toMatchObject(
      decodeProtectedHeader(proof).jwk ?? {},
    )
    expect(decodeProtectedHeader(proof).jwk).toHaveProperty('x')
  })

  test('are also sent with a pushed request, and again with a nonce', async () => {
    world.provider.settings.dpopNonces = true
    const { browser } = anew({ pushedAuthorizationRequests: true })
    expect((await world.login(browser)).status).toBe(302)
    const pushed = world.provider.requests('par')
    expect(pushed.map(({ status }) => status)).toEqual([400, 201])
    expect(pushed[1]?.body).toEqual({ ...pushed[0]?.body })
    expect(pushed[1]?.body['dpop_jkt']).toBe(await thumbprintOf(pair.publicKey))
    expect(world.provider.requests('token').map(({ status }) => status)).toEqual([200])
  })
})

describe('nonces', () => {
  test('[S237] one challenge gets one retry, the nonce is used from then on, every proof is new', async () => {
    world.provider.settings.dpopNonces = true
    const { browser, client } = anew()
    await world.login(browser)
    await client.getAccessToken(browser.request('/'), new Headers(), { refresh: true })
    await world.login(browser)
    expect(world.provider.requests('token').map(({ status }) => status)).toEqual([400, 200, 200, 200])
    const claims = proofsAt('token').map((proof) => decodeJwt(proof))
    expect(claims.map(({ nonce }) => nonce === undefined)).toEqual([true, false, false, false])
    expect(new Set(claims.map(({ jti }) => jti)).size).toBe(4)
    const [first, second] = world.provider.requests('token')
    expect(second?.body).toEqual(first?.body)
  })

  test('a nonce in a successful response is used next time', async () => {
    world.provider.settings.dpopNonces = true
    const { browser } = anew()
    await world.login(browser)
    const remembered = decodeJwt(proofsAt('token').at(-1) ?? '')['nonce']
    world.provider.faults.set(
      'token',
      {
        kind: 'respond',
        status: 400,
        body: '{"error":"invalid_grant"}',
        headers: { 'content-type': 'application/json', 'dpop-nonce': 'the-next-one' },
      },
      { times: 1 },
    )
    await world.login(browser)
    world.provider.settings.dpopNonces = false
    world.provider.faults.set('token', { kind: 'respond', status: 500 }, { times: 1 })
    await world.login(browser)
    const nonces = proofsAt('token').map((proof) => decodeJwt(proof)['nonce'])
    expect(nonces.slice(-2)).toEqual([remembered, 'the-next-one'])
  })

  test.each([
    ['with a nonce each time', { 'dpop-nonce': 'n' }],
    ['without any nonce', {}],
  ])('endless challenges %s end in a typed error after one retry', async (_how, headers) => {
    const { browser } = anew()
    const url = await world.begin(browser)
    world.provider.faults.set('token', {
      kind: 'respond',
      status: 400,
      body: '{"error":"use_dpop_nonce"}',
      headers: { 'content-type': 'application/json', ...headers },
    })
    const errors: unknown[] = []
    const other = anew({ onCallback: ({ error }) => void errors.push(error) })
    expect((await browser.send(await world.authorize(url))).status).toBe(502)
    expect(world.provider.count('token')).toBe(2)
    await world.login(other.browser)
    expect(errors).toMatchObject([
      { code: 'AUTHORIZATION_CODE_GRANT_ERROR', cause: { error: 'use_dpop_nonce', providerStatus: 400 } },
    ])
  })

  test.each([
    [{ delay: 7, jitter: false }, [7, 7]],
    [{ delay: 40, jitter: true }, [20, 40]],
    [{ delay: 0 }, [0, 0]],
  ])('[S109,S111] the delay before the retry is that of %j', async (retry, [least = 0, most = 0]) => {
    world.provider.settings.dpopNonces = true
    const { browser } = anew({ dpopOptions: { retry } })
    const callback = await world.authorize(await world.begin(browser))
    const timer = vi.spyOn(globalThis, 'setTimeout')
    await browser.send(callback)
    // One timer waits, the others bound requests by httpTimeout.
    const waits = timer.mock.calls.flatMap(([, milliseconds]) =>
      milliseconds !== undefined && milliseconds <= 40 ? [milliseconds] : [],
    )
    timer.mockRestore()
    expect(waits).toHaveLength(1)
    expect(waits[0]).toBeGreaterThanOrEqual(least)
    expect(waits[0]).toBeLessThanOrEqual(most)
  })

  test('[S110,S112] variables set the delay', async () => {
    vi.stubEnv('IDP_RETRY_DELAY', '9')
    vi.stubEnv('IDP_RETRY_JITTER', 'false')
    world.provider.settings.dpopNonces = true
    const { browser } = anew({ dpopOptions: undefined })
    const callback = await world.authorize(await world.begin(browser))
    const timer = vi.spyOn(globalThis, 'setTimeout')
    await browser.send(callback)
    const waits = timer.mock.calls.map(([, milliseconds]) => milliseconds)
    timer.mockRestore()
    expect(waits).toContain(9)
  })
})

describe('rejected configurations and tokens', () => {
  test('a Bearer token although tokens must be bound creates no session', async () => {
    const errors: unknown[] = []
    const { browser } = anew({ onCallback: ({ error }) => void errors.push(error) })
    const stop = world.provider.rewrite('token', (json) => ({ ...json, token_type: 'Bearer' }))
    const response = await world.login(browser)
    stop()
    expect(response.status).toBe(502)
    expect(browser.names('__session')).toEqual([])
    expect(errors).toMatchObject([
      {
        code: 'AUTHORIZATION_CODE_GRANT_ERROR',
        cause: { code: 'RESPONSE_INVALID', message: expect.stringMatching(/Bearer, although useDPoP/) },
      },
    ])
  })

  test('keys of two pairs are a typed error at the first use, and nothing is sent', async () => {
    const { privateKey } = await generateDpopKeyPair()
    const { browser, client } = anew({ dpopKeyPair: { publicKey: pair.publicKey, privateKey } })
    expect((await browser.send('/auth/login')).status).toBe(500)
    expect(await rejectionOf(client.startInteractiveLogin({}, browser.request('/')))).toMatchObject({
      name: 'InvalidConfigurationError',
      message: expect.stringMatching(/dpopKeyPair are not one pair/),
    })
    expect(browser.cookies.size).toBe(0)
    expect(world.provider.count('token')).toBe(0)
  })

  test('missing keys are a warning at construction, then every use throws', async () => {
    world.events.length = 0
    const { browser, client } = anew({ dpopKeyPair: undefined })
    expect(world.events).toMatchObject([
      { code: 'CONFIGURATION', message: expect.stringMatching(/IDP_DPOP_PUBLIC_KEY/) },
    ])
    await expect(async () => client.getSession(browser.request('/'))).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
    })
    expect((await browser.send('/auth/login')).status).toBe(500)
  })

  test.each([
    ['a P-384 pair', { name: 'ECDSA', namedCurve: 'P-384' }],
    [
      'an RSA pair',
      { name: 'RSA-PSS', hash: 'SHA-256', modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) },
    ],
  ])('%s as option: the constructor throws', async (_what, algorithm) => {
    const wrong = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
    expect(() => anew({ dpopKeyPair: wrong as CryptoKeyPair })).toThrow(/dpopKeyPair.*ES256/)
  })
})

describe('clocks', () => {
  /** A provider whose clock is ahead, and a client on real time. */
  async function ahead(seconds: number, dpopOptions: IdpClientOptions['dpopOptions']) {
    const other = await startWorld({ useDPoP: true, dpopKeyPair: pair, dpopOptions }, { requireDpop: true })
    other.provider.clock.advance(seconds)
    const response = await other.login(other.browser)
    const requests = other.provider.requests('token')
    const errors = other.events.map((event) => ('error' in event ? event.error : undefined))
    await other.provider.stop()
    return {
      login: response.status,
      errors,
      now: other.clock.now,
      statuses: requests.map(({ status }) => status),
      times: requests.map(({ headers }) => decodeJwt(String(headers['dpop'])).iat),
    }
  }

  test('[S107] clockSkew changes the time of proofs and of the checks', async () => {
    const { login, now, statuses, times } = await ahead(1000, { clockSkew: 1000 })
    expect(login).toBe(302)
    expect(statuses).toEqual([200])
    expect(times).toEqual([now + 1000])
  })

  test('clockTolerance changes the checks only: the proof is not recent, a nonce helps', async () => {
    const { login, now, statuses, times } = await ahead(1000, { clockTolerance: 2000 })
    expect(login).toBe(302)
    expect(statuses).toEqual([400, 200])
    expect(times).toEqual([now, now])
  })

  test('[S107] without them an ID token of the future is rejected', async () => {
    const { errors, login, statuses } = await ahead(1000, {})
    expect(login).toBe(502)
    expect(statuses).toEqual([400, 200])
    expect(errors).toContain('ID_TOKEN_INVALID')
  })

  test.each([
    [undefined, 302, 502],
    [10, 502, 502],
    [300, 302, 302],
  ])(
    '[S105] clockTolerance %s for ID tokens that expired 30 and 200 seconds ago',
    async (clockTolerance, half, three) => {
      const statuses: number[] = []
      for (const seconds of [30, 200]) {
        const stop = world.provider.tamperIdToken((claims) => {
          claims['exp'] = world.clock.now - seconds
        })
        const { browser } = anew({ dpopOptions: { clockTolerance } })
        statuses.push((await world.login(browser)).status)
        stop()
      }
      expect(statuses).toEqual([half, three])
    },
  )
})

test('[S234] token exchange sends a proof; its token is bound too', async () => {
  const realm = await startRealm({ requireDpop: true, dpopNonces: true })
  const provider = getProvider(realm.engine({ useDPoP: true, dpopKeyPair: pair }).config)
  const grant = await exchangeTokens(provider, [
    ['subject_token', 'alice'],
    ['subject_token_type', 'urn:example:user-name'],
    ['audience', API],
    ['scope', 'read:things'],
  ])
  expect(grant.tokenType).toBe('DPoP')
  expect(decodeJwt(grant.accessToken)['cnf']).toEqual({ jkt: await thumbprintOf(pair.publicKey) })
  await realm.provider.stop()
})

test('a connection token is requested with a proof, but may be a Bearer token of another provider', async () => {
  const realm = await startRealm()
  const provider = getProvider(realm.engine({ useDPoP: true, dpopKeyPair: pair }).config)
  const { refreshToken = '' } = await exchangeTokens(provider, [
    ['subject_token', 'alice'],
    ['subject_token_type', 'urn:example:user-name'],
    ['scope', 'openid offline_access'],
  ])
  const grant = await requestConnectionToken(provider, {
    connection: 'github',
    subjectToken: refreshToken,
    subjectTokenType: 'urn:ietf:params:oauth:token-type:refresh_token',
    loginHint: 'alice@github.example',
  })
  expect(grant).toMatchObject({ tokenType: 'Bearer', scope: 'upstream:read' })
  const sent = realm.provider.requests('token').at(-1)
  expect(sent?.headers['dpop']).toBeTruthy()
  expect(sent?.body).toMatchObject({ connection: 'github', login_hint: 'alice@github.example' })
  expect(await revokeToken(provider, refreshToken)).toBe(true)
  expect(realm.provider.requests('revocation')[0]?.headers).not.toHaveProperty('dpop')
  await realm.provider.stop()
})

test('[S029,S037,S237] a login with the FAPI 2.0 profile: PAR, signed assertions, DPoP with nonces, ES256', async () => {
  const strict = await startWorld({}, { dpopNonces: true, accessTokenTtl: TTL })
  const { clientId, privateKey } = await strict.provider.addClient({
    tokenEndpointAuthMethod: 'private_key_jwt',
    idTokenSigningAlg: 'ES256',
    requirePar: true,
    requireDpop: true,
    apps: [APP],
  })
  const { browser, client } = strict.another({
    clientId,
    clientSecret: undefined,
    clientAssertionSigningKey: privateKey ?? '',
    clientAssertionSigningAlg: 'ES256',
    pushedAuthorizationRequests: true,
    useDPoP: true,
    dpopKeyPair: pair,
    dpopOptions: { retry: { delay: 1 } },
    fetchUserInfo: true,
  })
  const url = await strict.begin(browser)
  expect([...new URL(url).searchParams.keys()]).toEqual(['client_id', 'request_uri'])
  expect((await browser.send(await strict.authorize(url))).status).toBe(302)
  const session = await client.getSession(browser.request('/'))
  expect(session?.tokenSet.token_type).toBe('DPoP')
  expect(decodeProtectedHeader(session?.tokenSet.idToken ?? '').alg).toBe('ES256')
  expect(session?.user).toMatchObject({ sub: 'dev|alice', email: expect.any(String) })
  strict.clock.now += TTL + 1
  const token = await client.getAccessToken(browser.request('/'), new Headers())
  expect(token).toMatchObject({ token_type: 'DPoP', expiresAt: strict.clock.now + TTL })
  expect(token.token).not.toBe(session?.tokenSet.accessToken)
  const asked = [...strict.provider.requests('par'), ...strict.provider.requests('token')]
  // The nonce of the login is out of date by the time of the refresh.
  expect(asked.map(({ status }) => status)).toEqual([400, 201, 200, 400, 200])
  for (const { body } of asked) expect(body['client_assertion']).toBeTruthy()
  await strict.provider.stop()
})
