import { inspect } from 'node:util'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { AccessTokenError } from '../../src/index.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, demandOf, keeping, startMfaWorld, TTL } from '../support/mfa.ts'
import { rejectionOf } from '../support/provider-engine.ts'

let world: MfaWorld
beforeAll(async () => {
  world = await startMfaWorld({}, { cibaAutoApprove: true, cibaInterval: 1 })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
})

const RAW = 'raw-token-of-the-provider'
const EXCHANGE = 'urn:ietf:params:oauth:token-type:access_token'

/** The next token requests are refused, whatever they ask for. */
function demandAlways(body: object = { mfa_token: RAW }): void {
  world.provider.faults.set('token', {
    kind: 'respond',
    status: 403,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ error: 'mfa_required', error_description: 'another factor', ...body }),
  })
}

describe('getAccessToken', () => {
  test('[S172,S212,S244] throws MfaRequiredError; the session and its tokens stay', async () => {
    const browser = await world.signedIn()
    const before = await world.client.getSession(browser.request('/'))
    const error = await world.demand(browser)
    expect(error).toMatchObject({
      name: 'MfaRequiredError',
      error: 'mfa_required',
      mfa_requirements: { challenge: [{ type: 'otp' }, { type: 'recovery-code' }] },
    })
    expect(error.cause).toMatchObject({ name: 'OAuthError', error: 'mfa_required', providerStatus: 403 })
    expect(error.toJSON()).toEqual({
      error: 'mfa_required',
      error_description: error.error_description,
      mfa_token: error.mfa_token,
      mfa_requirements: error.mfa_requirements,
    })
    expect(await world.client.getSession(browser.request('/'))).toEqual(before)
    expect(await world.client.getAccessToken(browser.request('/'))).toMatchObject({
      token: before?.tokenSet.accessToken,
    })
  })

  test('[S172] does not use up the refresh token: the session still refreshes', async () => {
    const browser = await world.signedIn()
    await world.demand(browser)
    const options = { refresh: true }
    const asking = keeping(browser, (request, headers) =>
      world.client.getAccessToken(request, headers, options),
    )
    expect(await asking).toMatchObject({ token: expect.any(String) })
  })

  test('throws with an empty token if the provider sent none', async () => {
    const browser = await world.signedIn()
    demandAlways({})
    const error = await world.demand(browser)
    expect(error.mfa_token).toBe('')
    expect(error.mfa_requirements).toBeUndefined()
    const verifying = world.client.mfa.verify(browser.request('/'), new Headers(), {
      mfaToken: error.mfa_token,
      otp: world.otp(),
    })
    await expect(verifying).rejects.toMatchObject({ name: 'IdpError', code: 'INVALID_REQUEST' })
  })

  test('treats a token that a header cannot contain, and invalid requirements, as missing', async () => {
    const browser = await world.signedIn()
    demandAlways({
      mfa_token: 'a\nb',
      mfa_requirements: { challenge: [{ type: 'otp' }, 7, { type: '<b>' }] },
    })
    const error = await world.demand(browser)
    expect(error.mfa_token).toBe('')
    expect(error.mfa_requirements).toEqual({ challenge: [{ type: 'otp' }] })
  })

  test('concurrent requests share the error, and each gets its own token', async () => {
    const browser = await world.signedIn()
    const errors = await Promise.all(Array.from({ length: 20 }, () => world.demand(browser)))
    expect(world.provider.count('token')).toBe(1)
    expect(new Set(errors.map(({ mfa_token }) => mfa_token)).size).toBe(20)
  })

  test('returns the valid token within the buffer', async () => {
    const { browser, client } = world.another({ tokenRefreshBuffer: TTL })
    await world.signedIn('alice', browser)
    world.pass(TTL - 10)
    demandAlways()
    const session = await client.getSession(browser.request('/'))
    expect(await client.getAccessToken(browser.request('/'))).toMatchObject({
      token: session?.tokenSet.accessToken,
    })
    world.pass(10)
    await demandOf(client.getAccessToken(browser.request('/')))
  })

  test('a forced refresh throws; other calls get the valid token', async () => {
    const browser = await world.signedIn()
    demandAlways()
    const force = { refresh: true }
    await demandOf(world.client.getAccessToken(browser.request('/'), new Headers(), force))
    const session = await world.client.getSession(browser.request('/'))
    expect(await world.client.getAccessToken(browser.request('/'))).toMatchObject({
      token: session?.tokenSet.accessToken,
    })
  })

  test('two users never get contexts of each other', async () => {
    world.provider.mfa.enrollOtp('bob')
    const people = await Promise.all([world.signedIn('alice'), world.signedIn('bob')])
    const demands = await Promise.all(people.map((browser) => world.demand(browser)))
    for (const [mine, browser] of people.entries()) {
      for (const [theirs, { mfa_token: mfaToken }] of demands.entries()) {
        const asking = world.client.mfa.getAuthenticators(browser.request('/'), { mfaToken })
        if (mine === theirs) expect(await asking).not.toEqual([])
        else await expect(asking).rejects.toMatchObject({ code: 'MFA_TOKEN_INVALID' })
      }
    }
    world.provider.mfa.reset('bob')
  })
})

describe('every other token request', () => {
  test('the access-token route responds with 403 and what the MFA routes need', async () => {
    const browser = await world.signedIn()
    const response = await browser.send(`/auth/access-token?audience=${encodeURIComponent(BANK)}`)
    expect(response.status).toBe(403)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(await response.json()).toEqual({
      error: 'mfa_required',
      error_description: expect.any(String),
      mfa_token: expect.stringMatching(/^[\w-]+\.\.[\w-]+\.[\w-]+\.[\w-]+$/),
      mfa_requirements: { challenge: [{ type: 'otp' }, { type: 'recovery-code' }] },
      code: 'MFA_REQUIRED',
    })
  })

  test('createFetcher, getUserInfo and connectAccount', async () => {
    const browser = await world.signedIn()
    const { fetchWithAuth } = await world.client.createFetcher(browser.request('/'), {
      baseUrl: 'https://bank.example.test',
    })
    await demandOf(fetchWithAuth('/transfers', { audience: BANK }))
    demandAlways()
    await demandOf(world.client.connectAccount(browser.request('/'), new Headers(), { connection: 'github' }))
    world.pass(TTL)
    await demandOf(world.client.getUserInfo(browser.request('/')))
  })

  test('getAccessTokenForConnection, also with an expired token in the session', async () => {
    const browser = await world.signedIn()
    const google = { connection: 'google-oauth2' }
    const ask = (request: Request, headers: Headers) =>
      world.client.getAccessTokenForConnection(request, headers, google)
    demandAlways({ mfa_token: RAW, mfa_requirements: { challenge: [{ type: 'otp' }] } })
    const { mfa_token: connection } = await demandOf(keeping(browser, ask))
    expect(connection).not.toBe('')
    world.provider.faults.clear()
    expect(await keeping(browser, ask)).toMatchObject({ token: expect.any(String) })
    const stored = await world.client.getSession(browser.request('/'))
    world.pass((stored?.connectionTokenSets?.[0]?.expiresAt ?? 0) - world.clock.now)
    demandAlways()
    await demandOf(keeping(browser, ask))
  })

  test('customTokenExchange and getTokenByBackchannelAuth, which belong to no session', async () => {
    const exchange = world.client.customTokenExchange({
      subjectToken: 'alice',
      subjectTokenType: 'urn:example:legacy-token',
      audience: BANK,
      scope: 'openid transfer:money',
    })
    await demandOf(exchange)
    const approve = world.client.getTokenByBackchannelAuth({
      bindingMessage: 'Transfer',
      loginHint: { sub: 'dev|alice' },
      authorizationParams: { audience: BANK },
    })
    await demandOf(approve)
  })

  test('errors without mfa_required are unchanged', async () => {
    const browser = await world.signedIn()
    world.provider.faults.set('token', { kind: 'respond', status: 503 })
    const error = await rejectionOf(
      world.client.getAccessToken(browser.request('/'), new Headers(), { audience: BANK }),
    )
    expect(error).toBeInstanceOf(AccessTokenError)
    const exchange = world.client.customTokenExchange({ subjectToken: 'x', subjectTokenType: EXCHANGE })
    await expect(exchange).rejects.toMatchObject({ code: 'EXCHANGE_FAILED' })
  })
})

test("the provider's token is in no error, event or response", async () => {
  const browser = await world.signedIn()
  demandAlways()
  const error = await world.demand(browser)
  const response = await browser.send(`/auth/access-token?audience=${encodeURIComponent(BANK)}`)
  const seen = [
    inspect(error, { depth: 9, showHidden: true }),
    JSON.stringify([error, error.cause, world.events]),
    await response.text(),
    [...response.headers].join(),
    [...browser.cookies.values()].map(({ text }) => text).join(),
  ]
  for (const text of seen) expect(text).not.toContain(RAW)
  expect(world.events.length).toBeGreaterThan(0)
})
