import { decodeJwt } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { AuthorizationParameters } from '../../src/config/options.ts'
import { createSealer } from '../../src/crypto/seal.ts'
import type { GuardRequirements, IdpClientOptions } from '../../src/index.ts'
import { isIdpError } from '../../src/index.ts'
import { decodeSession } from '../../src/session/cookie/codec.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { openLogin } from '../support/guard-login.ts'
import { popupQuery } from '../support/popup-page.ts'

const API = 'https://api.example.test/'
const ORDERS = 'https://orders.example.test/'
const DEFAULT = 'openid profile email offline_access'
const TTL = 600

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.clearRequests()
})

const configured = (authorizationParameters: AuthorizationParameters, more: IdpClientOptions = {}) =>
  world.another({ authorizationParameters, ...more })

const parametersOf = (url: string): Record<string, string> => Object.fromEntries(new URL(url).searchParams)

/** Parameters of the authorization request that a login link leads to. */
async function sent(
  link: Record<string, string>,
  authorizationParameters: AuthorizationParameters = {},
): Promise<Record<string, string>> {
  const { browser } = configured(authorizationParameters)
  return parametersOf(await world.begin(browser, `?${new URLSearchParams(link)}`))
}

const audienceOf = (token: string): unknown => decodeJwt(token).aud

describe('[C4] parameters of a login link', () => {
  test('audience is used if none is configured', async () => {
    expect(await sent({ audience: ORDERS }, { audience: API })).toMatchObject({ audience: API })
    expect(await sent({ audience: ORDERS })).toMatchObject({ audience: ORDERS })
  })

  test('scope is added to the configured one, and removes nothing', async () => {
    expect((await sent({ scope: 'openid' }))['scope']).toBe(DEFAULT)
    expect((await sent({ scope: 'read:things openid' }))['scope']).toBe(`${DEFAULT} read:things`)
    expect((await sent({ scope: '' }))['scope']).toBe(DEFAULT)
    expect((await sent({ scope: 'b' }, { scope: 'openid a' }))['scope']).toBe('openid a b')
    expect((await sent({ scope: 'a' }, { scope: 'openid  a' }))['scope']).toBe('openid  a')
    const map = { [API]: 'openid a', [ORDERS]: 'openid read:orders' }
    expect((await sent({ scope: 'b', audience: ORDERS }, { scope: map, audience: API }))['scope']).toBe(
      'openid a b',
    )
  })

  /** Parameters of the authorization request that a link on another page leads to. */
  async function sentFrom(
    site: string | null,
    link: Record<string, string>,
    options: IdpClientOptions = {},
  ): Promise<Record<string, string>> {
    const { browser } = world.another(options)
    const fetched = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
    const headers: Record<string, string> = site === null ? {} : { ...fetched, 'sec-fetch-site': site }
    const { headers: response } = await browser.send(`/auth/login?${new URLSearchParams(link)}`, { headers })
    return parametersOf(response.get('location') ?? '')
  }

  const LINK = { audience: ORDERS, scope: 'read:orders', acr_values: 'urn:gold' }

  test.each(['same-origin', 'none', null])('[M3] %s: audience and scope count', async (site) => {
    expect(await sentFrom(site, LINK)).toMatchObject({ ...LINK, scope: `${DEFAULT} read:orders` })
  })

  test.each(['cross-site', 'same-site', 'anything'])(
    '[M3] a page that is %s decides neither what tokens are for nor what they may do',
    async (site) => {
      world.events.length = 0
      const ignored = await sentFrom(site, LINK)
      expect(ignored).toMatchObject({ scope: DEFAULT, acr_values: 'urn:gold' })
      expect(ignored).not.toHaveProperty('audience')
      const scopeOnly = await sentFrom(site, LINK, { crossSiteLoginParameters: 'scope' })
      expect(scopeOnly).toMatchObject({ scope: `${DEFAULT} read:orders` })
      expect(scopeOnly).not.toHaveProperty('audience')
      const both = await sentFrom(site, LINK, { crossSiteLoginParameters: ['audience', 'scope'] })
      expect(both).toMatchObject({ audience: ORDERS, scope: `${DEFAULT} read:orders` })
    },
  )

  test('[M3] what was ignored is reported once, with both ways to allow it', async () => {
    Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
    const messages: string[] = []
    const logger: IdpClientOptions['logger'] = (event) => {
      if (event.code === 'NOTICE') messages.push(event.message)
    }
    for (const site of ['cross-site', 'same-site']) await sentFrom(site, LINK, { logger })
    expect(messages).toEqual([
      expect.stringMatching(/audience or scope.*startInteractiveLogin.*crossSiteLoginParameters/),
    ])
    expect(messages.join()).not.toContain('orders')
  })

  test('[L6] a scope has at most 512 characters', async () => {
    const status = async (scope: string) =>
      (await world.newBrowser().send(`/auth/login?${new URLSearchParams({ scope })}`)).status
    expect(await status('x'.repeat(512))).toBe(302)
    expect(await status('x'.repeat(513))).toBe(400)
  })

  const isFromLink = async (browser: Browser): Promise<true | undefined> => {
    const { value = '' } = browser.cookies.get('__session') ?? {}
    const bytes = await createSealer([SECRET]).open('session', value)
    return bytes ? decodeSession(bytes)?.fromLink : expect.fail('there is no session')
  }

  test('[L6] a session knows that a link chose scope or audience, which are not compressed with its claims', async () => {
    const chosen = async (link: Record<string, string>): Promise<true | undefined> => {
      const browser = world.newBrowser()
      await world.login(browser, `?${new URLSearchParams(link)}`)
      return isFromLink(browser)
    }
    expect(await chosen({ scope: 'read:orders' })).toBe(true)
    expect(await chosen({ audience: ORDERS })).toBe(true)
    expect(await chosen({ scope: 'openid', acr_values: 'urn:gold' })).toBeUndefined()
  })

  test('[L6] a popup requests the audience of its session, which no link chose', async () => {
    const { browser } = configured({ audience: API })
    await world.login(browser)
    const before = (await browser.session()).tokenSet.accessToken
    expect((await world.login(browser, popupQuery({ acr_values: 'urn:gold' }))).status).toBe(200)
    expect((await browser.session()).tokenSet.accessToken).not.toBe(before)
    expect(await isFromLink(browser)).toBeUndefined()
  })

  test('[M8] a link has at most 100 parameters', async () => {
    const { browser } = configured({})
    const link = (count: number) => `/auth/login?${'x=1&'.repeat(count - 1)}screen_hint=signup`
    expect((await browser.send(link(100))).status).toBe(302)
    for (const count of [101, 10_000]) {
      const response = await browser.send(link(count))
      expect([response.status, response.headers.get('set-cookie')]).toEqual([400, null])
    }
    expect(world.events).toContainEqual(expect.objectContaining({ error: 'INVALID_REQUEST' }))
  })

  test('max_age only lowers a configured one', async () => {
    expect((await sent({ max_age: '9999999999' }, { max_age: 60 }))['max_age']).toBe('60')
    expect((await sent({ max_age: '30' }, { max_age: 60 }))['max_age']).toBe('30')
    expect((await sent({ max_age: '0' }, { max_age: 60 }))['max_age']).toBe('0')
    expect((await sent({ max_age: '900' }))['max_age']).toBe('900')
    const { browser } = configured({ max_age: 60 })
    for (const wrong of ['', '-1', '1e9', 'x'])
      expect((await browser.send(`/auth/login?max_age=${wrong}`)).status).toBe(400)
  })

  test('an authentication older than the configured max_age is rejected, even if a link raises max_age', async () => {
    const { browser } = configured({ max_age: 60 })
    const url = await world.begin(browser, '?max_age=9999999999')
    const jar = world.provider.createJar()
    world.provider.tamperIdToken(
      (claims) => {
        claims['auth_time'] = world.clock.now - 1000
      },
      { times: 1 },
    )
    const response = await browser.send(await world.authorize(url, { user: 'alice', jar }))
    expect(response.status).toBe(502)
  })

  test.each([
    ['organization', 'org_acme', 'org_globex'],
    ['acr_values', 'urn:gold', 'urn:silver'],
    ['prompt', 'login', 'none'],
  ])('%s is used if none is configured', async (name, ours, theirs) => {
    expect(await sent({ [name]: theirs }, { [name]: ours })).toMatchObject({ [name]: ours })
    expect(await sent({ [name]: '' }, { [name]: ours })).toMatchObject({ [name]: ours })
    expect(await sent({ [name]: theirs })).toMatchObject({ [name]: theirs })
  })

  test('an empty organization counts as absent', async () => {
    expect(await sent({ organization: '' })).not.toHaveProperty('organization')
  })

  test('the configured organization is checked, whatever the link contains', async () => {
    for (const organization of ['', 'org_globex']) {
      const { browser, client } = configured({ organization: 'org_acme' })
      const url = await world.begin(browser, `?${new URLSearchParams({ organization })}`)
      // A provider that lets the user choose another one.
      const elsewhere = new URL(url)
      elsewhere.searchParams.set('organization', 'org_globex')
      const response = await browser.send(await world.authorize(elsewhere.href, { user: 'bob' }))
      expect(response.status).toBe(502)
      expect(await client.getSession(browser.request('/'))).toBeNull()
    }
  })

  test.each(['authorization_details', 'registration', 'target_link_uri', 'id_token_hint'])(
    '%s is dropped',
    async (name) => {
      expect(await sent({ [name]: '[]' })).not.toHaveProperty(name)
      expect(await sent({ [name]: '[1]' }, { [name]: '[2]' })).toMatchObject({ [name]: '[2]' })
    },
  )

  test('[I3] an iss that is not the issuer is rejected, and target_link_uri has no effect', async () => {
    const { issuer } = world.provider
    expect(await sent({ iss: issuer })).not.toHaveProperty('iss')
    for (const iss of ['https://evil.example', `${issuer}/`, '', issuer.toUpperCase()]) {
      const browser = world.newBrowser()
      const response = await browser.send(`/auth/login?${new URLSearchParams({ iss })}`)
      expect([response.status, response.headers.get('location')]).toEqual([400, null])
      expect(browser.names('__txn_')).toEqual([])
    }
    const link = new URLSearchParams({ iss: issuer, target_link_uri: 'https://evil.example/' })
    const response = await world.login(world.newBrowser(), `?${link}`)
    expect(response.headers.get('location')).toBe(`${APP}/`)
  })

  test('parameters that are neither configured nor restricted are accepted', async () => {
    expect(await sent({ ui_locales: 'de', login_hint: 'alice', connection: 'github' })).toMatchObject({
      ui_locales: 'de',
      login_hint: 'alice',
      connection: 'github',
    })
  })

  test('code of the application may set every parameter', async () => {
    const { browser, client } = configured({
      audience: API,
      max_age: 60,
      organization: 'org_acme',
      acr_values: 'urn:gold',
      prompt: 'login',
    })
    const own = {
      audience: ORDERS,
      scope: 'openid',
      max_age: 900,
      organization: 'org_globex',
      acr_values: 'urn:silver',
      prompt: 'none',
      id_token_hint: 'x',
      authorization_details: '[]',
    }
    const response = await client.startInteractiveLogin(
      { authorizationParameters: own },
      browser.request('/'),
    )
    expect(parametersOf(response.headers.get('location') ?? '')).toMatchObject({ ...own, max_age: '900' })
  })
})

describe('[C4] the audience of a session', () => {
  const plainToken = async ({ browser, client }: ReturnType<World['another']>, refresh = false) => {
    const headers = new Headers()
    const { token } = await client.getAccessToken(browser.request('/'), headers, { refresh })
    browser.store(new Response(null, { headers }))
    return audienceOf(token)
  }

  test('getAccessToken without options returns a token for the configured API, whatever the link contained', async () => {
    const made = configured({ audience: API })
    await world.login(made.browser, `?audience=${encodeURIComponent(ORDERS)}`)
    expect([await plainToken(made), await plainToken(made, true)]).toEqual([API, API])
  })

  test.each([
    ['in cookies', undefined],
    ['in a store', memoryStore],
  ])('%s: of a login that the application started for another API, it is that API', async (_where, store) => {
    const made = configured({ audience: API }, store ? { sessionStore: store() } : {})
    const { browser, client } = made
    const started = await client.startInteractiveLogin(
      { authorizationParameters: { audience: ORDERS } },
      browser.request('/'),
    )
    browser.store(started)
    await browser.send(await world.authorize(started.headers.get('location') ?? ''))
    expect([await plainToken(made), await plainToken(made, true), await plainToken(made)]).toEqual([
      ORDERS,
      ORDERS,
      ORDERS,
    ])
    world.provider.clearRequests()
    const { token } = await client.getAccessToken(browser.request('/'), new Headers(), { scope: 'email' })
    expect([audienceOf(token), world.provider.count('token')]).toEqual([ORDERS, 0])
  })
})

/** A user in front of a guarded page. */
class SimulatedUser {
  readonly browser: Browser
  readonly #page: (request: Request) => Response | Promise<Response>
  readonly #jar = world.provider.createJar()

  constructor(requirements: GuardRequirements, options: IdpClientOptions) {
    const { browser, client } = world.another(options)
    this.browser = browser
    this.#page = client.withPageAuthRequired(() => new Response('in'), requirements)
  }

  /** The query of the login that the page leads to, `'in'`, or the code that it throws. */
  async page(): Promise<string> {
    try {
      const response = await this.#page(this.browser.request('/vault'))
      if (response.status === 200) return response.text()
      return new URL(response.headers.get('location') ?? '', APP).search
    } catch (error) {
      if (isIdpError(error)) return error.code
      throw error
    }
  }

  async logIn(query = ''): Promise<Record<string, string>> {
    const url = await world.begin(this.browser, query)
    const location = await world.authorize(url, { user: 'bob', jar: this.#jar })
    expect((await this.browser.send(location)).status).toBe(302)
    return parametersOf(url)
  }

  /** Follows the page to its end; what was sent for each login. */
  async walk(): Promise<{ end: string; sent: Record<string, string>[] }> {
    const requests: Record<string, string>[] = []
    for (;;) {
      const next = await this.page()
      if (!next.startsWith('?')) return { end: next, sent: requests }
      expect(requests.length).toBeLessThan(4)
      requests.push(await this.logIn(next))
    }
  }
}

describe('[C4] parameters of a guard', () => {
  const options: IdpClientOptions = {
    authorizationParameters: { acr_values: 'urn:silver', organization: 'org_acme', max_age: 900 },
  }
  const demand: GuardRequirements = {
    acr: 'urn:gold',
    organization: 'org_globex',
    maxAge: 300,
    scope: 'email',
  }

  test('are added to configured ones and satisfied after one login', async () => {
    const user = new SimulatedUser(demand, options)
    await user.logIn()
    const { end, sent: requests } = await user.walk()
    expect([end, requests]).toEqual([
      'in',
      [expect.objectContaining({ acr_values: 'urn:gold', organization: 'org_globex', max_age: '300' })],
    ])
  })

  test('are one encrypted and authenticated query parameter', async () => {
    const user = new SimulatedUser(demand, options)
    const query = await user.page()
    const parameters = new URLSearchParams(query)
    expect([...parameters.keys()].sort()).toEqual(['guard', 'returnTo'])
    const sealed = parameters.get('guard') ?? ''
    expect(await createSealer([SECRET]).isCurrent('guard', sealed)).toBe(true)
    const plain = { acr_values: 'urn:silver', organization: 'org_acme', max_age: '900' }
    const transaction = await createSealer([SECRET]).seal('transaction', Buffer.from('{"v":1}'))
    const changed = sealed.slice(0, -2) + (sealed.endsWith('AA') ? 'BA' : 'AA')
    for (const forged of [changed, 'x', '', transaction]) {
      parameters.set('guard', forged)
      const begun = parametersOf(await world.begin(user.browser, `?${parameters}`))
      expect(begun).toMatchObject(plain)
      expect(begun).not.toHaveProperty('guard')
    }
  })

  test('of another client with the same secret are ignored', async () => {
    const { clientId = '', clientSecret = '' } = await world.provider.addClient({ clientId: 'other-app' })
    const other = new SimulatedUser(demand, { ...options, clientId, clientSecret })
    const user = new SimulatedUser(demand, options)
    const begun = parametersOf(await world.begin(user.browser, await other.page()))
    expect(begun).toMatchObject({ acr_values: 'urn:silver', organization: 'org_acme' })
  })

  test('are valid for 10 minutes', async () => {
    const user = new SimulatedUser(demand, options)
    const query = await user.page()
    const acrAfter = async (seconds: number) => {
      world.clock.now += seconds
      try {
        return parametersOf(await world.begin(user.browser, query))['acr_values']
      } finally {
        world.clock.now -= seconds
      }
    }
    expect([await acrAfter(599), await acrAfter(600)]).toEqual(['urn:gold', 'urn:silver'])
  })

  test('cannot be weakened by a link', async () => {
    const user = new SimulatedUser(demand, options)
    const link = '&acr_values=urn:bronze&organization=org_acme&max_age=9999&scope=read:things'
    const begun = parametersOf(await world.begin(user.browser, (await user.page()) + link))
    expect(begun).toMatchObject({
      acr_values: 'urn:gold',
      organization: 'org_globex',
      max_age: '300',
      scope: `${DEFAULT} read:things`,
    })
    const lower = await world.begin(user.browser, `${await user.page()}&max_age=10`)
    expect(parametersOf(lower)['max_age']).toBe('10')
  })

  test('in `login` of an API guard have the same effect, with a redirect and in a popup', async () => {
    const { browser, client } = world.another(options)
    const api = client.withApiAuthRequired(() => new Response('in'), demand)
    const visit = { user: 'bob', jar: world.provider.createJar() }
    await world.login(browser, '', visit)
    const refused = await api(browser.request('/api'))
    const { login } = (await refused.json()) as { login: Record<string, string> }
    expect([refused.status, Object.keys(login)]).toEqual([401, ['guard']])
    for (const mode of [{}, { challengeMode: 'popup' }]) {
      const url = await world.begin(browser, `?${new URLSearchParams({ ...login, ...mode })}`)
      expect(parametersOf(url)).toMatchObject({ acr_values: 'urn:gold', organization: 'org_globex' })
    }
    await world.login(browser, `?${new URLSearchParams(login)}`, visit)
    expect(await (await api(browser.request('/api'))).text()).toBe('in')
  })

  test('end after one login if a provider ignores acr_values', async () => {
    const user = new SimulatedUser({ acr: 'urn:gold' }, options)
    const undo = world.provider.tamperIdToken((claims) => {
      claims['acr'] = 'urn:silver'
    })
    try {
      await user.logIn()
      const { end, sent: requests } = await user.walk()
      expect([end, requests.length]).toEqual(['INSUFFICIENT_USER_AUTHENTICATION', 1])
    } finally {
      undo()
    }
  })

  test('the callback rejects another organization than the requested one and does not redirect again', async () => {
    const user = new SimulatedUser({ organization: 'org_globex' }, options)
    const url = new URL(await world.begin(user.browser, await user.page()))
    url.searchParams.set('organization', 'org_acme')
    const response = await user.browser.send(await world.authorize(url.href, { user: 'bob' }))
    expect([response.status, response.headers.has('location')]).toEqual([502, false])
  })

  test('of several organizations the user chooses, not the configuration; a provider without a choice ends the login', async () => {
    const user = new SimulatedUser({ organization: ['org_globex', 'org_umbrella'] }, options)
    await user.logIn()
    const { end, sent: requests } = await user.walk()
    expect([end, requests.length]).toEqual(['WRONG_ORGANIZATION', 1])
    expect(requests[0]).not.toHaveProperty('organization')
    const listed = new SimulatedUser({ organization: ['org_globex', 'org_acme'] }, options)
    const { end: last, sent: once } = await listed.walk()
    expect([last, once.map(({ organization }) => organization)]).toEqual(['in', ['org_acme']])
  })

  test('the fingerprint is of the parameters that were sent: a link without an effect stops no guard', async () => {
    const user = new SimulatedUser({ acr: 'urn:gold' }, options)
    // The session comes from a login for silver, whatever its link said.
    await user.logIn('?acr_values=urn:gold')
    expect((await user.walk()).end).toBe('in')
  })

  test('[M3] a scope that a link has added is kept by the login of a guard, as a scope of a link', async () => {
    const user = new SimulatedUser({ acr: 'urn:gold' }, { authorizationParameters: { audience: API } })
    await user.logIn('?scope=read:things')
    const query = new URLSearchParams(await user.page())
    // Sealed, so that no link of another site could have chosen it.
    expect([...query.keys()].sort()).toEqual(['guard', 'returnTo'])
    expect(await openLogin(Object.fromEntries(query))).toEqual({ acr_values: 'urn:gold', returnTo: '/vault' })
    const { end, sent: requests } = await user.walk()
    expect([end, requests[0]?.['scope']]).toEqual(['in', `${DEFAULT} read:things`])
  })
})

describe("[C8] the scope of a guard if the provider's response names none", () => {
  const granting = (scope?: string) =>
    world.provider.rewrite('token', ({ scope: _named, ...json }) =>
      scope === undefined ? json : { ...json, scope },
    )

  test.each([
    ['in cookies', undefined],
    ['in a store', memoryStore],
  ])(
    '%s: a scope that a link requested does not pass, one that the guard requested does',
    async (_where, store) => {
      const undo = granting()
      try {
        const user = new SimulatedUser({ scope: 'admin' }, store ? { sessionStore: store() } : {})
        await user.logIn('?scope=admin')
        expect((await user.page()).startsWith('?')).toBe(true)
        const { end, sent: requests } = await user.walk()
        expect([end, requests.length]).toEqual(['in', 1])
      } finally {
        undo()
      }
    },
  )

  test('a scope that the configuration or code of the application requested passes, also after a refresh', async () => {
    const undo = granting()
    try {
      const { browser, client } = configured({ scope: 'openid offline_access a' })
      const page = (scope: string) =>
        client.withPageAuthRequired(() => new Response('in'), { scope })(browser.request('/vault'))
      const own = { authorizationParameters: { scope: 'openid offline_access a b' } }
      const started = await client.startInteractiveLogin(own, browser.request('/'))
      browser.store(started)
      await browser.send(await world.authorize(started.headers.get('location') ?? ''))
      const shown = async () => Promise.all(['a', 'b', 'c'].map(async (scope) => (await page(scope)).status))
      expect(await shown()).toEqual([200, 200, 302])
      const headers = new Headers()
      await client.getAccessToken(browser.request('/'), headers, { refresh: true })
      browser.store(new Response(null, { headers }))
      expect(await shown()).toEqual([200, 200, 302])
      // Its query comes from the browser, too.
      await browser.send('/auth/access-token?scope=c')
      expect(await shown()).toEqual([200, 200, 302])
    } finally {
      undo()
    }
  })

  test('a popup with the parameters of a guard satisfies it', async () => {
    const undo = granting()
    try {
      const { browser, client } = world.another()
      const api = client.withApiAuthRequired(() => new Response('in'), { scope: 'admin' })
      await world.login(browser)
      const { login } = (await (await api(browser.request('/api'))).json()) as {
        login: Record<string, string>
      }
      await world.login(browser, '?challengeMode=popup&scope=admin')
      expect((await api(browser.request('/api'))).status).toBe(403)
      await world.login(browser, `?${new URLSearchParams({ ...login, challengeMode: 'popup' })}`)
      expect((await api(browser.request('/api'))).status).toBe(200)
    } finally {
      undo()
    }
  })

  test('a scope in the response is the granted one', async () => {
    const undo = granting('openid')
    try {
      const user = new SimulatedUser({ scope: 'admin' }, {})
      await user.logIn()
      expect((await user.walk()).end).toBe('INSUFFICIENT_SCOPE')
    } finally {
      undo()
    }
  })
})
