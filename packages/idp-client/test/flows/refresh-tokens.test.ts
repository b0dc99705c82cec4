import { calculateJwkThumbprint, decodeJwt, exportJWK } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, RefreshTokensOptions, TokenSet } from '../../src/index.ts'
import { customFetch, generateDpopKeyPair } from '../../src/index.ts'
import { defined } from '../../src/lib/objects.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { holding } from '../support/holding.ts'
import { rejectionOf } from '../support/provider-engine.ts'
import { withoutWaiting } from '../support/timers.ts'

const API = 'https://api.example.test/'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  const { provider, events } = world
  Object.assign(provider.settings, { cibaAutoApprove: true, cibaInterval: 0.01, rotateRefreshTokens: true })
  provider.faults.clear()
  provider.clearRequests()
  events.length = 0
})

/** A client, and the tokens that a user approved on another device. */
async function approved(options: IdpClientOptions = {}) {
  const { client } = world.another(options)
  const { tokenSet } = await client.getTokenByBackchannelAuth({
    bindingMessage: 'Order 42',
    loginHint: { sub: 'dev|alice' },
  })
  const { refreshToken } = tokenSet
  if (refreshToken === undefined) throw new Error('there is no refresh token')
  world.provider.clearRequests()
  return { client, tokenSet, refreshToken }
}

/** The same token, next time: the new one of a result. */
const next = ({ refreshToken = '' }: TokenSet): RefreshTokensOptions => ({ refreshToken })

describe('refreshTokens', () => {
  test('returns new tokens and the claims of their ID token, and sends only what was given', async () => {
    const { client, refreshToken, tokenSet: before } = await approved()
    const { idTokenClaims, tokenSet } = await client.refreshTokens({ refreshToken })
    expect(tokenSet).toEqual({
      accessToken: expect.any(String),
      expiresAt: expect.any(Number),
      idToken: expect.any(String),
      refreshToken: expect.any(String),
      scope: expect.stringContaining('openid'),
      token_type: 'Bearer',
    })
    expect(tokenSet.accessToken).not.toBe(before.accessToken)
    expect(tokenSet.refreshToken).not.toBe(refreshToken)
    expect(idTokenClaims).toMatchObject({ sub: 'dev|alice', iss: world.provider.issuer })
    expect(world.refreshes().map(({ body }) => Object.keys(body).sort())).toEqual([
      ['grant_type', 'refresh_token'],
    ])
    await client.refreshTokens(next(tokenSet))
    expect(world.refreshes()).toHaveLength(2)
  })

  test('fifty concurrent calls share one request; the used token gets the result for a minute', async () => {
    const { client, refreshToken } = await approved()
    const results = await Promise.all(
      Array.from({ length: 50 }, () => client.refreshTokens({ refreshToken })),
    )
    expect(new Set(results.map(({ tokenSet }) => JSON.stringify(tokenSet))).size).toBe(1)
    const [first] = results
    world.clock.now += 59
    const later = await client.refreshTokens({ refreshToken })
    expect(later).toEqual(first)
    expect(later.tokenSet).not.toBe(first?.tokenSet)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('a call for another audience redeems the successor, and neither loses a rotated token', async () => {
    const { client, refreshToken } = await approved()
    const [plain, forApi] = await Promise.all([
      client.refreshTokens({ refreshToken }),
      client.refreshTokens({ refreshToken, audience: API, scope: 'openid read:things' }),
    ])
    expect(forApi.tokenSet).toMatchObject({ audience: API, requestedScope: 'openid read:things' })
    expect(forApi.tokenSet.accessToken).not.toBe(plain.tokenSet.accessToken)
    const [one, two] = world.refreshes()
    expect(one?.body['refresh_token']).toBe(refreshToken)
    expect(two?.body['refresh_token']).toBe(plain.tokenSet.refreshToken)
    await client.refreshTokens(next(forApi.tokenSet))
    expect(world.refreshes().map(({ status }) => status)).toEqual([200, 200, 200])
  })

  test('returns the same refresh token if the provider does not replace it, and then always sends a request', async () => {
    world.provider.settings.rotateRefreshTokens = false
    const { client, refreshToken } = await approved()
    for (let time = 1; time <= 2; time++) {
      expect((await client.refreshTokens({ refreshToken })).tokenSet.refreshToken).toBe(refreshToken)
      expect(world.refreshes()).toHaveLength(time)
    }
  })

  test('a late response times out for its call, and returns its tokens to the next one', async () => {
    const held = holding()
    const { client, refreshToken } = await approved({ [customFetch]: held.fetch })
    const late = await withoutWaiting(
      () => rejectionOf(client.refreshTokens({ refreshToken })),
      held.responded,
    )
    expect(late).toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN', cause: { code: 'REQUEST_TIMEOUT' } })
    held.release()
    const { tokenSet } = await client.refreshTokens({ refreshToken })
    expect(world.refreshes()).toHaveLength(1)
    await client.refreshTokens(next(tokenSet))
  })

  test('a session of the same user is neither read nor written', async () => {
    const { client, refreshToken } = await approved()
    const { browser } = world.another()
    await world.login(browser)
    const before = await browser.session()
    await client.refreshTokens({ refreshToken })
    expect(await browser.session()).toEqual(before)
    expect(world.events.filter(({ code }) => code === 'SESSION_SAVED')).toHaveLength(1)
  })

  test('tokens may be bound by DPoP', async () => {
    const { client, refreshToken } = await approved({
      useDPoP: true,
      dpopKeyPair: await generateDpopKeyPair(),
    })
    expect((await client.refreshTokens({ refreshToken })).tokenSet.token_type).toBe('DPoP')
  })
})

describe('refreshTokens of clients with different bindings', () => {
  const audience = 'https://api.things.test/'
  const ofApi = { apis: [{ audience, scopes: ['read:things'] }] }
  let strict: World
  beforeAll(async () => {
    strict = await startWorld(
      {},
      { ...ofApi, cibaAutoApprove: true, cibaInterval: 0.01, rotateRefreshTokens: true },
    )
  })
  afterAll(() => strict.provider.stop())

  async function approvedRefreshToken(): Promise<string> {
    const request = { bindingMessage: 'Order 42', loginHint: { sub: 'dev|alice' } }
    const { tokenSet } = await strict.client.getTokenByBackchannelAuth(request)
    return tokenSet.refreshToken ?? ''
  }

  test('binds the tokens of each call to the key of its client', async () => {
    const pairs = [await generateDpopKeyPair(), await generateDpopKeyPair()]
    const bound = pairs.map((dpopKeyPair) => strict.another({ useDPoP: true, dpopKeyPair }).client)
    const refreshToken = await approvedRefreshToken()
    const jkts: unknown[] = []
    const clients = [...bound, strict.client]
    for (const client of [...clients, ...clients]) {
      const { tokenSet } = await client.refreshTokens({ refreshToken, audience })
      const cnf = decodeJwt(tokenSet.accessToken)['cnf']
      expect(tokenSet.token_type).toBe(cnf ? 'DPoP' : 'Bearer')
      jkts.push(cnf)
    }
    expect(jkts.slice(0, 2)).toEqual(
      await Promise.all(
        pairs.map(async ({ publicKey }) => ({
          jkt: await calculateJwkThumbprint(await exportJWK(publicKey)),
        })),
      ),
    )
    expect(jkts[2]).toBeUndefined()
    expect(strict.refreshes().map(({ status }) => status)).not.toContain(400)
  })

  test('does not return an unbound token to a client that demands bound ones', async () => {
    const certificate: IdpClientOptions = {
      clientSecret: undefined,
      clientCertificate: true,
      certificateBoundAccessTokens: true,
      [customFetch]: fetch,
    }
    const { client } = strict.another(certificate)
    const refreshToken = await approvedRefreshToken()
    await strict.client.refreshTokens({ refreshToken, audience })
    expect(await rejectionOf(client.refreshTokens({ refreshToken, audience }))).toMatchObject({
      code: 'FAILED_TO_REFRESH_TOKEN',
    })
  })
})

describe.each([
  ['cookies', undefined],
  ['a store', memoryStore({ name: 'refresh-tokens' })],
])('refreshTokens with the refresh token of a session in %s', (_title, sessionStore) => {
  async function loggedIn(options: IdpClientOptions = {}) {
    const { browser, client } = world.another({ ...defined({ sessionStore }), ...options })
    await world.login(browser)
    const { refreshToken = '' } = (await browser.session()).tokenSet
    world.clock.now += 7200
    world.provider.clearRequests()
    return { browser, client, refreshToken }
  }
  const refused = {
    code: 'INVALID_ARGUMENTS',
    message: expect.stringContaining('call getAccessToken'),
  }
  const token = async (browser: World['browser']): Promise<number> =>
    (await browser.send('/auth/access-token')).status
  const statuses = (): unknown[] => world.refreshes().map(({ status }) => status)

  test('is refused while the session redeems it, and afterwards', async () => {
    const held = holding()
    const { browser, client, refreshToken } = await loggedIn({ [customFetch]: held.fetch })
    const refreshing = token(browser)
    await held.responded
    expect(await rejectionOf(client.refreshTokens({ refreshToken }))).toMatchObject(refused)
    held.release()
    expect(await refreshing).toBe(200)
    const successor = (await browser.session()).tokenSet.refreshToken ?? ''
    for (const used of [refreshToken, successor])
      expect(await rejectionOf(client.refreshTokens({ refreshToken: used }))).toMatchObject(refused)
    world.clock.now += 7200
    expect(await token(browser)).toBe(200)
    expect(statuses()).toEqual([200, 200])
  })

  test('leaves the session its successor, if it comes first', async () => {
    const held = holding()
    const { browser, client, refreshToken } = await loggedIn({ [customFetch]: held.fetch })
    const misused = client.refreshTokens({ refreshToken })
    await held.responded
    const refreshing = token(browser)
    held.release()
    const { tokenSet } = await misused
    expect(await refreshing).toBe(200)
    expect(world.refreshes().map(({ body }) => body['refresh_token'])).toEqual([
      refreshToken,
      tokenSet.refreshToken,
    ])
    for (const used of [refreshToken, tokenSet.refreshToken ?? ''])
      expect(await rejectionOf(client.refreshTokens({ refreshToken: used }))).toMatchObject(refused)
    world.clock.now += 7200
    expect(await token(browser)).toBe(200)
    expect(statuses()).toEqual([200, 200, 200])
  })

  test('leaves the session its successor after a refresh that failed, too', async () => {
    const { browser, client, refreshToken } = await loggedIn()
    const { tokenSet } = await client.refreshTokens({ refreshToken })
    await world.provider.faults.down()
    expect(await token(browser)).toBe(502)
    world.provider.faults.up()
    expect(await rejectionOf(client.refreshTokens(next(tokenSet)))).toMatchObject(refused)
    expect(await token(browser)).toBe(200)
    world.clock.now += 7200
    expect(await token(browser)).toBe(200)
  })
})

describe('refreshTokens fails', () => {
  test.each([
    [{}, 'MISSING_REFRESH_TOKEN'],
    [{ refreshToken: ' ' }, 'MISSING_REFRESH_TOKEN'],
    [{ refreshToken: 7 }, 'MISSING_REFRESH_TOKEN'],
    [undefined, 'MISSING_REFRESH_TOKEN'],
    [{ refreshToken: 'r', scope: '' }, 'INVALID_ARGUMENTS'],
    [{ refreshToken: 'r', scope: ['a'] }, 'INVALID_ARGUMENTS'],
    [{ refreshToken: 'r', audience: ' ' }, 'INVALID_ARGUMENTS'],
  ])('with the options %j, before any request', async (options, code) => {
    expect(await rejectionOf(world.client.refreshTokens(options as never))).toMatchObject({ code })
    expect(world.provider.count('token')).toBe(0)
  })

  test('with an expired token: the cause names the error of the provider, and no error contains the token', async () => {
    const { client, refreshToken } = await approved()
    world.clock.now += 15 * 86_400
    const error = await rejectionOf(client.refreshTokens({ refreshToken }))
    expect(error).toMatchObject({
      name: 'AccessTokenError',
      code: 'FAILED_TO_REFRESH_TOKEN',
      cause: { error: 'invalid_grant' },
    })
    expect(`${JSON.stringify(world.events)} ${error.stack} ${String(error.cause)}`).not.toContain(
      refreshToken,
    )
  })

  test('while the provider is down, and works afterwards with the same token', async () => {
    const { client, refreshToken } = await approved()
    await world.provider.faults.down()
    const error = await rejectionOf(client.refreshTokens({ refreshToken }))
    world.provider.faults.up()
    expect(error).toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN', cause: { transient: true } })
    expect((await client.refreshTokens({ refreshToken })).tokenSet.accessToken).toEqual(expect.any(String))
  })

  test('when the ID token is forged: nothing of the response is used', async () => {
    const { client, refreshToken } = await approved()
    const stop = world.provider.tamperIdToken((claims) => {
      claims.aud = 'another-client'
    })
    const error = await rejectionOf(client.refreshTokens({ refreshToken }))
    stop()
    expect(error).toMatchObject({ code: 'FAILED_TO_REFRESH_TOKEN', cause: { code: 'ID_TOKEN_INVALID' } })
  })

  test('not when the ID token has expired: it is left out, and the rotated tokens are returned', async () => {
    const { client, refreshToken } = await approved()
    const stop = world.provider.tamperIdToken((claims) => {
      claims.exp = Number(claims.iat) - 1000
      claims.iat = Number(claims.iat) - 2000
    })
    const { idTokenClaims, tokenSet } = await client.refreshTokens({ refreshToken })
    stop()
    expect([idTokenClaims, tokenSet.idToken]).toEqual([undefined, undefined])
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'REFRESHED_ID_TOKEN_IGNORED', reason: 'time' }),
    )
    await client.refreshTokens(next(tokenSet))
  })

  test('with MfaRequiredError when the provider requires another factor', async () => {
    const { client, refreshToken } = await approved()
    const audience = 'https://bank.example.test/'
    const error = await rejectionOf(client.refreshTokens({ refreshToken, audience, scope: 'transfer:money' }))
    expect(error).toMatchObject({ name: 'MfaRequiredError', mfa_token: expect.any(String) })
  })
})
