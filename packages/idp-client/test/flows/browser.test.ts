import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import type { BrowserMfaRequiredError, ChallengeWithPopupOptions } from '../../src/browser/index.ts'
import { configure, fetchUser, getAccessToken, mfa, userStore } from '../../src/browser/index.ts'
import { forgetTokens } from '../../src/browser/page-state.ts'
import type { Code } from '../../src/errors/code.ts'
import { codes } from '../../src/errors/codes.ts'
import { AccessTokenError, IdpError, MfaRequiredError } from '../../src/errors/index.ts'
import { isIdpError } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, startMfaWorld } from '../support/mfa.ts'
import type { Page } from '../support/page.ts'
import { openPage } from '../support/page.ts'
import { PATIENT } from '../support/timeouts.ts'

let world: MfaWorld
let browser: Browser
let page: Page
beforeAll(async () => {
  world = await startMfaWorld({}, { mfaInterval: 0 })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.provider.mfa.reset('bob')
  browser = world.newBrowser()
  page = openPage(browser)
  forgetTokens()
  configure({})
})
afterEach(() => {
  vi.unstubAllGlobals()
})

async function failure(call: Promise<unknown>): Promise<Record<string, unknown>> {
  const error: unknown = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!isIdpError(error)) throw new Error('the call did not fail', { cause: error })
  return Object.assign(error) as never
}

/** The error with which the provider requires another factor for the bank. */
async function demanded(user = 'alice'): Promise<BrowserMfaRequiredError> {
  await world.signedIn(user, browser)
  return Object.assign(await failure(getAccessToken({ audience: BANK }))) as never
}

describe('without a framework', () => {
  test('every watcher gets the user, and null after a 401', async () => {
    await world.signedIn('alice', browser)
    const store = userStore()
    const seen: (string | null)[] = []
    expect(store.current()).toEqual({ user: null, isLoading: true, error: null })
    const settled = new Promise<void>((done) => {
      const end = store.subscribe(() => {
        seen.push(store.current().user?.sub ?? null)
        if (seen.length < 2) return
        end()
        done()
      })
    })
    expect((await fetchUser())?.sub).toBe('dev|alice')
    browser.cookies.clear()
    expect(await fetchUser()).toBeNull()
    await settled
    expect(seen).toEqual(['dev|alice', null])
  })

  test('a listener that throws does not stop other listeners or the next request', async () => {
    await world.signedIn('alice', browser)
    const thrown: unknown[] = []
    vi.stubGlobal('reportError', (error: unknown) => thrown.push(error))
    const { current, refresh, subscribe } = userStore()
    const broken = subscribe(() => {
      throw new Error('broken')
    })
    const told = vi.fn()
    const end = subscribe(told)
    await Promise.all([refresh(), refresh()])
    expect(current().user?.sub).toBe('dev|alice')
    expect(told).toHaveBeenCalled()
    browser.cookies.clear()
    await refresh()
    expect(current().user).toBeNull()
    expect(thrown).toEqual([expect.any(Error), expect.any(Error)])
    broken()
    end()
  })

  test('a route that fails is an error, and the user stays', async () => {
    await world.signedIn('alice', browser)
    await fetchUser()
    expect(await failure(fetchUser({ route: '/orders' }))).toMatchObject({
      code: 'INTERNAL_ERROR',
      status: 200,
    })
    expect((await fetchUser())?.sub).toBe('dev|alice')
  })

  test('configure sets the routes and the user', async () => {
    const { browser: other } = world.another({ routes: { profile: '/me', accessToken: '/token' } })
    page = openPage(other)
    await world.login(other)
    configure({ routes: { profile: '/me', accessToken: '/token' }, user: { sub: 'dev|alice' } })
    expect(userStore().current()).toEqual({ user: { sub: 'dev|alice' }, isLoading: false, error: null })
    await getAccessToken()
    await fetchUser()
    expect(page.requests.map(({ url }) => new URL(url).pathname)).toEqual(['/token', '/me'])
  })
})

describe('errors', () => {
  test('[G2] are instances of the classes of ./errors, although the page has loaded none of them', async () => {
    const challenge = await demanded('bob')
    expect(challenge).toBeInstanceOf(MfaRequiredError)
    expect(challenge).toBeInstanceOf(IdpError)
    expect(challenge).not.toBeInstanceOf(AccessTokenError)
    const { error, error_description, mfa_requirements, mfa_token } = challenge
    expect(JSON.parse(JSON.stringify(challenge))).toMatchObject({
      error,
      error_description,
      mfa_requirements,
      mfa_token,
    })
    expect((challenge as Partial<MfaRequiredError>).toJSON?.()).toMatchObject({ error, mfa_token })
    browser.cookies.clear()
    expect(await failure(getAccessToken())).toBeInstanceOf(AccessTokenError)
  })
})

describe('mfa', () => {
  test('[S208,S209,S210,S211] lists factors, challenges and verifies, with the session cookie for this origin only', async () => {
    world.provider.mfa.enrollOtp('bob')
    const { id } = world.provider.mfa.enrollOob('bob', 'sms')
    const error = await demanded('bob')
    expect(error).toMatchObject({
      name: 'MfaRequiredError',
      code: 'MFA_REQUIRED',
      status: 403,
      error: 'mfa_required',
      mfa_requirements: { challenge: expect.arrayContaining([{ type: 'otp' }, { type: 'phone' }]) },
    })
    const { mfa_token: mfaToken } = error
    const factors = await mfa.getAuthenticators({ mfaToken })
    expect(factors).toContainEqual(
      expect.objectContaining({
        id,
        authenticatorType: 'oob',
        oobChannel: 'sms',
        createdAt: expect.any(String),
      }),
    )
    const challenge = await mfa.challenge({ mfaToken, challengeType: 'oob', authenticatorId: id })
    expect(challenge).toEqual({ challengeType: 'oob', oobCode: expect.any(String), bindingMethod: 'prompt' })
    const { oobCode = '' } = challenge
    const wrong = await failure(mfa.verify({ mfaToken, oobCode, bindingCode: '000' }))
    expect(wrong).toMatchObject({
      name: 'MfaError',
      code: 'MFA_VERIFY_ERROR',
      error: 'invalid_grant',
      status: 400,
    })
    const bindingCode = world.provider.mfa.inbox('bob')[0]?.bindingCode
    expect(await mfa.verify({ mfaToken, oobCode, bindingCode })).toEqual({ success: true })
    expect(await getAccessToken({ audience: BANK })).toEqual(expect.any(String))
    for (const { credentials } of page.requests) expect(credentials).toBe('same-origin')
  })

  test('[S211] does not return a token that was cached before the verification', async () => {
    const { mfa_token: mfaToken } = await demanded()
    const before = await getAccessToken()
    await mfa.verify({ mfaToken, otp: world.otp() })
    page.requests.length = 0
    expect(await getAccessToken()).toBe(before)
    expect(page.requests).toHaveLength(1)
  })

  test.each([
    [
      { factorType: 'otp' },
      { authenticatorType: 'otp', secret: expect.any(String), barcodeUri: expect.any(String) },
    ],
    [{ authenticatorTypes: ['otp'] }, { authenticatorType: 'otp', recoveryCodes: [expect.any(String)] }],
    [
      { factorType: 'sms', phoneNumber: '+14155550100' },
      { authenticatorType: 'oob', oobChannel: 'sms', oobCode: expect.any(String), bindingMethod: 'prompt' },
    ],
    [
      { authenticatorTypes: ['oob'], oobChannels: ['email'], email: 'bob@example.test' },
      { authenticatorType: 'oob', oobChannel: 'email' },
    ],
    [
      { factorType: 'push' },
      { authenticatorType: 'oob', oobChannel: 'push', barcodeUri: expect.any(String) },
    ],
  ] as const)('[S212] enrols %j', async (factor, expected) => {
    const { mfa_token: mfaToken } = await demanded('bob')
    expect(await mfa.enroll({ mfaToken, ...factor })).toMatchObject(expected)
  })

  test('a further required factor has its own token', async () => {
    const vault = 'https://vault.example.test/'
    world.provider.addApi({ audience: vault, scopes: ['open'], requiresMfa: ['otp', 'push'] })
    world.provider.mfa.enrollOob('alice', 'push')
    await world.signedIn('alice', browser)
    const first = await failure(getAccessToken({ audience: vault }))
    const mfaToken = String(first['mfa_token'])
    const second = await failure(mfa.verify({ mfaToken, otp: world.otp() }))
    expect(second).toMatchObject({ name: 'MfaRequiredError', code: 'MFA_REQUIRED', status: 403 })
    expect(second['mfa_token']).not.toBe(mfaToken)
  })

  test('errors of the routes have the code of the server; without a response there is a cause', async () => {
    const { mfa_token: mfaToken } = await demanded()
    expect(await failure(mfa.verify({ mfaToken: `${mfaToken}x`, otp: '1' }))).toMatchObject({
      name: 'MfaError',
      code: 'MFA_TOKEN_INVALID',
      status: 401,
    })
    expect(await failure(mfa.enroll({ mfaToken, factorType: 'sms' }))).toMatchObject({
      code: 'INVALID_REQUEST',
    })
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('offline')))
    expect(await failure(mfa.getAuthenticators({ mfaToken }))).toMatchObject({
      code: 'REQUEST_FAILED',
      cause: expect.any(TypeError),
    })
  })

  test('an invalid response counts as missing', async () => {
    vi.stubGlobal('fetch', () => Promise.resolve(new Response('{}')))
    for (const call of [
      mfa.getAuthenticators({ mfaToken: 'a' }),
      mfa.challenge({ mfaToken: 'a', challengeType: 'otp' }),
      mfa.enroll({ mfaToken: 'a', factorType: 'otp' }),
      mfa.verify({ mfaToken: 'a', otp: '1' }),
    ]) {
      expect(await failure(call)).toMatchObject({ code: 'INTERNAL_ERROR', status: 200 })
    }
  })

  test('routes follow the given paths, then NEXT_PUBLIC_*, then FRAMEWORK_PUBLIC_*', async () => {
    vi.stubEnv('NEXT_PUBLIC_MFA_CHALLENGE_ROUTE', '/next/challenge')
    vi.stubEnv('FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE', '/framework/challenge')
    vi.stubEnv('FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE', '/framework/verify')
    configure({ routes: { mfaAuthenticators: '/given' }, basePath: '/app' })
    const calls = [
      mfa.getAuthenticators({ mfaToken: 'a' }),
      mfa.challenge({ mfaToken: 'a', challengeType: 'otp' }),
      mfa.enroll({ mfaToken: 'a', factorType: 'otp' }),
      mfa.verify({ mfaToken: 'a', otp: '1' }),
    ]
    await Promise.allSettled(calls)
    vi.unstubAllEnvs()
    expect(page.requests.map(({ url }) => new URL(url).pathname).sort()).toEqual([
      '/app/auth/mfa/associate',
      '/app/framework/verify',
      '/app/given',
      '/app/next/challenge',
    ])
  })
})

describe('mfa.challengeWithPopup', () => {
  type Visit = Parameters<MfaWorld['authorize']>[1]

  /** Visits the URL of the popup that was opened last. */
  async function inPopup(visit: Visit = { user: 'alice', otp: true }): Promise<URL> {
    const popup = page.popups.at(-1)
    if (!popup) throw new Error('no popup was opened')
    const url = new URL(await popup.url)
    const begun = await browser.send(url.pathname + url.search)
    const callback = await world.authorize(begun.headers.get('location') ?? '', visit)
    await popup.show(await browser.send(callback))
    return url
  }

  const challenge = (options: Partial<ChallengeWithPopupOptions> = {}) =>
    mfa.challengeWithPopup({ audience: BANK, ...options })

  test.each(['related', 'cut'] as const)('returns the token if the popup is %s', async (opening) => {
    await demanded()
    page.opening = opening
    page.hasFocus = opening !== 'cut'
    page.requests.length = 0
    const token = challenge({ scope: 'transfer' })
    const url = await inPopup()
    expect(await token).toMatchObject({ token: expect.any(String), token_type: 'Bearer' })
    expect(Object.fromEntries(url.searchParams)).toEqual({
      challengeMode: 'popup',
      popup: expect.stringMatching(/^[0-9a-f]{32}$/),
      audience: BANK,
      scope: 'transfer',
      acr_values: 'http://schemas.openid.net/pape/policies/2007/06/multi-factor',
    })
    expect(page.popups[0]?.features).toBe('popup,width=400,height=600')
    expect(page.popups[0]?.closed).toBe(true)
    expect(await getAccessToken({ audience: BANK, scope: 'transfer' })).toBe((await token).token)
    expect(page.requests.map((request) => new URL(request.url).pathname)).toEqual(['/auth/access-token'])
  })

  test('sends its options, and requests the user again', async () => {
    await world.signedIn('alice', browser)
    const store = userStore()
    const end = store.subscribe(() => undefined)
    await fetchUser()
    page.requests.length = 0
    const token = challenge({
      acr_values: 'urn:idp-dev:loa2',
      prompt: 'login',
      returnTo: '/orders',
      popupWidth: 500,
      popupHeight: 700,
    })
    const url = await inPopup()
    await token
    end()
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      acr_values: 'urn:idp-dev:loa2',
      prompt: 'login',
      returnTo: '/orders',
    })
    expect(page.popups[0]?.features).toBe('popup,width=500,height=700')
    const paths = page.requests.map((request) => new URL(request.url).pathname)
    expect(paths.sort()).toEqual(['/auth/access-token', '/auth/profile'])
  })

  test('rejects with the error code of a failed login', async () => {
    await world.signedIn('alice', browser)
    const denied = failure(challenge())
    await inPopup({ user: 'alice', deny: true })
    expect(await denied).toMatchObject({ name: 'MfaError', code: 'AUTHORIZATION_ERROR' })
    const other = failure(challenge())
    await inPopup({ user: 'bob', otp: true })
    expect(await other).toMatchObject({ code: 'POPUP_USER_MISMATCH' })
  })

  test('does not return the token of another user after the session has ended', async () => {
    await world.signedIn('alice', browser)
    const { current, subscribe } = userStore()
    const end = subscribe(() => undefined)
    await fetchUser()
    browser.cookies.clear()
    const other = failure(challenge())
    await inPopup({ user: 'bob', otp: true })
    expect(await other).toMatchObject({
      name: 'MfaError',
      code: 'POPUP_USER_MISMATCH',
      message: codes.POPUP_USER_MISMATCH.message,
    })
    expect(page.requests.map((request) => new URL(request.url).pathname)).not.toContain('/auth/access-token')
    await vi.waitFor(() => expect(current().user?.sub).toBe('dev|bob'), PATIENT)
    const token = challenge()
    await inPopup({ user: 'bob', otp: true })
    expect((await token).token).toEqual(expect.any(String))
    end()
  })

  test('ignores messages of other origins, of other popups and of other types', async () => {
    await world.signedIn('alice', browser)
    const outcome = failure(challenge())
    const url = new URL((await page.popups[0]?.url) ?? '')
    const id = url.searchParams.get('popup')
    const message = {
      type: 'auth_complete',
      success: false,
      error: { code: 'AUTHORIZATION_ERROR', message: '' },
    }
    page.post({ ...message, id }, 'https://evil.example.test')
    page.post({ ...message, id: 'another' })
    page.post(message)
    page.post({ ...message, id, type: 'other' })
    page.post(null)
    page.post({ ...message, id, error: { code: 'HOOK_FAILED', message: 'Ours.' } })
    expect(await outcome).toMatchObject({ code: 'HOOK_FAILED', message: 'Ours.' })
  })

  test('POPUP_BLOCKED, POPUP_CANCELLED, POPUP_TIMEOUT: each ends it, and the next may start', async () => {
    page.opening = 'blocked'
    expect(await failure(challenge())).toMatchObject({ name: 'MfaError', code: 'POPUP_BLOCKED' })
    page.opening = 'related'
    const cancelled = failure(challenge())
    Object.assign(page.popups[0] ?? {}, { closed: true })
    expect(await cancelled).toMatchObject({ code: 'POPUP_CANCELLED' })
    expect(await failure(challenge({ timeout: 1 }))).toMatchObject({ code: 'POPUP_TIMEOUT' })
    expect(page.popups[1]?.closed).toBe(true)
  })

  test('treats a disconnected popup as closed once the page has the focus again', async () => {
    page.opening = 'cut'
    page.hasFocus = false
    expect(await failure(challenge({ timeout: 1_200 }))).toMatchObject({ code: 'POPUP_TIMEOUT' })
    const cancelled = failure(challenge())
    page.hasFocus = true
    expect(await cancelled).toMatchObject({ code: 'POPUP_CANCELLED' })
  })

  test('waits as long as requested, also without a limit', async () => {
    await world.signedIn('alice', browser)
    const token = challenge({ timeout: Number.POSITIVE_INFINITY })
    await inPopup()
    expect((await token).token).toEqual(expect.any(String))
  })

  test('POPUP_IN_PROGRESS: only one at a time, and the first continues', async () => {
    await world.signedIn('alice', browser)
    const first = challenge()
    expect(await failure(challenge())).toMatchObject({ name: 'MfaError', code: 'POPUP_IN_PROGRESS' })
    expect(page.popups).toHaveLength(1)
    expect(page.popups[0]?.closed).toBe(false)
    await inPopup()
    expect((await first).token).toEqual(expect.any(String))
  })

  test('INVALID_EXECUTION_CONTEXT without a window', async () => {
    vi.stubGlobal('window', undefined)
    expect(await failure(challenge())).toMatchObject({ name: 'MfaError', code: 'INVALID_EXECUTION_CONTEXT' })
  })

  test('has the messages of the table of codes in its errors', async () => {
    page.opening = 'blocked'
    const errors = [await failure(challenge())]
    page.opening = 'related'
    const late = failure(challenge({ timeout: 1 }))
    errors.push(await failure(challenge()), await late)
    const cancelled = failure(challenge())
    Object.assign(page.popups[1] ?? {}, { closed: true })
    errors.push(await cancelled)
    vi.stubGlobal('window', undefined)
    errors.push(await failure(challenge()))
    expect(errors.map(({ code }) => code)).toEqual([
      'POPUP_BLOCKED',
      'POPUP_IN_PROGRESS',
      'POPUP_TIMEOUT',
      'POPUP_CANCELLED',
      'INVALID_EXECUTION_CONTEXT',
    ])
    for (const { code, message } of errors) expect(message).toBe(codes[code as Code].message)
  })
})
