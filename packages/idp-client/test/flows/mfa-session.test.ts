import { inspect } from 'node:util'
import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, MfaVerifyOptions } from '../../src/index.ts'
import { customFetch, generateDpopKeyPair } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { generateSessionCookie } from '../../src/testing/session-cookie.ts'
import type { Browser } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, demandOf, keeping, startMfaWorld, TTL } from '../support/mfa.ts'
import { rejectionOf } from '../support/provider-engine.ts'

let world: MfaWorld
beforeAll(async () => {
  world = await startMfaWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
  world.provider.mfa.reset('bob')
})

afterEach(() => {
  const raw = world.provider
    .requests()
    .flatMap(({ body, json }) => [body['mfa_token'], json?.['mfa_token']])
    .filter((token) => typeof token === 'string')
  const events = inspect(world.events, { depth: 9 })
  for (const token of raw) expect(events, 'the token of the provider in an event').not.toContain(token)
})

/** The global fetch, with a function that runs between the provider's response to a verification and its arrival. */
function interrupted(during: { verification: () => Promise<void> }): typeof globalThis.fetch {
  return async (input, init) => {
    const response = await fetch(input, init)
    if (init?.body instanceof URLSearchParams && init.body.has('mfa_token')) await during.verification()
    return response
  }
}

const methods = ['getAuthenticators', 'challenge', 'enroll', 'verify'] as const

/** Calls a method in a request of the browser with options that are right but for the token. */
function call(client: IdpClient, method: (typeof methods)[number], browser: Browser, mfaToken: string) {
  return keeping(browser, (request, headers): Promise<unknown> => {
    if (method === 'getAuthenticators') return client.mfa.getAuthenticators(request, headers, { mfaToken })
    if (method === 'challenge')
      return client.mfa.challenge(request, headers, { mfaToken, challengeType: 'otp' })
    if (method === 'enroll') return client.mfa.enroll(request, headers, { mfaToken, factorType: 'otp' })
    return client.mfa.verify(request, headers, { mfaToken, otp: world.otp() })
  })
}

async function demanded(user = 'alice', made: { client: IdpClient; browser: Browser } = world.another()) {
  const { browser, client } = made
  await world.signedIn(user, browser)
  const asking = client.getAccessToken(browser.request('/'), new Headers(), { audience: BANK })
  const { mfa_token: mfaToken } = await demandOf(asking)
  world.provider.clearRequests()
  return { browser, client, mfaToken }
}

const verifying = (client: IdpClient, browser: Browser, options: MfaVerifyOptions) =>
  keeping(browser, (request, headers) => client.mfa.verify(request, headers, options))

const withoutRefreshToken = (client: IdpClient, browser: Browser) =>
  keeping(browser, async (request, headers) => {
    const session = await client.getSession(request)
    if (!session) throw new Error('no session')
    const { refreshToken: _gone, ...tokenSet } = session.tokenSet
    await client.updateSession(request, headers, { ...session, tokenSet })
  })

const bankToken = (client: IdpClient, browser: Browser) =>
  client.getAccessToken(browser.request('/'), new Headers(), { audience: BANK })

describe.each(methods)('%s throws before a request to the provider for', (method) => {
  test('[S135,S212] an expired token', async () => {
    const { browser, client, mfaToken } = await demanded('alice', world.another({ mfaTokenTtl: 10 }))
    world.pass(10)
    await expect(call(client, method, browser, mfaToken)).rejects.toMatchObject({
      name: 'MfaError',
      code: 'MFA_TOKEN_EXPIRED',
    })
    expect(world.provider.requests()).toEqual([])
  })

  test('[S212] a token that is changed, truncated, of another secret or of another kind, or missing', async () => {
    const { browser, client, mfaToken } = await demanded()
    const secret = 'fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210'
    const other = await demanded('alice', world.another({ secret }))
    const altered = `${mfaToken.slice(0, -4)}${mfaToken.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`
    const session = browser.cookies.get('__session')?.value ?? ''
    world.provider.clearRequests()
    for (const token of [altered, mfaToken.slice(0, -9), other.mfaToken, session, 'x', `${mfaToken}.`]) {
      await expect(call(client, method, browser, token)).rejects.toMatchObject({ code: 'MFA_TOKEN_INVALID' })
    }
    await expect(call(client, method, browser, '')).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect(world.provider.requests()).toEqual([])
  })

  test('[S212] a token of another user, or of an earlier login of the same user', async () => {
    const alice = await demanded()
    const bob = await world.signedIn('bob')
    const again = await world.signedIn('alice')
    for (const browser of [bob, again]) {
      const before = await world.client.getSession(browser.request('/'))
      await expect(call(world.client, method, browser, alice.mfaToken)).rejects.toMatchObject({
        code: 'MFA_TOKEN_INVALID',
      })
      expect(await world.client.getSession(browser.request('/'))).toEqual(before)
    }
    expect(world.provider.count('token')).toBe(0)
    expect(world.provider.count('mfa-authenticators')).toBe(0)
  })

  test('a request without a session: MISSING_SESSION, and never a new one', async () => {
    const { client, mfaToken } = await demanded()
    const nobody = world.newBrowser()
    await expect(call(client, method, nobody, mfaToken)).rejects.toMatchObject({
      name: 'MfaError',
      code: 'MISSING_SESSION',
    })
    expect(nobody.cookies.size).toBe(0)
    expect(world.provider.requests()).toEqual([])
  })
})

describe('the session', () => {
  test('an mfa_token is not accepted as a session', async () => {
    const { browser, mfaToken } = await demanded()
    const [cookie] = browser.cookies.values()
    const thief = world.newBrowser()
    for (const name of ['__session', '__session__0', '__txn_x']) {
      if (cookie) thief.cookies.set(name, { ...cookie, value: mfaToken })
    }
    expect(await world.client.getSession(thief.request('/'))).toBeNull()
  })

  test('is required to be writable before a request is sent', async () => {
    const { browser, client, mfaToken } = await demanded()
    const options = { mfaToken, otp: world.otp() }
    await expect(client.mfa.verify(browser.request('/'), options)).rejects.toMatchObject({
      code: 'SESSION_NOT_WRITABLE',
    })
    expect(world.provider.requests()).toEqual([])
    await expect(client.mfa.getAuthenticators(browser.request('/'), options)).resolves.not.toEqual([])
  })

  test.each([{ sub: 'dev|bob' }, { org_id: 'org_other' }, { aud: 'another-client' }])(
    'an ID token with %j rejects the whole response',
    async (change) => {
      const { browser, client, mfaToken } = await demanded()
      const before = await client.getSession(browser.request('/'))
      world.provider.tamperIdToken(
        (claims) => {
          Object.assign(claims, change)
          return undefined
        },
        { times: 1 },
      )
      await expect(verifying(client, browser, { mfaToken, otp: world.otp() })).rejects.toMatchObject({
        code: 'MFA_VERIFY_ERROR',
        cause: { code: 'ID_TOKEN_INVALID' },
      })
      expect(await client.getSession(browser.request('/'))).toEqual(before)
    },
  )

  test('without an ID token gets one, with the organization of which it knew nothing', async () => {
    const { browser, client } = world.another()
    await world.signedIn('alice', browser)
    const { tokenSet, user } = await browser.session()
    const { idToken: _absent, ...others } = tokenSet
    const { now } = world.clock
    const cookie = await generateSessionCookie({ user, tokenSet: others }, { secret: SECRET, now })
    browser.store(new Response(null, { headers: { 'set-cookie': `__session=${cookie}; Path=/` } }))
    const { mfa_token: mfaToken } = await demandOf(bankToken(client, browser))
    world.provider.tamperIdToken((claims) => void Object.assign(claims, { org_id: 'org_1' }), { times: 1 })
    await verifying(client, browser, { mfaToken, otp: world.otp() })
    expect((await browser.session()).user['org_id']).toBe('org_1')
  })

  test('beforeSessionSaved runs once, with all claims and the ID token; its exception loses no token', async () => {
    const seen: [unknown, string | undefined][] = []
    const made = world.another({
      beforeSessionSaved(session, idToken) {
        seen.push([session.user, idToken])
        if (seen.length > 1) throw new Error('a hook that fails')
        return session
      },
    })
    const { browser, client, mfaToken } = await demanded('alice', made)
    await verifying(client, browser, { mfaToken, otp: world.otp() })
    expect(seen).toHaveLength(2)
    const [login, verified] = seen
    expect(Object.keys(verified?.[0] as object)).toEqual(
      expect.arrayContaining(Object.keys(login?.[0] as object).filter((name) => name !== 'nonce')),
    )
    expect(decodeJwt(verified?.[1] ?? '')).toMatchObject({
      sub: 'dev|alice',
      amr: expect.arrayContaining(['mfa']),
    })
    expect(await bankToken(client, browser)).toMatchObject({ audience: BANK })
  })

  test('the ID token is compared with that of the login, also if a hook has replaced sub and removed the ID token', async () => {
    const made = world.another({
      beforeSessionSaved({ tokenSet: { idToken: _removed, ...tokenSet }, ...session }) {
        return { ...session, tokenSet, user: { ...session.user, sub: 'employee 7' } }
      },
    })
    const { browser, client, mfaToken } = await demanded('alice', made)
    await verifying(client, browser, { mfaToken, otp: world.otp() })
    expect(await bankToken(client, browser)).toMatchObject({ audience: BANK })
  })

  test('without a refresh token the verified one is stored anyway', async () => {
    const { browser, client, mfaToken } = await demanded()
    await withoutRefreshToken(client, browser)
    await verifying(client, browser, { mfaToken, otp: world.otp() })
    expect(await bankToken(client, browser)).toMatchObject({ audience: BANK })
  })

  test('in a store it is written there only', async () => {
    const made = world.another({ sessionStore: memoryStore({ name: 'mfa-session.test' }) })
    const { browser, client, mfaToken } = await demanded('alice', made)
    await verifying(client, browser, { mfaToken, otp: world.otp() })
    const session = await client.getSession(browser.request('/'))
    expect(session?.accessTokens).toEqual([expect.objectContaining({ audience: BANK, verified: true })])
    expect(await bankToken(client, browser)).toMatchObject({ audience: BANK })
    expect(world.provider.count('token')).toBe(1)
  })

  test('in a store, a session that was ended elsewhere: MISSING_SESSION', async () => {
    const sessionStore = memoryStore({ name: 'mfa-session-ended.test' })
    const during = { verification: async () => {} }
    const made = world.another({ sessionStore, [customFetch]: interrupted(during) })
    const { browser, client, mfaToken } = await demanded('alice', made)
    during.verification = async () => void (await client.sessions.revokeBySubject('dev|alice'))
    await expect(verifying(client, browser, { mfaToken, otp: world.otp() })).rejects.toMatchObject({
      name: 'MfaError',
      code: 'MISSING_SESSION',
    })
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })
})

describe('concurrent requests', () => {
  test('the same proof twice is verified once, and both callers get its response', async () => {
    const { browser, client, mfaToken } = await demanded()
    const recoveryCode = world.provider.mfa.recoveryCode('alice')
    const twice = [1, 2].map(() => verifying(client, browser, { mfaToken, recoveryCode }))
    const results = await Promise.all(twice)
    expect(world.provider.count('token')).toBe(1)
    expect(results).toEqual([
      { success: true, recovery_code: expect.any(String) },
      { success: true, recovery_code: expect.any(String) },
    ])
  })

  test.each([
    ['in cookies', () => ({})],
    ['in a store', () => ({ sessionStore: memoryStore({ name: 'mfa-session-twice.test' }) })],
  ])('without a refresh token, identical calls share one verification, %s', async (_where, options) => {
    const { browser, client, mfaToken } = await demanded('alice', world.another(options()))
    await withoutRefreshToken(client, browser)
    const proof = { mfaToken, otp: world.otp() }
    const verify = () => verifying(client, browser, proof)
    expect(await Promise.all([verify(), verify()])).toEqual([{ success: true }, { success: true }])
    expect(world.provider.count('token')).toBe(1)
    expect(await bankToken(client, browser)).toMatchObject({ audience: BANK })
  })

  test.each([
    ['in cookies', {}],
    ['in a store', { sessionStore: memoryStore({ name: 'mfa-session-update.test' }) }],
  ])('without a refresh token, an update of the same request stays, %s', async (_where, options) => {
    const during = { verification: async () => {} }
    const made = world.another({ ...options, [customFetch]: interrupted(during) })
    const { browser, client, mfaToken } = await demanded('alice', made)
    await withoutRefreshToken(client, browser)
    await keeping(browser, (request, headers) => {
      during.verification = async () => {
        const session = await client.getSession(request)
        if (session) await client.updateSession(request, headers, { ...session, basket: 'full' })
      }
      return client.mfa.verify(request, headers, { mfaToken, otp: world.otp() })
    })
    expect(await client.getSession(browser.request('/'))).toMatchObject({
      basket: 'full',
      accessTokens: [{ audience: BANK }],
    })
  })

  test('a wrong code beside a right one: each gets its own response', async () => {
    const { browser, client, mfaToken } = await demanded()
    const [wrong, right] = await Promise.allSettled([
      verifying(client, browser, { mfaToken, otp: 'wrong' }),
      verifying(client, browser, { mfaToken, otp: world.otp() }),
    ])
    expect(wrong).toMatchObject({ status: 'rejected', reason: { code: 'MFA_VERIFY_ERROR' } })
    expect(right).toMatchObject({ status: 'fulfilled', value: { success: true } })
    expect(await bankToken(client, browser)).toMatchObject({ audience: BANK })
  })

  test("a concurrent refresh and a verification keep each other's tokens; late requests get the current ones", async () => {
    const { browser, client, mfaToken } = await demanded()
    const old = browser.request('/')
    const [refreshed, verified] = await Promise.all([
      client.getAccessToken(old, new Headers(), { refresh: true }),
      verifying(client, browser, { mfaToken, otp: world.otp() }),
    ])
    expect(verified).toEqual({ success: true })
    world.provider.clearRequests()
    const late = new Request(old.url, { headers: old.headers })
    const [main, bank] = await Promise.all([
      client.getAccessToken(late, new Headers()),
      client.getAccessToken(late, new Headers(), { audience: BANK }),
    ])
    expect(main.token).toBe(refreshed.token)
    expect(bank.audience).toBe(BANK)
    expect(world.provider.count('token')).toBe(0)
    // The refresh token of now is the right one.
    world.pass(TTL)
    const after = await client.getAccessToken(browser.request('/'), new Headers())
    expect(after.token).not.toBe(main.token)
  })

  test('a refresh between challenge and verification is kept', async () => {
    const { browser, client, mfaToken } = await demanded()
    await keeping(browser, (request, headers) => client.getAccessToken(request, headers, { refresh: true }))
    await verifying(client, browser, { mfaToken, otp: world.otp() })
    world.pass(TTL)
    const options = { refresh: true }
    await expect(
      keeping(browser, (request, headers) => client.getAccessToken(request, headers, options)),
    ).resolves.toMatchObject({ token: expect.any(String) })
  })

  const meanwhile: Record<string, (browser: Browser) => Promise<unknown>> = {
    'a logout': (browser) => browser.send('/auth/logout'),
    'a login of another user in the same browser': (browser) => world.login(browser, '', { user: 'bob' }),
  }
  const ends = Object.keys(meanwhile).flatMap((what) =>
    [true, false].map((renewable) => ({ what, renewable })),
  )

  test.each(ends)('$what is not undone; with a refresh token: $renewable', async ({ renewable, what }) => {
    const during = { verification: async () => {} }
    const made = world.another({ [customFetch]: interrupted(during) })
    const { browser, client, mfaToken } = await demanded('alice', made)
    if (!renewable) await withoutRefreshToken(client, browser)
    during.verification = async () => void (await meanwhile[what]?.(browser))
    const error = await rejectionOf(verifying(client, browser, { mfaToken, otp: world.otp() }))
    expect(error).toMatchObject({ name: 'MfaError', code: 'MISSING_SESSION' })
    const session = await client.getSession(browser.request('/'))
    expect(session?.user.sub).toBe(what === 'a logout' ? undefined : 'dev|bob')
    expect(session?.accessTokens).toBeUndefined()
  })

  test("two users never get each other's tokens", async () => {
    const { secret } = world.provider.mfa.enrollOtp('bob')
    const [alice, bob] = await Promise.all([demanded('alice'), demanded('bob')])
    await Promise.all([
      verifying(alice.client, alice.browser, { mfaToken: alice.mfaToken, otp: world.otp() }),
      verifying(bob.client, bob.browser, { mfaToken: bob.mfaToken, otp: world.provider.mfa.totp(secret) }),
    ])
    const tokens = await Promise.all([alice, bob].map(({ browser, client }) => bankToken(client, browser)))
    expect(tokens.map(({ token }) => decodeJwt(token).sub)).toEqual(['dev|alice', 'dev|bob'])
  })

  test('a lost response changes nothing, and the next verification completes it', async () => {
    const { browser, client, mfaToken } = await demanded()
    const before = await client.getSession(browser.request('/'))
    world.provider.faults.set('token', { kind: 'reset' }, { times: 1 })
    await expect(verifying(client, browser, { mfaToken, otp: world.otp() })).rejects.toMatchObject({
      code: 'MFA_VERIFY_ERROR',
      cause: { code: 'REQUEST_FAILED', transient: true },
    })
    expect(world.provider.count('token')).toBe(1)
    expect(await client.getSession(browser.request('/'))).toEqual(before)
    await expect(verifying(client, browser, { mfaToken, otp: world.otp() })).resolves.toEqual({
      success: true,
    })
  })
})

describe('client authentication', () => {
  test('by signed assertion: in the JSON of the MFA API, and at the token endpoint', async () => {
    const { clientId, privateKey: clientAssertionSigningKey } = world.provider.keyClient
    const options = { clientId, clientSecret: undefined, clientAssertionSigningKey }
    const { browser, client, mfaToken } = await demanded('alice', world.another(options))
    await call(client, 'challenge', browser, mfaToken)
    await rejectionOf(call(client, 'enroll', browser, mfaToken))
    await call(client, 'verify', browser, mfaToken)
    const [challenge, associate, verify] = ['mfa-challenge', 'mfa-associate', 'token'].map(
      (endpoint) => world.provider.requests(endpoint as 'token')[0],
    )
    const bodies = [challenge?.json, associate?.json, verify?.body]
    const ids = bodies.map((body) => {
      expect(body).toMatchObject({ client_id: clientId, client_assertion_type: expect.any(String) })
      expect(body).not.toHaveProperty('client_secret')
      const claims = decodeJwt(String(body?.['client_assertion']))
      expect(claims).toMatchObject({ aud: world.provider.issuer, iss: clientId, sub: clientId })
      return claims.jti
    })
    expect(new Set(ids).size).toBe(3)
  })

  test('DPoP: the verification has a proof, retried with a nonce; the token is bound', async () => {
    const options = {
      useDPoP: true,
      dpopKeyPair: await generateDpopKeyPair(),
      dpopOptions: { retry: { delay: 1 } },
    }
    const { browser, client, mfaToken } = await demanded('alice', world.another(options))
    world.provider.settings.dpopNonces = true
    await call(client, 'challenge', browser, mfaToken)
    await call(client, 'verify', browser, mfaToken)
    world.provider.settings.dpopNonces = false
    const [challenge] = world.provider.requests('mfa-challenge')
    expect(challenge?.headers).not.toHaveProperty('dpop')
    const requests = world.provider.requests('token')
    expect(requests.at(-1)?.status).toBe(200)
    const ids = requests.map(({ headers }) => decodeJwt(String(headers['dpop'])).jti)
    expect(new Set(ids).size).toBe(requests.length)
    const token = await bankToken(client, browser)
    expect(token.token_type).toBe('DPoP')
    expect(decodeJwt(token.token)['cnf']).toHaveProperty('jkt')
  })
})
