import type { DevProvider } from 'idp-dev-provider'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { GuardRequirements, IdpClientOptions } from '../../src/index.ts'
import { isIdpError } from '../../src/index.ts'
import type { Browser, World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { openLogin } from '../support/guard-login.ts'

let world: World
beforeEach(async () => {
  world = await startWorld()
})
afterEach(() => world.provider.stop())

function pass(seconds: number): void {
  world.clock.now += seconds
}

type Visit = NonNullable<Parameters<DevProvider['login']>[1]>

/** One user with one browser, for one guarded page and one guarded API. */
class SimulatedUser {
  readonly #browser: Browser
  readonly #page: (request: Request) => Response | Promise<Response>
  readonly #api: (request: Request) => Response | Promise<Response>
  readonly #visit: Visit
  /** Query of the login route that the page led to. */
  #login: Record<string, string> = {}

  constructor(requirements: GuardRequirements, options: IdpClientOptions = {}, user = 'alice') {
    const { browser, client } = world.another(options)
    this.#browser = browser
    this.#page = client.withPageAuthRequired(() => new Response('in'), requirements)
    this.#api = client.withApiAuthRequired(() => new Response('in'), requirements)
    this.#visit = { user, jar: world.provider.createJar() }
  }

  /** The result of the page: `'in'`, the parameters of a login, or the code that it throws. */
  async page(): Promise<string | Readonly<Record<string, string>>> {
    try {
      const response = await this.#page(this.#browser.request('/vault?a=1'))
      if (response.status === 200) return response.text()
      const login = new URL(response.headers.get('location') ?? '', APP)
      expect([response.status, login.pathname]).toEqual([302, '/auth/login'])
      const { returnTo, ...parameters } = Object.fromEntries(login.searchParams)
      expect(returnTo).toBe('/vault?a=1')
      this.#login = parameters
      return openLogin(parameters)
    } catch (error) {
      if (isIdpError(error)) return error.code
      throw error
    }
  }

  async api(): Promise<{ status: number; challenge: string | null; body: unknown }> {
    const response = await this.#api(this.#browser.request('/api/vault'))
    const text = await response.text()
    if (text !== 'in') expect(response.headers.get('cache-control')).toContain('no-store')
    const challenge = response.headers.get('www-authenticate')
    if (text === 'in') return { status: response.status, challenge, body: text }
    const { login, ...body } = JSON.parse(text)
    const opened = login ? { login: await openLogin(login) } : {}
    return { status: response.status, challenge, body: { ...body, ...opened } }
  }

  /** A login with single sign-on at the provider; returns the response of the callback. */
  async logIn(parameters: Record<string, string> = {}): Promise<Response> {
    const query = new URLSearchParams({ ...parameters, returnTo: '/vault?a=1' })
    return world.login(this.#browser, `?${query}`, this.#visit)
  }

  /** Follows the redirects of the page until it is shown or throws; the number of logins that took. */
  async walk(): Promise<{ end: string; logins: number }> {
    for (let logins = 0; logins < 5; logins++) {
      const result = await this.page()
      if (typeof result === 'string') return { end: result, logins }
      expect((await this.logIn(this.#login)).headers.get('location')).toBe(`${APP}/vault?a=1`)
    }
    return { end: 'round and round', logins: 5 }
  }
}

describe('maxAge', () => {
  test('[S101] an old authentication causes a login that is recent', async () => {
    const user = new SimulatedUser({ maxAge: 300 })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
    pass(340)
    expect(await user.page()).toBe('in')
    pass(40)
    expect(await user.page()).toEqual({ max_age: '300' })
    expect(await user.api()).toEqual({
      status: 401,
      challenge:
        'Bearer error="insufficient_user_authentication", error_description="The user has to authenticate again or with another factor.", max_age="300"',
      body: {
        error: 'insufficient_user_authentication',
        code: 'INSUFFICIENT_USER_AUTHENTICATION',
        description: 'The user has to authenticate again or with another factor.',
        login: { max_age: '300' },
      },
    })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
    expect((await user.api()).body).toBe('in')
  })

  test('a login by single sign-on is as old as the authentication behind it', async () => {
    const user = new SimulatedUser({ maxAge: 300 })
    await user.walk()
    pass(1000)
    await user.logIn()
    expect(await user.page()).toEqual({ max_age: '300' })
  })

  test('without auth_time the age is unknown', async () => {
    const user = new SimulatedUser({ maxAge: 300 })
    await user.logIn()
    expect(await user.page()).toEqual({ max_age: '300' })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
  })

  test('the age continues over a refresh', async () => {
    const { client, browser } = world.another()
    const page = client.withPageAuthRequired(() => new Response('in'), { maxAge: 300 })
    await world.login(browser, '?max_age=300')
    pass(380)
    const headers = new Headers()
    await client.getAccessToken(browser.request('/'), headers, { refresh: true })
    browser.store(new Response(null, { headers }))
    expect((await page(browser.request('/vault'))).status).toBe(302)
  })

  test('a shorter configured max_age is kept', async () => {
    const shorter = new SimulatedUser({ maxAge: 300 }, { authorizationParameters: { max_age: 60 } })
    expect(await shorter.page()).toEqual({ max_age: '60' })
    const longer = new SimulatedUser({ maxAge: 300 }, { authorizationParameters: { max_age: 900 } })
    expect(await longer.page()).toEqual({ max_age: '300' })
  })

  test('clockSkew and clockTolerance are those of the callback', async () => {
    const user = new SimulatedUser({ maxAge: 0 }, { dpopOptions: { clockSkew: 500, clockTolerance: 30 } })
    world.provider.clock.advance(500)
    await user.logIn({ max_age: '0' })
    pass(15)
    expect(await user.page()).toBe('in')
    pass(30)
    expect(await user.page()).toEqual({ max_age: '0' })
  })
})

describe('acr and amr', () => {
  test('a weak authentication causes a login with acr_values', async () => {
    const user = new SimulatedUser({ acr: ['urn:silver', 'urn:gold'] })
    await user.logIn()
    expect(await user.page()).toEqual({ acr_values: 'urn:silver urn:gold' })
    const { status, challenge, body } = await user.api()
    expect([status, challenge]).toEqual([401, expect.stringContaining('acr_values="urn:silver urn:gold"')])
    expect(body).toMatchObject({ login: { acr_values: 'urn:silver urn:gold' } })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
  })

  test('an amr cannot be requested, but is checked', async () => {
    const user = new SimulatedUser({ amr: ['pwd', 'otp'], acr: 'urn:gold' })
    await user.logIn()
    expect(await user.page()).toEqual({ acr_values: 'urn:gold' })
    world.provider.tamperIdToken((claims) => {
      claims['amr'] = ['pwd', 'otp']
    })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
  })

  test('hooks cannot make a weak authentication strong', async () => {
    const strong = { acr: 'urn:gold', amr: ['otp'], auth_time: world.clock.now, org_id: 'org_acme' }
    const options: IdpClientOptions = {
      beforeSessionSaved: (session) => ({ ...session, user: { ...session.user, ...strong } }),
    }
    for (const requirements of [
      { acr: 'urn:gold' },
      { amr: 'otp' },
      { maxAge: 60 },
      { organization: 'org_acme' },
    ]) {
      const user = new SimulatedUser(requirements, options)
      await user.logIn()
      expect(await user.page()).not.toBe('in')
      expect((await user.api()).status).toBeGreaterThan(400)
    }
  })
})

describe('organization and scope', () => {
  test('another organization causes a login for the right one', async () => {
    const user = new SimulatedUser({ organization: 'org_acme' }, {}, 'bob')
    await user.logIn({ organization: 'org_globex' })
    expect(await user.page()).toEqual({ organization: 'org_acme' })
    expect(await user.api()).toEqual({
      status: 403,
      challenge: null,
      body: {
        error: 'wrong_organization',
        code: 'WRONG_ORGANIZATION',
        description: 'The session belongs to another organization than the required one.',
        login: { organization: 'org_acme' },
      },
    })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
  })

  test('the user chooses one of several, and one of them is enough', async () => {
    const user = new SimulatedUser({ organization: ['ACME', 'org_globex'] }, {}, 'bob')
    expect(await user.page()).toEqual({ organization: '' })
    await user.logIn({ organization: 'org_globex' })
    expect(await user.page()).toBe('in')
    await user.logIn({ organization: 'org_acme' })
    expect(await user.page()).toBe('in')
  })

  test('of several the configured one is requested', async () => {
    const organizations = ['org_globex', 'org_acme']
    const configured = { authorizationParameters: { organization: 'org_acme' } }
    const user = new SimulatedUser({ organization: organizations }, configured, 'bob')
    expect(await user.page()).toEqual({ organization: 'org_acme' })
  })

  test('a missing scope causes a login with the configured scope and the missing one', async () => {
    const user = new SimulatedUser({ scope: ['read:things', 'write:things'] }, api)
    await user.logIn()
    const asked = 'read:things write:things'
    expect(await user.page()).toEqual({ scope: asked })
    expect(await user.api()).toMatchObject({
      status: 403,
      challenge: expect.stringMatching(
        /^Bearer error="insufficient_scope".* scope="read:things write:things"$/,
      ),
      body: { code: 'INSUFFICIENT_SCOPE', login: { scope: asked } },
    })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
  })

  test('with a scope per audience it is added to that of the login', async () => {
    const scope = { 'https://api.example.test/': 'openid offline_access', other: 'x' }
    const user = new SimulatedUser(
      { scope: 'read:things' },
      { authorizationParameters: { ...api.authorizationParameters, scope } },
    )
    expect(await user.page()).toEqual({ scope: 'read:things' })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
    const scopes = world.provider.requests('authorize').flatMap(({ query }) => query['scope'] ?? [])
    expect(scopes).toEqual(['openid offline_access read:things'])
  })

  const api = {
    authorizationParameters: { audience: 'https://api.example.test/' },
  } satisfies IdpClientOptions
})

describe('all requirements together', () => {
  test('cause one login, also for a browser without a session', async () => {
    const requirements = { maxAge: 60, acr: 'urn:gold', amr: 'pwd', organization: 'org_acme', scope: 'email' }
    world.provider.tamperIdToken((claims) => {
      claims['amr'] = ['pwd']
    })
    const user = new SimulatedUser(requirements)
    const parameters = { max_age: '60', acr_values: 'urn:gold', organization: 'org_acme', scope: 'email' }
    expect(await user.page()).toEqual(parameters)
    expect(await user.api()).toMatchObject({ status: 401, body: { code: 'NOT_AUTHENTICATED' } })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
    pass(200)
    expect(await user.page()).toEqual(parameters)
    expect((await user.api()).challenge).toMatch(/, acr_values="urn:gold", max_age="60"$/)
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
  })

  test('are checked in order: authentication, then organization, then scope', async () => {
    const requirements = { acr: 'urn:gold', organization: 'org_acme', scope: 'email' }
    const given: readonly [{ scope: string; [name: string]: string }, number, string | undefined][] = [
      [{ scope: 'openid' }, 401, 'INSUFFICIENT_USER_AUTHENTICATION'],
      [{ scope: 'openid', organization: 'org_acme' }, 401, 'INSUFFICIENT_USER_AUTHENTICATION'],
      [{ scope: 'openid', acr_values: 'urn:gold' }, 403, 'WRONG_ORGANIZATION'],
      [{ scope: 'openid', acr_values: 'urn:gold', organization: 'org_acme' }, 403, 'INSUFFICIENT_SCOPE'],
      [{ scope: 'openid email', acr_values: 'urn:gold', organization: 'org_acme' }, 200, undefined],
    ]
    for (const [{ scope, ...parameters }, status, code] of given) {
      const user = new SimulatedUser(requirements, { authorizationParameters: { scope } })
      await user.logIn(parameters)
      const response = await user.api()
      expect([response.status, (response.body as { code?: string }).code]).toEqual([status, code])
    }
  })
})

describe('nested guards', () => {
  const acr = { acr: 'urn:gold' }
  const organization = { organization: 'org_acme' }
  const scope = { scope: 'read:things' }
  const pairs: [GuardRequirements, GuardRequirements][] = [
    [organization, acr],
    [acr, organization],
    [scope, acr],
    [acr, scope],
    [scope, organization],
    [organization, scope],
  ]

  test.each(pairs)(
    '%j around %j: the request of one is kept by the login of the other',
    async (...guards) => {
      const { browser, client } = world.another({
        authorizationParameters: { audience: 'https://api.example.test/' },
      })
      const visit = { user: 'bob', jar: world.provider.createJar() }
      const pages = guards.map((guard) => client.withPageAuthRequired(() => new Response('in'), guard))
      let logins = 0
      for (;;) {
        const responses = await Promise.all(pages.map((page) => page(browser.request('/vault'))))
        const refused = responses.find(({ status }) => status !== 200)
        if (!refused) break
        expect(++logins).toBeLessThan(5)
        const { search } = new URL(refused.headers.get('location') ?? '', APP)
        expect((await world.login(browser, search, visit)).status).toBe(302)
      }
      expect(logins).toBeLessThanOrEqual(3)
    },
  )
})

describe('a login that does not meet the requirement', () => {
  const cases: [string, GuardRequirements, (claims: Record<string, unknown>) => void, string][] = [
    ['ignores acr_values', { acr: 'urn:gold' }, (c) => delete c['acr'], 'INSUFFICIENT_USER_AUTHENTICATION'],
    ['never sends the amr', { amr: 'otp' }, (c) => delete c['amr'], 'INSUFFICIENT_USER_AUTHENTICATION'],
    ['never names the organization', { organization: ['a', 'b'] }, () => {}, 'WRONG_ORGANIZATION'],
    ['grants less scope', { scope: 'unheard:of' }, () => {}, 'INSUFFICIENT_SCOPE'],
  ]

  test.each(cases)(
    'is not repeated endlessly for a provider that %s',
    async (_what, requirements, change, code) => {
      world.provider.tamperIdToken((claims) => {
        change(claims)
      })
      if (code === 'INSUFFICIENT_SCOPE') {
        world.provider.rewrite('token', (json) => ({ ...json, scope: 'openid' }))
      }
      const user = new SimulatedUser(requirements)
      expect(await user.walk()).toEqual({ end: code, logins: 1 })
      const { body, challenge, status } = await user.api()
      expect(body).not.toHaveProperty('login')
      expect(body).toMatchObject({ code })
      expect([status, challenge !== null]).toEqual(
        code === 'INSUFFICIENT_USER_AUTHENTICATION' ? [401, true] : [403, code === 'INSUFFICIENT_SCOPE'],
      )
      // The user may have set up a second factor meanwhile.
      pass(60)
      expect(await user.page()).not.toBe(code)
      expect(await user.walk()).toEqual({ end: code, logins: 1 })
    },
  )

  test('is explained to a page, which has no response with a query', async () => {
    world.provider.rewrite('token', (json) => ({ ...json, scope: 'openid' }))
    const { browser, client } = world.another()
    const page = client.withPageAuthRequired(() => new Response('in'), { scope: 'unheard:of' })
    const { search } = new URL((await page(browser.request('/vault'))).headers.get('location') ?? '', APP)
    await world.login(browser, search)
    await expect(page(browser.request('/vault'))).rejects.toThrow(
      /^The required scope was not granted\. If a login has just not helped \(at a page, .*\), allow the scope /,
    )
  })

  test('is not confused with another login just before', async () => {
    const user = new SimulatedUser({ acr: 'urn:gold' })
    await user.logIn()
    expect(await user.page()).toEqual({ acr_values: 'urn:gold' })
    await user.logIn({ acr_values: 'urn:silver' })
    expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
  })

  test('is not confused with one that met it, and has aged since', async () => {
    const user = new SimulatedUser({ maxAge: 0 }, { dpopOptions: { clockTolerance: 20 } })
    for (let round = 0; round < 3; round++) {
      expect(await user.walk()).toEqual({ end: 'in', logins: 1 })
      pass(40)
    }
  })

  test('is recognized when sessions are in a store', async () => {
    const records = new Map<string, string>()
    const sessionStore: IdpClientOptions['sessionStore'] = {
      get: async (id) => JSON.parse(records.get(id) ?? 'null'),
      set: async (id, session) => void records.set(id, JSON.stringify(session)),
      delete: async (id) => void records.delete(id),
    }
    world.provider.tamperIdToken((claims) => {
      delete claims['acr']
    })
    const user = new SimulatedUser({ acr: 'urn:gold' }, { sessionStore })
    expect(await user.walk()).toEqual({ end: 'INSUFFICIENT_USER_AUTHENTICATION', logins: 1 })
    expect(records.size).toBe(1)
  })
})

describe('guards with options are as strict as those without', () => {
  const demand: GuardRequirements = { maxAge: 300, acr: 'urn:gold' }

  test('headers, query and body do not sign a user in', async () => {
    const handler = vi.fn(() => new Response('in'))
    const page = world.client.withPageAuthRequired(handler, demand)
    const api = world.client.withApiAuthRequired(handler, demand)
    const headers = {
      'x-user': 'alice',
      authorization: 'Bearer x',
      'x-middleware-subrequest': 'middleware:middleware',
      'x-idp-return-path': '/elsewhere',
    }
    const target = `${APP}/vault?acr=urn%3Agold&max_age=999999&auth_time=${world.clock.now}&returnTo=//evil.example`
    const init = { headers, method: 'POST', body: 'acr=urn:gold&sub=alice' }
    const refused = await page(new Request(target, init))
    const login = new URL(refused.headers.get('location') ?? '', APP)
    const { returnTo, ...parameters } = Object.fromEntries(login.searchParams)
    expect(Object.keys(parameters)).toEqual(['guard'])
    expect([login.origin, new URL(returnTo ?? '', APP).origin]).toEqual([APP, APP])
    expect(await openLogin(parameters)).toEqual({ max_age: '300', acr_values: 'urn:gold' })
    expect((await api(new Request(target, init))).status).toBe(401)
    expect(handler).not.toHaveBeenCalled()
  })

  test('every request is rejected without a usable configuration', async () => {
    const { browser } = world.another()
    await world.login(browser, '?acr_values=urn:gold&max_age=300')
    const broken: IdpClientOptions[] = [
      { secret: 'short' },
      { domain: '' },
      { clientId: '' },
      { clientSecret: '' },
    ]
    for (const options of broken) {
      const { client } = world.another(options)
      const handler = vi.fn(() => new Response('in'))
      const page = client.withPageAuthRequired(handler, demand)
      const failed = await page(browser.request('/vault'))
      expect([failed.status, failed.headers.has('location')]).toEqual([500, false])
      const refused = await client.withApiAuthRequired(handler, demand)(browser.request('/vault'))
      expect([refused.status, refused.headers.has('www-authenticate')]).toEqual([500, false])
      expect(handler).not.toHaveBeenCalled()
    }
  })

  test('a store that fails counts as no session', async () => {
    const failing = async (): Promise<never> => {
      throw new Error('down')
    }
    const { client } = world.another({ sessionStore: { get: failing, set: failing, delete: failing } })
    const records = new Map<string, string>()
    const working = world.another({
      sessionStore: {
        get: async (id) => JSON.parse(records.get(id) ?? 'null'),
        set: async (id, session) => void records.set(id, JSON.stringify(session)),
        delete: async (id) => void records.delete(id),
      },
    })
    await world.login(working.browser, '?acr_values=urn:gold&max_age=300')
    const request = working.browser.request('/vault')
    const page = client.withPageAuthRequired(() => new Response('in'), demand)
    await expect(page(request)).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED' })
    const refused = await client.withApiAuthRequired(() => new Response('in'), demand)(request)
    expect(refused.status).toBeGreaterThanOrEqual(500)
  })

  test.each([
    ['that is not in the list', [APP, 'https://two.example'], 'evil.example', 'BASE_URL_NOT_ALLOWED'],
    ['that is not a name', undefined, 'a@evil.example', 'BASE_URL_UNKNOWN'],
  ])(
    'a host %s gets no login and no page, which is a mistake of its client',
    async (_name, appBaseUrl, host, code) => {
      const { client } = world.another({ appBaseUrl })
      const handler = vi.fn(() => new Response('in'))
      const outside = (init: RequestInit = {}) => {
        const headers = { accept: 'application/json', origin: 'https://evil.example', ...init.headers, host }
        return new Request('http://evil.example/vault', { ...init, headers })
      }
      world.events.length = 0
      for (const options of [{}, demand]) {
        const page = await client.withPageAuthRequired(handler, options)(outside())
        expect([page.status, page.headers.has('location'), page.headers.getSetCookie()]).toEqual([
          400,
          false,
          [],
        ])
        expect(await page.json()).toMatchObject({ error: { code } })
        const api = client.withApiAuthRequired(handler, { ...options, sameOrigin: true })
        expect((await api(outside({ method: 'POST' }))).status).toBe(403)
      }
      expect(handler).not.toHaveBeenCalled()
      // Pages: counted, not logged each time. APIs log no refusal of a page of another origin.
      expect(world.events.map(({ code, level }) => [code, level])).toEqual([['REQUEST_FAILED', 'warn']])
    },
  )

  test('unknown options throw when the guard is created', () => {
    const { client } = world
    const handler = () => new Response('in')
    const wrong = [
      { maxAge: 300, role: 'admin' },
      { max_age: 300 },
      { maxAge: '300' },
      { acr: [] },
      null,
    ] as object[]
    for (const options of wrong) {
      for (const guard of ['withPageAuthRequired', 'withApiAuthRequired'] as const) {
        const protect: (handler: () => Response, options: object) => unknown = client[guard]
        expect(() => protect.call(client, handler, options)).toThrow(
          expect.objectContaining({ code: 'INVALID_CONFIGURATION', message: expect.stringContaining(guard) }),
        )
      }
    }
    expect(() => client.withApiAuthRequired(handler, { returnTo: '/' } as object)).toThrow(
      'returnTo is not an option',
    )
  })
})
