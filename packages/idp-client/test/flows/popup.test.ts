import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, OnCallbackContext, SessionData } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import { APP } from '../support/app.ts'
import type { MfaWorld } from '../support/mfa.ts'
import { BANK, startMfaWorld, TTL } from '../support/mfa.ts'
import { POPUP_ID, popupQuery, run } from '../support/popup-page.ts'
import { withoutWaiting } from '../support/timers.ts'

const MULTI_FACTOR = 'http://schemas.openid.net/pape/policies/2007/06/multi-factor'

let world: MfaWorld
beforeAll(async () => {
  world = await startMfaWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
})

type Visit = Parameters<MfaWorld['authorize']>[1]

const stepUpQuery = (parameters: Record<string, string> = {}): string =>
  popupQuery({ acr_values: MULTI_FACTOR, ...parameters })

/** A complete login in a popup; the page that it ends on. */
const popup = (
  browser: Browser,
  parameters: Record<string, string> = {},
  visit: Visit = { user: 'alice', otp: true },
): Promise<Response> => world.login(browser, stepUpQuery(parameters), visit)

const signedIn = async (options: IdpClientOptions = {}) => {
  const made = world.another(options)
  await world.login(made.browser)
  world.provider.clearRequests()
  return made
}

describe('a popup with a session of its user', () => {
  test('the session keeps its identity and gets the token of the audience, reported by a page that closes', async () => {
    const { browser } = world.another()
    const jar = world.provider.createJar()
    await world.login(browser, '', { user: 'alice', jar })
    const before = await browser.session()
    world.pass(30)
    const response = await popup(browser, { audience: BANK, scope: 'transfer' }, { jar, otp: true })
    expect(response.status).toBe(200)
    expect(response.headers.get('cache-control')).toContain('no-store')
    const message = {
      type: 'auth_complete',
      success: true,
      user: { sub: 'dev|alice', email: expect.any(String) },
      id: POPUP_ID,
    }
    const told = await run(response)
    expect(told.opener).toEqual([{ message, target: APP }])
    expect(told.channels).toEqual({ [POPUP_ID]: [message] })
    expect(told.closedAfter).toEqual([100])

    const after = await browser.session()
    expect(after.internal).toEqual(before.internal)
    expect(after.tokenSet).toEqual(before.tokenSet)
    expect(after.accessTokens).toEqual([expect.objectContaining({ audience: BANK })])
    expect(world.events.filter(({ code }) => code === 'LOGIN_COMPLETED')).toHaveLength(2)

    world.provider.clearRequests()
    const query = new URLSearchParams({ audience: BANK, scope: 'transfer' })
    const token = (await (await browser.send(`/auth/access-token?${query}`)).json()) as { token: string }
    expect(token.token).toBe(after.accessTokens?.[0]?.accessToken)
    expect(world.provider.count('token')).toBe(0)
  })

  test('without an audience the main tokens are replaced', async () => {
    const { browser } = await signedIn()
    const before = await browser.session()
    await popup(browser)
    const after = await browser.session()
    expect(after.internal.createdAt).toBe(before.internal.createdAt)
    for (const name of ['accessToken', 'idToken', 'refreshToken'] as const)
      expect(after.tokenSet[name]).not.toBe(before.tokenSet[name])
    expect(after.tokenSet.requestedScope).toBe(before.tokenSet.requestedScope)
    expect(after.accessTokens).toBeUndefined()
  })

  test('the main tokens are refreshed for their own API afterwards: the popup returned no refresh token', async () => {
    const { browser } = await signedIn({
      authorizationParameters: { audience: 'https://api.example.test/' },
    })
    const audienceOf = (token: string): unknown => decodeJwt(token).aud
    await popup(browser, { audience: BANK })
    const { refreshToken } = (await browser.session()).tokenSet
    expect(world.provider.requests('authorize')[0]?.query).toMatchObject({
      audience: BANK,
      scope: 'openid profile email',
    })
    world.pass(TTL + 1)
    const { token } = (await (await browser.send('/auth/access-token')).json()) as { token: string }
    expect(audienceOf(token)).toBe('https://api.example.test/')
    expect((await browser.session()).tokenSet.refreshToken).not.toBe(refreshToken)
    const query = `?audience=${encodeURIComponent(BANK)}`
    expect((await browser.send(`/auth/access-token${query}`)).status).toBe(403)
  })

  test('is for the audience of the session, if that differs from the configured one', async () => {
    const audience = 'https://orders.example.test/'
    const { browser } = world.another()
    await world.login(browser, `?audience=${encodeURIComponent(audience)}`)
    const before = await browser.session()
    await popup(browser)
    const after = await browser.session()
    expect(after.tokenSet.audience).toBe(audience)
    expect(decodeJwt(after.tokenSet.accessToken).aud).toBe(audience)
    expect(after.tokenSet.refreshToken).not.toBe(before.tokenSet.refreshToken)
  })

  test('a request that still has the previous session gets the new one', async () => {
    const { browser, client } = await signedIn()
    const late = browser.request(`/auth/access-token?audience=${encodeURIComponent(BANK)}`)
    await popup(browser, { audience: BANK })
    const entry = (await browser.session()).accessTokens?.[0]
    world.provider.clearRequests()
    const response = await client.middleware(late)
    expect(await response.json()).toMatchObject({ token: entry?.accessToken })
    expect(world.provider.count('token')).toBe(0)
  })

  test('in a store the record stays, and is found by the new session id of the provider', async () => {
    const sessionStore = memoryStore()
    const { browser, client } = await signedIn({ sessionStore })
    const cookie = browser.cookies.get('__session')?.value
    const [before] = (await sessionStore.listBySubject?.('dev|alice')) ?? []
    const remove = world.provider.tamperIdToken((claims) => {
      claims['sid'] = 'another'
    })
    const response = await popup(browser)
    remove()
    expect(response.status).toBe(200)
    const [after, ...more] = (await sessionStore.listBySubject?.('dev|alice')) ?? []
    expect(more).toEqual([])
    expect(after?.id).toBe(before?.id)
    expect(cookie).toBeDefined()
    expect((await browser.session()).internal).toEqual({
      sid: 'another',
      createdAt: before?.session.internal.createdAt,
    })
    await sessionStore.deleteByLogoutToken?.({ sid: 'another' })
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test('onCallback gets the tokens as they are stored', async () => {
    const contexts: OnCallbackContext[] = []
    const { browser } = await signedIn({ onCallback: (context) => void contexts.push(context) })
    await popup(browser, { audience: BANK })
    const { accessTokens } = await browser.session()
    expect(accessTokens).toHaveLength(1)
    expect(contexts.at(-1)?.session?.accessTokens).toEqual(accessTokens)
  })

  test('beforeSessionSaved gets all claims; if it throws, the tokens are kept and it is reported', async () => {
    const seen: unknown[] = []
    let isBroken = false
    const { browser } = await signedIn({
      beforeSessionSaved: (session) => {
        if (isBroken) throw new Error('broken')
        seen.push(session.user['aud'])
        return session
      },
    })
    await popup(browser, { audience: BANK })
    expect(seen).toEqual([world.provider.clientId, world.provider.clientId])
    isBroken = true
    expect((await popup(browser, { audience: 'https://api.example.test/' })).status).toBe(200)
    expect((await browser.session()).accessTokens).toHaveLength(2)
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'REQUEST_FAILED', error: 'HOOK_FAILED' }),
    )
  })

  test('while its beforeSessionSaved runs, no refresh takes over', async () => {
    const codes: unknown[] = []
    let isStepUp = false
    const { browser, client } = await signedIn({
      httpTimeout: 1000,
      async beforeSessionSaved(session) {
        if (!isStepUp) return session
        isStepUp = false
        const refresh = () => client.getAccessToken(browser.request('/'), new Response(), { refresh: true })
        for (const _call of [1, 2, 3])
          codes.push(
            await withoutWaiting(() =>
              refresh().then(
                () => 'refreshed',
                ({ cause }) => cause.code,
              ),
            ),
          )
        return session
      },
    })
    isStepUp = true
    expect((await popup(browser, { audience: BANK })).status).toBe(200)
    expect(codes).toEqual(['REQUEST_TIMEOUT', 'REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'])
    expect((await browser.session()).accessTokens).toHaveLength(1)
  })

  test('after a logout it is an ordinary login', async () => {
    const { browser } = await signedIn()
    const before = await browser.session()
    world.pass(5)
    const begun = await world.begin(browser, stepUpQuery({ audience: BANK }))
    const callback = await world.authorize(begun, { user: 'alice', otp: true })
    const transaction = new Map([...browser.cookies].filter(([name]) => name.startsWith('__txn_')))
    await browser.send('/auth/logout')
    for (const [name, cookie] of transaction) browser.cookies.set(name, cookie)
    const told = await run(await browser.send(callback))
    expect(told.opener[0]?.message).toMatchObject({ success: true, user: { sub: 'dev|alice' } })
    const after = await browser.session()
    expect(after.internal.createdAt).toBe(before.internal.createdAt + 5)
    expect(after.tokenSet.audience).toBe(BANK)
  })

  const mainToken = ({ tokenSet }: SessionData) => tokenSet.accessToken
  const furtherToken = ({ accessTokens }: SessionData) => accessTokens?.[0]?.accessToken
  test.each([
    [{ audience: BANK }, 'openid offline_access', furtherToken],
    [{}, 'openid offline_access', mainToken],
    [{ audience: BANK }, 'openid', furtherToken],
    [{}, 'openid', mainToken],
  ])(
    'an identical callback for %j, with the scope %s, gets the same response and session, another one is rejected',
    async (parameters, scope, getToken) => {
      const { browser, client } = await signedIn({ authorizationParameters: { scope } })
      const begun = await world.begin(browser, stepUpQuery(parameters))
      const callback = await world.authorize(begun, { user: 'alice', otp: true })
      const requests = [1, 2, 3].map(() => browser.request(callback))
      const late = browser.request(callback)
      const other = browser.request(`${callback}&iss=changed`)
      const responses = await Promise.all(requests.map((request) => client.middleware(request)))
      responses.push(await client.middleware(late))
      const sessions = await Promise.all(
        responses.map(async (response) => {
          const copy = new Map(browser.cookies)
          browser.store(response)
          const session = await browser.session()
          browser.cookies.clear()
          for (const [name, cookie] of copy) browser.cookies.set(name, cookie)
          return getToken(session)
        }),
      )
      expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200])
      expect(new Set(sessions)).toEqual(new Set([expect.any(String)]))
      expect(world.provider.count('token')).toBe(1)
      // The login and the popup.
      expect(world.events.filter(({ code }) => code === 'LOGIN_COMPLETED')).toHaveLength(2)

      const refused = await client.middleware(other)
      expect(refused.status).toBe(400)
      const told = await run(refused)
      expect(told.opener[0]?.message).toMatchObject({ success: false, error: { code: 'REPLAYED_STATE' } })
    },
  )
})

test.each([
  ['with a session', true],
  ['without a session', false],
])('an identical callback of a popup %s, after a logout, fails', async (_title, isStepUp) => {
  const { browser, client } = isStepUp ? await signedIn() : world.another()
  const callback = await world.authorize(await world.begin(browser, stepUpQuery()), {
    user: 'alice',
    otp: true,
  })
  const transaction = new Map([...browser.cookies].filter(([name]) => name.startsWith('__txn_')))
  expect((await run(await browser.send(callback))).opener[0]?.message).toMatchObject({ success: true })
  await browser.send('/auth/logout')
  for (const [name, cookie] of transaction) browser.cookies.set(name, cookie)
  const told = await run(await browser.send(callback))
  expect(told.opener[0]?.message).toMatchObject({ success: false, error: { code: 'MISSING_SESSION' } })
  expect(await client.getSession(browser.request('/'))).toBeNull()
})

test('an identical callback of a popup that comes after a refresh keeps the newer tokens', async () => {
  const { browser, client } = await signedIn()
  const begun = await world.begin(browser, stepUpQuery())
  const callback = await world.authorize(begun, { user: 'alice', otp: true })
  const late = browser.request(callback)
  await browser.send(callback)
  const headers = new Headers()
  const { token } = await client.getAccessToken({ refresh: true }, browser.request('/'), headers)
  browser.store(new Response(null, { headers }))
  expect((await run(browser.store(await client.middleware(late)))).opener[0]?.message).toMatchObject({
    success: true,
  })
  expect((await browser.session()).tokenSet.accessToken).toBe(token)
  expect(await client.getAccessToken({ refresh: true }, browser.request('/'), new Headers())).toBeDefined()
})

test('a refresh while onCallback runs loses neither its tokens nor those of the popup', async () => {
  const { browser, client } = await signedIn({
    async onCallback({ challengeMode }) {
      if (challengeMode !== 'popup') return
      await client.getAccessToken({ refresh: true }, browser.request('/'), new Headers())
    },
  })
  const { tokenSet: before } = await browser.session()
  await popup(browser, { audience: BANK })
  const { accessTokens, tokenSet } = await browser.session()
  expect(tokenSet.refreshToken).not.toBe(before.refreshToken)
  expect(accessTokens).toMatchObject([{ audience: BANK }])
})

describe('a popup without a session', () => {
  test('is an ordinary login', async () => {
    const browser = world.newBrowser()
    const told = await run(await popup(browser, {}, { user: 'bob', otp: true }))
    expect(told.opener[0]?.message).toMatchObject({ success: true, user: { sub: 'dev|bob' } })
    expect((await browser.session()).user.sub).toBe('dev|bob')
  })

  test('its message has sub and e-mail address only, and no e-mail address that the session does not have', async () => {
    const { browser } = world.another({
      beforeSessionSaved: (session) => ({ ...session, user: { sub: session.user.sub, role: 'clerk' } }),
    })
    const told = await run(await popup(browser))
    expect(told.opener[0]?.message['user']).toEqual({ sub: 'dev|alice' })
  })
})

describe('a popup that fails', () => {
  const failure = async (response: Response) => {
    const told = await run(response)
    expect(told.closedAfter).toEqual([100])
    expect(told.channels[POPUP_ID]).toEqual([told.opener[0]?.message])
    const { success, error } = told.opener[0]?.message ?? {}
    expect(success).toBe(false)
    return { error: error as { code: string; message: string }, html: told.html }
  }

  test('another user is rejected, and the session is unchanged', async () => {
    const { browser } = await signedIn()
    const before = await browser.session()
    const response = await popup(browser, { audience: BANK }, { user: 'bob', otp: true })
    expect(response.status).toBe(400)
    const { error, html } = await failure(response)
    expect(error.code).toBe('POPUP_USER_MISMATCH')
    expect(html).not.toContain('bob')
    expect(html).toContain(`href="${APP}/"`)
    expect(await browser.session()).toEqual(before)
    expect(browser.names('__txn_')).toEqual([])
  })

  test('onCallback gets the error, and that it was a popup', async () => {
    const contexts: OnCallbackContext[] = []
    const { browser } = await signedIn({ onCallback: (context) => void contexts.push(context) })
    const response = await popup(browser, {}, { user: 'alice', deny: true })
    expect(response.status).toBe(400)
    expect((await failure(response)).error.code).toBe('AUTHORIZATION_ERROR')
    expect(contexts.map(({ challengeMode }) => challengeMode)).toEqual(['redirect', 'popup'])
    expect(contexts[1]).toMatchObject({ session: null, error: { code: 'AUTHORIZATION_ERROR' } })
  })

  test.each([
    ['a provider that is down', 503, { error: 'temporarily_unavailable' }, '_REQUEST_ERROR'],
    ['a code that is not accepted', 400, { error: 'invalid_grant' }, '_ERROR'],
    ['consent', 400, { error: 'consent_required' }, '_ERROR'],
    ['a factor', 400, { error: 'invalid_grant', suberror: 'basic_action' }, '_ERROR'],
  ])('%s', async (_, status, refused, end) => {
    const { browser } = await signedIn()
    const headers = { 'content-type': 'application/json' }
    const begun = await world.begin(browser, stepUpQuery())
    const callback = await world.authorize(begun, { user: 'alice', otp: true })
    world.provider.faults.set('token', { kind: 'respond', status, headers, body: JSON.stringify(refused) })
    const response = await browser.send(callback)
    expect(response.status).toBe(status)
    expect((await failure(response)).error.code).toBe(`AUTHORIZATION_CODE_GRANT${end}`)
  })

  test('tokens of unknown audience and scope never replace the main ones', async () => {
    const { browser, client } = await signedIn()
    const before = await browser.session()
    const started = await client.startInteractiveLogin(
      {
        challengeMode: 'popup',
        authorizationParameters: { audience: BANK, scope: `transfer ${'x'.repeat(2_500)}` },
      },
      browser.request('/'),
    )
    browser.store(started)
    const url = started.headers.get('location') ?? ''
    const response = await browser.send(await world.authorize(url, { user: 'alice', otp: true }))
    const { opener } = await run(response)
    expect(opener[0]?.message['error']).toMatchObject({ code: 'INVALID_CALLBACK' })
    expect(await browser.session()).toEqual(before)
  })

  test('a session that has become too large is an error', async () => {
    const { browser } = world.another({
      beforeSessionSaved: (session) => ({ ...session, note: 'x'.repeat(9_000) }),
    })
    const response = await popup(browser)
    expect(response.status).toBe(500)
    expect((await failure(response)).error.code).toBe('SESSION_TOO_LARGE')
    expect(browser.names('__session')).toEqual([])
  })
})

describe('the page of a popup', () => {
  test('has a nonce for its script, loads nothing and is not stored', async () => {
    const { browser } = await signedIn()
    const responses = [await popup(browser), await popup(browser)]
    const pages = await Promise.all(responses.map((response) => run(response)))
    for (const [index, { nonce }] of pages.entries()) {
      expect(nonce).toMatch(/^[\w-]{22}$/)
      const policy = responses[index]?.headers.get('content-security-policy') ?? ''
      expect(policy.split('; ')).toEqual([
        "default-src 'none'",
        `script-src 'nonce-${nonce}'`,
        expect.stringMatching(/^style-src 'sha256-/),
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
      ])
    }
    expect(pages[0]?.nonce).not.toBe(pages[1]?.nonce)
  })

  test('writes hostile claims so that no parser reads them as markup', async () => {
    const email = '</script><script>alert(1)</script><!--\u2028'
    const remove = world.provider.tamperIdToken((claims) => {
      claims['email'] = email
    })
    const response = await popup(world.newBrowser())
    remove()
    const told = await run(response)
    expect(told.opener[0]?.message['user']).toEqual({ sub: 'dev|alice', email })
    expect(told.html.match(/<script/g)).toHaveLength(1)
    expect(told.html).not.toContain('<!--')
    expect(told.html).not.toContain('\u2028')
  })

  test('without an opener sends to the channel only; without a name, to the opener only', async () => {
    const cut = await run(await popup(world.newBrowser()), { hasOpener: false })
    expect(cut.opener).toEqual([])
    expect(cut.channels[POPUP_ID]).toHaveLength(1)

    const browser = world.newBrowser()
    const response = browser.store(
      await world.client.startInteractiveLogin({ challengeMode: 'popup' }, browser.request('/step-up')),
    )
    const callback = await world.authorize(response.headers.get('location') ?? '')
    const told = await run(await browser.send(callback))
    expect(told.opener[0]?.message).not.toHaveProperty('id')
    expect(told.channels).toEqual({})
  })

  test('uses link and nonce of onCallback, or its Response', async () => {
    let result: unknown = { returnTo: '/done', cspNonce: 'bm9uY2U=' }
    const { browser } = world.another({
      onCallback: ({ challengeMode }) => (challengeMode === 'popup' ? (result as undefined) : undefined),
    })
    const response = await popup(browser)
    expect(response.headers.get('content-security-policy')).toContain("script-src 'nonce-bm9uY2U='")
    const told = await run(response)
    expect(told.nonce).toBe('bm9uY2U=')
    expect(told.html).toContain(`href="${APP}/done"`)

    result = new Response('own', { status: 202 })
    const own = await popup(browser)
    expect([own.status, await own.text()]).toEqual([202, 'own'])
    expect((await browser.session()).user.sub).toBe('dev|alice')
  })

  test.each([
    [{ cspNonce: '"><script>' }],
    [{ cspNonce: '' }],
    [{ cspNonce: 7 }],
    [{ returnTo: '/a', cspNonce: "x'" }],
  ])('onCallback must not return %j', async (result) => {
    const { browser } = world.another({ onCallback: () => result as { returnTo: string } })
    const response = await popup(browser)
    expect(response.status).toBe(500)
    const told = await run(response)
    expect(told.opener[0]?.message).toMatchObject({ success: false, error: { code: 'HOOK_FAILED' } })
    expect(told.nonce).toMatch(/^[\w-]{22}$/)
  })

  test('onCallback may redirect after a failure, and the opener is notified anyway', async () => {
    const { browser } = world.another({
      onCallback: ({ error }) => (error ? { returnTo: '/sorry' } : undefined),
    })
    const told = await run(await popup(browser, {}, { user: 'alice', deny: true }))
    expect(told.opener[0]?.message).toMatchObject({ success: false, error: { code: 'AUTHORIZATION_ERROR' } })
    expect(told.html).toContain(`href="${APP}/sorry"`)
  })
})

describe('the login route', () => {
  test('reads the parameters of the popup, and adds the scope to the configured one', async () => {
    const { browser } = world.another({
      authorizationParameters: { response_mode: 'query', scope: 'openid email' },
    })
    const query = stepUpQuery({ audience: BANK, scope: 'transfer openid', returnTo: '/a' })
    const location = new URL((await browser.send(`/auth/login${query}`)).headers.get('location') ?? '')
    const sent = Object.fromEntries(location.searchParams)
    expect(sent).toMatchObject({ scope: 'openid email transfer', audience: BANK, acr_values: MULTI_FACTOR })
    for (const name of ['challengeMode', 'popup', 'returnTo']) expect(sent).not.toHaveProperty(name)
  })

  test('uses response_mode=query, so that the session cookie is sent', async () => {
    const { browser } = world.another({
      appBaseUrl: 'https://app.example.test',
      authorizationParameters: { response_mode: 'form_post' },
    })
    const modes = await Promise.all(
      ['', stepUpQuery()].map(async (query) => {
        const response = await browser.send(`/auth/login${query}`)
        return new URL(response.headers.get('location') ?? '').searchParams.get('response_mode')
      }),
    )
    expect(modes).toEqual(['form_post', 'query'])
  })

  test('so does a popup that the application starts with another response_mode', async () => {
    const { browser, client } = world.another({ appBaseUrl: 'https://app.example.test' })
    const response = await client.startInteractiveLogin(
      { challengeMode: 'popup', authorizationParameters: { response_mode: 'form_post' } },
      browser.request('/'),
    )
    expect(new URL(response.headers.get('location') ?? '').searchParams.get('response_mode')).toBe('query')
  })

  test.each(['short', `${'x'.repeat(65)}`, '<script>alert(1)</script>', 'a b c d e f g h i j'])(
    'rejects the name %s',
    async (name) => {
      const response = await world.newBrowser().send(`/auth/login${stepUpQuery({ popup: name })}`)
      expect(response.status).toBe(400)
      expect(await response.text()).not.toContain(name)
    },
  )
})
