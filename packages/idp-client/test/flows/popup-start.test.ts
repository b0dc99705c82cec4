import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuthorizationParameters } from '../../src/config/options.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { POPUP_ID, popupQuery, run } from '../support/popup-page.ts'

const API = 'https://api.example.test/'
const ORDERS = 'https://orders.example.test/'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.clearRequests()
  world.events.length = 0
})

type Visit = Parameters<World['authorize']>[1]

async function signedIn(options: IdpClientOptions = {}, visit: Visit = { user: 'bob' }, query = '') {
  const made = world.another(options)
  expect((await world.login(made.browser, query, visit)).status).toBe(302)
  return { ...made, session: () => made.browser.session() }
}

const errorIn = async (response: Response) =>
  (await run(response)).opener[0]?.message['error'] as { code: string } | undefined

describe('[C3] the start of a popup', () => {
  const begin = (browser: Browser, site: string | null) => {
    const fetched = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const headers: Record<string, string> = site === null ? {} : { ...fetched, 'sec-fetch-site': site }
    return browser.send(`/auth/login${popupQuery({ organization: 'org_acme' })}`, { headers })
  }

  test('without a channel, the failure page reports it to the window that opened it', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    const response = await world.newBrowser().send('/auth/login?challengeMode=popup', { headers })
    const { channels, opener } = await run(response)
    expect(opener).toMatchObject([{ message: { success: false, error: { code: 'CROSS_SITE_REQUEST' } } }])
    expect(channels).toEqual({})
  })

  test('that has lost its transaction is not restarted: it would not end as a popup', async () => {
    const browser = world.newBrowser()
    const callback = await world.authorize(await world.begin(browser, popupQuery()))
    browser.cookies.clear()
    const response = await browser.send(callback)
    expect(response.status).toBe(400)
    expect(await response.text()).not.toMatch(/http-equiv="refresh"/i)
  })

  test('that the provider has lost is reported to its opener: it would not end as a popup either', async () => {
    const browser = world.newBrowser()
    const state = new URL(await world.begin(browser, popupQuery())).searchParams.get('state') ?? ''
    const query = new URLSearchParams({ error: 'request_forbidden', state, iss: world.provider.issuer })
    const lost = await errorIn(await browser.send(`/auth/callback?${query}`))
    expect(lost?.code).toBe('AUTHORIZATION_ERROR')
  })

  test.each(['cross-site', 'same-site', 'anything'])(
    'a page that is %s: the failure page reports it to its opener, and nothing else happens',
    async (site) => {
      const { browser, session } = await signedIn()
      const before = await session()
      world.provider.clearRequests()
      const response = await begin(browser, site)
      expect([response.status, response.headers.get('location')]).toEqual([403, null])
      expect(response.headers.get('content-type')).toContain('text/html')
      expect(response.headers.get('cache-control')).toContain('no-store')
      const policy = response.headers.get('content-security-policy')
      const told = await run(response)
      const error = { code: 'CROSS_SITE_REQUEST', message: expect.any(String) }
      const message = { type: 'auth_complete', success: false, error, id: POPUP_ID }
      expect(told.opener).toEqual([{ message, target: APP }])
      expect(told.channels).toEqual({ [POPUP_ID]: [message] })
      expect(told.nonce).toMatch(/^[0-9a-f]{32}$/)
      expect(policy).toContain(`'nonce-${told.nonce}'`)
      expect(told.html).toContain('href="/"')
      expect(browser.names('__txn_')).toEqual([])
      expect(await session()).toEqual(before)
      expect(world.provider.requests()).toEqual([])
      expect(world.events.map(({ code, level }) => [code, level])).toContainEqual(['LOGIN_FAILED', 'info'])
    },
  )

  test.each<[string, IdpClientOptions, Record<string, string>, readonly [number, string]]>([
    ['with a provider that is down', { domain: 'http://127.0.0.1:9' }, {}, [502, 'DISCOVERY_ERROR']],
    ['with an invalid parameter', {}, { max_age: 'soon' }, [400, 'INVALID_REQUEST']],
    ['at another address', { appBaseUrl: ['https://a.example.test'] }, {}, [400, 'BASE_URL_NOT_ALLOWED']],
  ])('%s: the failure page reports it to its opener', async (_, options, parameters, [status, code]) => {
    const { browser } = world.another(options)
    const path = `/auth/login${popupQuery(parameters)}`
    const response = await browser.send(path)
    expect(response.status).toBe(status)
    const told = await run(response)
    expect(told.opener[0]?.message).toMatchObject({ success: false, error: { code }, id: POPUP_ID })
    expect(told.html).not.toContain('Try again')
    const json = await browser.send(path, { headers: { accept: 'application/json' } })
    expect(await json.json()).toMatchObject({ error: { code } })
  })

  test.each(['same-origin', 'none', null])('%s passes', async (site) => {
    expect((await begin(world.newBrowser(), site)).status).toBe(302)
  })

  test('a login without a popup may start anywhere', async () => {
    const headers = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
    expect((await world.newBrowser().send('/auth/login', { headers })).status).toBe(302)
  })

  test('the access-token route rejects pages of other sites', async () => {
    const { browser } = await signedIn()
    const respond = async (site: string | null) => {
      const headers: Record<string, string> = site === null ? {} : { 'sec-fetch-site': site }
      const response = await browser.send('/auth/access-token', { headers })
      return { status: response.status, body: (await response.json()) as Record<string, unknown> }
    }
    const refused = await respond('cross-site')
    expect(refused).toEqual({
      status: 403,
      body: { error: expect.objectContaining({ code: 'CROSS_SITE_REQUEST' }) },
    })
    expect(JSON.stringify(refused)).not.toContain('"token"')
    for (const site of ['same-origin', 'same-site', 'none', null])
      expect((await respond(site)).status).toBe(200)
  })
})

describe('[C3] a popup does not change the user of a session', () => {
  test.each([
    ['to another organization', 'org_acme', 'org_globex'],
    ['into an organization', undefined, 'org_globex'],
  ])('%s', async (_what, from, to) => {
    const { browser, session } = await signedIn({}, { user: 'bob' }, from ? `?organization=${from}` : '')
    const before = await session()
    const response = await world.login(browser, popupQuery({ organization: to }), { user: 'bob' })
    expect(response.status).toBe(400)
    expect(await errorIn(response)).toMatchObject({ code: 'POPUP_USER_MISMATCH' })
    expect(await session()).toEqual(before)
  })

  test.each([
    ['out of an organization', 'org_acme', {}, 'POPUP_USER_MISMATCH'],
    ['into an organization', undefined, { organization: 'org_globex' }, 'AUTHORIZATION_CODE_GRANT_ERROR'],
  ])('%s, at a provider that ignores the requested one', async (_what, from, requested, code) => {
    const { browser, session } = await signedIn({}, { user: 'bob' }, from ? `?organization=${from}` : '')
    const before = await session()
    const remove = world.provider.tamperIdToken((claims) => {
      delete claims['org_id']
      delete claims['org_name']
    })
    const response = await world.login(browser, popupQuery(requested), { user: 'bob' })
    remove()
    expect(await errorIn(response)).toMatchObject({ code })
    expect(await session()).toEqual(before)
  })

  test.each([
    ['that no option names', {}],
    ['other than the configured one', { authorizationParameters: { organization: 'org_globex' } }],
  ])('and requests the organization of the session, one %s', async (_which, options) => {
    const { browser, client, session } = await signedIn(options)
    const started = await client.startInteractiveLogin(
      { authorizationParameters: { organization: 'org_acme' } },
      browser.request('/'),
    )
    browser.store(started)
    const url = started.headers.get('location') ?? ''
    await browser.send(await world.authorize(url, { user: 'bob' }))
    const { accessToken } = (await session()).tokenSet
    const told = await run(await world.login(browser, popupQuery(), { user: 'bob' }))
    expect(told.opener[0]?.message).toMatchObject({ success: true, user: { sub: 'dev|bob' } })
    const after = await session()
    expect(after.user['org_id']).toBe('org_acme')
    expect(after.tokenSet.accessToken).not.toBe(accessToken)
  })

  test('to another user, even if a hook renamed the user and removed the ID token', async () => {
    const { browser, session } = await signedIn({
      beforeSessionSaved: ({ tokenSet: { idToken: _removed, ...tokenSet }, ...data }) => ({
        ...data,
        user: { sub: 'dev|alice' },
        tokenSet,
      }),
    })
    const before = await session()
    const refused = await world.login(browser, popupQuery(), { user: 'alice' })
    expect(await errorIn(refused)).toMatchObject({ code: 'POPUP_USER_MISMATCH' })
    expect(await session()).toEqual(before)
    const joined = await world.login(browser, popupQuery(), { user: 'bob' })
    expect(joined.status).toBe(200)
    expect((await session()).tokenSet.accessToken).not.toBe(before.tokenSet.accessToken)
  })
})

describe('[C4] parameters of a popup', () => {
  test('request openid, without which there is no ID token, for an audience whose configured scope lacks it', async () => {
    const scope = { [API]: 'openid offline_access', [ORDERS]: 'read:orders' }
    const { browser, session } = await signedIn({ authorizationParameters: { audience: API, scope } })
    const response = await world.login(browser, popupQuery({ audience: ORDERS }), { user: 'bob' })
    expect(await errorIn(response)).toBeUndefined()
    expect((await session()).accessTokens).toMatchObject([{ audience: ORDERS }])
  })

  test.each<[keyof AuthorizationParameters, unknown]>([
    ['scope', ['read:orders']],
    ['scope', { [ORDERS]: 'read:orders' }],
    ['audience', [ORDERS]],
  ])('a call is rejected if its %s is not a string: %j', async (name, value) => {
    const { browser, client } = await signedIn()
    const started = client.startInteractiveLogin(
      { challengeMode: 'popup', authorizationParameters: { [name]: value } },
      browser.request('/step-up'),
    )
    await expect(started).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      detail: expect.stringContaining(`authorizationParameters.${name} must be a string`),
    })
  })

  const ours: AuthorizationParameters = {
    audience: API,
    acr_values: 'urn:silver',
    prompt: 'login',
    organization: 'org_acme',
    max_age: 60,
    scope: 'openid offline_access',
  }
  const theirs = {
    audience: ORDERS,
    acr_values: 'urn:gold',
    prompt: 'consent',
    organization: 'org_globex',
    max_age: '9000',
    scope: 'read:orders',
  }
  const sent = async (browser: Browser, parameters: Record<string, string>) =>
    Object.fromEntries(new URL(await world.begin(browser, popupQuery(parameters))).searchParams)

  test('with a session: audience, acr_values and prompt, and no other configured parameter', async () => {
    const { browser } = await signedIn({ authorizationParameters: ours })
    expect(await sent(browser, theirs)).toMatchObject({
      audience: ORDERS,
      acr_values: 'urn:gold',
      prompt: 'consent',
      organization: 'org_acme',
      max_age: '60',
      scope: 'openid read:orders',
    })
    expect((await sent(browser, { max_age: '5' }))['max_age']).toBe('5')
  })

  test('without a session: those of a login', async () => {
    const { browser } = world.another({ authorizationParameters: ours })
    expect(await sent(browser, theirs)).toMatchObject({
      audience: API,
      acr_values: 'urn:silver',
      prompt: 'login',
      organization: 'org_acme',
      max_age: '60',
      scope: 'openid offline_access read:orders',
    })
  })

  test.each([
    ['in cookies', undefined],
    ['in a store', memoryStore],
  ])(
    '%s: its token becomes the main one for the audience of the session, otherwise an entry',
    async (_where, store) => {
      const { browser, session } = await signedIn({
        authorizationParameters: { audience: API },
        ...(store ? { sessionStore: store() } : {}),
      })
      const before = await session()
      const response = await world.login(browser, popupQuery({ audience: ORDERS }), { user: 'bob' })
      expect(await errorIn(response)).toBeUndefined()
      const beside = await session()
      expect(beside.tokenSet.accessToken).toBe(before.tokenSet.accessToken)
      expect(beside.accessTokens?.map(({ accessToken }) => decodeJwt(accessToken).aud)).toEqual([ORDERS])
      await world.login(browser, popupQuery({ audience: API }), { user: 'bob' })
      const after = await session()
      expect(after.tokenSet.accessToken).not.toBe(before.tokenSet.accessToken)
      expect(decodeJwt(after.tokenSet.accessToken).aud).toBe(API)
    },
  )

  test.each([
    ['acr_values', 'urn:gold', 'urn:silver'],
    ['prompt', 'login', 'none'],
  ])('a session that ended meanwhile is not replaced by one with another %s', async (name, our, their) => {
    const { browser, client } = await signedIn({ authorizationParameters: { [name]: our } })
    const callback = async (value: string) =>
      world.authorize(await world.begin(browser, popupQuery({ [name]: value })), { user: 'bob' })
    const signOut = (): void => {
      for (const cookie of browser.names('__session')) browser.cookies.delete(cookie)
    }
    const weaker = await callback(their)
    const own = await callback(our)
    signOut()
    world.provider.clearRequests()
    expect(await errorIn(await browser.send(weaker))).toMatchObject({ code: 'MISSING_SESSION' })
    expect(await client.getSession(browser.request('/'))).toBeNull()
    expect(world.provider.count('token')).toBe(0)
    expect((await browser.send(own)).status).toBe(200)
  })

  test('a session that ended meanwhile is not replaced by one for that audience', async () => {
    const { browser, client } = await signedIn({ authorizationParameters: { audience: API } })
    const location = await world.authorize(await world.begin(browser, popupQuery({ audience: ORDERS })), {
      user: 'bob',
    })
    for (const name of browser.names('__session')) browser.cookies.delete(name)
    world.provider.clearRequests()
    const response = await browser.send(location)
    expect(await errorIn(response)).toMatchObject({ code: 'MISSING_SESSION' })
    expect(await client.getSession(browser.request('/'))).toBeNull()
    expect(world.provider.count('token')).toBe(0)
    const own = await world.authorize(await world.begin(browser, popupQuery({ audience: ORDERS })), {
      user: 'bob',
    })
    expect((await browser.send(own)).status).toBe(200)
    const session = await client.getSession(browser.request('/'))
    expect(decodeJwt(session?.tokenSet.accessToken ?? '').aud).toBe(API)
  })
})
