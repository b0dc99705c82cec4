import { decodeJwt } from 'jose'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, SessionData, SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const TTL = 600
const TOKEN = '/auth/access-token'
const API = 'https://api.example.test/'
const ORDERS = 'https://orders.example.test/'

/** A store, and how often something was written to it. */
interface Watched {
  readonly store: SessionDataStore
  writes(): number
  clear(): void
}

function watched(members: readonly (keyof SessionDataStore)[]): Watched {
  const inner = memoryStore({ name: crypto.randomUUID() })
  let writes = 0
  const entries = members.map((name) => {
    const work = inner[name] as (...given: unknown[]) => Promise<unknown>
    const call = (...given: unknown[]): Promise<unknown> => {
      if (name === 'set' || name === 'update') writes += 1
      return work(...given)
    }
    return [name, call]
  })
  return {
    store: Object.fromEntries(entries) as SessionDataStore,
    writes: () => writes,
    clear: () => {
      writes = 0
    },
  }
}

const kinds = {
  'three members': ['get', 'set', 'delete'],
  'every member': Object.keys(memoryStore({ name: 'members' })) as (keyof SessionDataStore)[],
} as const

async function read(response: Response): Promise<Record<string, unknown>> {
  return (await response.json()) as Record<string, unknown>
}

describe.each(Object.entries(kinds))('sessions in a store with %s', (_title, members) => {
  let world: World
  let client: IdpClient
  let watching: Watched
  let browser: Browser

  beforeAll(async () => {
    watching = watched(members)
    world = await startWorld({ sessionStore: watching.store }, { accessTokenTtl: TTL })
    client = world.client
  })
  afterAll(() => world.provider.stop())
  beforeEach(async () => {
    browser = world.newBrowser()
    await world.login(browser)
    world.provider.clearRequests()
    watching.clear()
  })
  afterEach(async () => {
    await world.provider.faults.up()
    world.provider.faults.clear()
  })

  function pass(seconds: number): void {
    world.clock.now += seconds
  }

  test('50 calls at once by route and operation: one refresh, 50 equal tokens, one write', async () => {
    pass(TTL + 1)
    const asked = Array.from({ length: 50 }, async (_, index) => {
      if (index % 2) return (await client.getAccessToken(browser.request('/'), new Headers())).token
      return (await read(await client.middleware(browser.request(TOKEN))))['token']
    })
    const tokens = await Promise.all(asked)
    expect(new Set(tokens).size).toBe(1)
    expect(world.refreshes()).toHaveLength(1)
    expect(watching.writes()).toBe(1)
  })

  test('50 users at once get their own tokens', async () => {
    const users = ['alice', 'bob', 'mallory']
    const browsers = await Promise.all(
      Array.from({ length: 50 }, async (_, index) => {
        const own = world.newBrowser()
        const user = users[index % users.length] ?? ''
        await world.login(own, '', { user })
        return { own, user }
      }),
    )
    pass(TTL + 1)
    world.provider.clearRequests()
    world.provider.faults.set('token', { kind: 'delay', ms: 50 })
    const results = await Promise.all(
      browsers.map(async ({ own, user }) => {
        const token = String((await read(await own.send(`${TOKEN}?audience=${API}`)))['token'])
        return { token, asked: `dev|${user}`, got: decodeJwt(token).sub }
      }),
    )
    for (const { asked, got } of results) expect(got).toBe(asked)
    expect(new Set(results.map(({ token }) => token)).size).toBe(50)
    expect(world.refreshes()).toHaveLength(50)
  })

  test.each([4, 30, 59])('a request that began %s s before its refresh has the new token', async (late) => {
    pass(TTL + 1)
    const early = browser.request('/')
    const before = await client.getSession(early)
    const { token } = await client.getAccessToken(browser.request('/'), new Headers())
    pass(late)
    // It knows the session of before; only the token that it is given must be the successor.
    expect(before?.tokenSet.accessToken).not.toBe(token)
    expect((await client.getAccessToken(early, new Headers())).token).toBe(token)
    expect(world.refreshes()).toHaveLength(1)
  })

  test('two audiences at once are refreshed one after the other, no refresh token is sent twice', async () => {
    pass(TTL + 1)
    const ask = async (audience: string) =>
      read(await client.middleware(browser.request(`${TOKEN}?audience=${audience}`)))
    const [api, orders, sameApi, sameOrders] = await Promise.all([API, ORDERS, API, ORDERS].map(ask))
    expect(api?.['token']).toBe(sameApi?.['token'])
    expect(orders?.['token']).toBe(sameOrders?.['token'])
    expect(api?.['token']).not.toBe(orders?.['token'])
    const spent = world.provider.requests('token').map(({ body, status }) => [body['refresh_token'], status])
    expect(spent).toHaveLength(2)
    expect(new Set(spent.map(([token]) => token)).size).toBe(2)
    expect(spent.map(([, status]) => status)).toEqual([200, 200])
  })

  test('proxy and page of one navigation: one refresh, the page has it, the next request sends none', async () => {
    pass(TTL + 1)
    const seen: unknown[] = []
    const response = await client.middleware(browser.request('/page'), async () => {
      seen.push((await client.getAccessToken()).token)
      seen.push((await client.getSession())?.tokenSet.accessToken)
      return new Response('page')
    })
    browser.store(response)
    const next = await client.getAccessToken(browser.request('/'), new Headers())
    expect(seen).toEqual([next.token, next.token])
    expect(world.refreshes()).toHaveLength(1)
  })

  test('where no cookie can be written a refresh is stored anyway, for every process', async () => {
    pass(TTL + 1)
    const { token } = await client.getAccessToken(browser.request('/'))
    expect(world.refreshes()).toHaveLength(1)
    expect(watching.writes()).toBe(1)
    const elsewhere = world.another({ sessionStore: watching.store })
    for (const [name, cookie] of browser.cookies) elsewhere.browser.cookies.set(name, cookie)
    const session = await elsewhere.client.getSession(elsewhere.browser.request('/'))
    expect(session?.tokenSet.accessToken).toBe(token)
  })

  test('a hundred requests in a minute: one cookie and one write at most', async () => {
    pass(400)
    let written = 0
    for (let index = 0; index < 100; index++) {
      const response = await browser.send('/page')
      written += response.headers.getSetCookie().length
    }
    expect([written, watching.writes()]).toEqual([1, 1])
  })

  test('a Server Action that changes nothing: no cookie and no write, although a roll is due', async () => {
    pass(400)
    const headers = { 'next-action': '7f'.repeat(20), 'content-type': 'text/plain;charset=UTF-8' }
    const response = await browser.send('/page', { method: 'POST', headers, body: '[]' })
    expect(response.headers.getSetCookie()).toEqual([])
    expect(watching.writes()).toBe(0)
    expect((await browser.send('/page')).headers.getSetCookie()).toHaveLength(1)
  })

  test('30 pending requests and a logout, responses in any order, do not restore the session', async () => {
    pass(TTL + 1)
    const paths = [TOKEN, '/page', '/auth/profile', `${TOKEN}?audience=${API}`]
    const requests = Array.from({ length: 30 }, (_, index) => browser.request(paths[index % 4] ?? ''))
    const flying = requests.map((request) => client.middleware(request))
    const [logout, ...responses] = await Promise.all([
      client.middleware(browser.request('/auth/logout')),
      ...flying,
    ])
    const orders = [responses, [...responses].reverse(), responses.filter((_, index) => index % 3)]
    for (const order of orders) {
      const jar = world.newBrowser()
      for (const [name, cookie] of browser.cookies) jar.cookies.set(name, cookie)
      const [first, ...rest] = order
      if (first) jar.store(first)
      if (logout) jar.store(logout)
      for (const response of rest) jar.store(response)
      expect(await client.getSession(jar.request('/'))).toBeNull()
      expect((await jar.send('/auth/profile')).status).toBe(401)
      await jar.send('/page')
      expect(jar.names('__session')).toEqual([])
    }
  })

  test('cookies of another secret, of another kind, truncated or longer: no session, no read, no failure', async () => {
    const { value = '' } = browser.cookies.get('__session') ?? {}
    const foreign = world.another({ secret: 'f'.repeat(31).concat('0123'), sessionStore: watching.store })
    await world.login(foreign.browser)
    const transaction = world.newBrowser()
    await world.begin(transaction)
    const [sealed] = [...transaction.cookies.values()].map(({ value: text }) => text.replace(/^\d+:/, ''))
    const [sid = ''] = value.split('.')
    const hostile = [
      foreign.browser.cookies.get('__session')?.value ?? '',
      sealed ?? '',
      value.slice(0, -1),
      `${value}A`,
      sid,
      value.replace(/.$/, (last) => (last === 'A' ? 'Q' : 'A')),
      '%',
      '',
    ]
    for (const text of hostile) {
      const jar = world.newBrowser()
      jar.cookies.set('__session', { value: text, text: '', path: '/' })
      expect(await client.getSession(jar.request('/'))).toBeNull()
      expect((await jar.send('/auth/profile')).status).toBe(401)
      expect((await jar.send('/page')).status).toBe(200)
    }
  })

  test('[S213] down for ten minutes: sessions and valid tokens are available, no cookie is deleted, all recover', async () => {
    const browsers = [browser, world.newBrowser(), world.newBrowser()]
    for (const other of browsers.slice(1)) await world.login(other, '', { user: 'bob' })
    const names = browsers.map((one) => one.names('__session'))
    await world.provider.faults.down()
    const statuses: number[][] = []
    for (let minute = 1; minute <= 11; minute++) {
      pass(60)
      const responses = browsers.map(async (one) => {
        expect((await one.send('/auth/profile')).status).toBe(200)
        const page = await one.send('/page')
        expect(page.headers.get('x-middleware-next')).toBe('1')
        expect(page.headers.getSetCookie().join()).not.toMatch(/max-age=0/i)
        return (await one.send(TOKEN)).status
      })
      statuses.push([...new Set(await Promise.all(responses))])
    }
    expect(statuses).toEqual([...Array(9).fill([200]), [502], [502]])
    expect(browsers.map((one) => one.names('__session'))).toEqual(names)
    const session = (await client.getSession(browser.request('/'))) as SessionData
    await client.updateSession(browser.request('/'), new Headers(), { ...session, theme: 'dark' })
    await world.provider.faults.up()
    for (const one of browsers) expect((await one.send(TOKEN)).status).toBe(200)
    expect(await client.getSession(browser.request('/'))).toMatchObject({ theme: 'dark' })
  })

  test('a logout while the provider is down ends the session in the store', async () => {
    const captured = new Map(browser.cookies)
    await world.provider.faults.down()
    const response = await browser.send('/auth/logout')
    expect(response.status).toBe(302)
    expect(browser.names('__session')).toEqual([])
    for (const [name, cookie] of captured) browser.cookies.set(name, cookie)
    expect((await browser.send('/auth/profile')).status).toBe(401)
    await world.provider.faults.up()
  })
})

describe('records of a store', () => {
  let world: World
  let start: number
  let given: unknown
  const records = new Map<string, SessionData>()
  const store: SessionDataStore = {
    get: async (id) => (given === 'the record' ? (records.get(id) ?? null) : (given as SessionData | null)),
    set: async (id, session) => {
      records.set(id, session)
    },
    delete: async (id) => {
      records.delete(id)
    },
  }

  beforeAll(async () => {
    world = await startWorld({ sessionStore: store })
    start = world.clock.now
  })
  afterAll(() => world.provider.stop())
  beforeEach(() => {
    given = 'the record'
    records.clear()
    world.clock.now = start
  })

  test.each<[string, unknown]>([
    ['null', null],
    ['undefined', undefined],
    ['a text', 'garbage'],
    ['a number', 7],
    ['an empty object', {}],
    ['a list', []],
    ['a user alone', { user: { sub: 'dev|alice' } }],
    ['no user', { tokenSet: { accessToken: 'x', expiresAt: 1 }, internal: { createdAt: 1 } }],
  ])('%s: nobody is signed in, and the dead cookie goes', async (_title, value) => {
    const browser = world.newBrowser()
    await world.login(browser)
    given = value
    expect(await world.client.getSession(browser.request('/'))).toBeNull()
    const asking = world.client.getAccessToken(browser.request('/'), new Headers())
    await expect(asking).rejects.toMatchObject({ name: 'AccessTokenError', code: 'MISSING_SESSION' })
    const api = world.client.withApiAuthRequired(async () => new Response('let in'))
    expect((await api(browser.request('/api'))).status).toBe(401)
    const profile = await browser.send('/auth/profile')
    expect([profile.status, await profile.text()]).toEqual([401, ''])
    expect(browser.names('__session')).toEqual([])
    given = 'the record'
    expect((await world.login(browser)).status).toBe(302)
    expect((await browser.send('/auth/profile')).status).toBe(200)
  })

  test('may never arrive: logins and requests without a session continue', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    given = new Promise(() => {})
    const callback = await world.authorize(await world.begin(browser), { user: 'bob' })
    expect((await browser.send(callback)).status).toBe(302)
    const anonymous = world.newBrowser()
    expect((await anonymous.send('/auth/profile')).status).toBe(401)
    expect((await anonymous.send('/page')).status).toBe(200)
    expect((await anonymous.send('/auth/logout')).status).toBe(302)
    given = 'the record'
    expect((await world.client.getSession(browser.request('/')))?.user.sub).toBe('dev|bob')
  })

  test('are rejected after the end of the session: 401, and the cookie is deleted', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    const cookies = new Map(browser.cookies)
    world.clock.now += 86_400
    expect((await browser.send('/auth/profile')).status).toBe(401)
    expect([browser.names('__session'), records.size]).toEqual([[], 1])
    world.clock.now -= 86_400
    for (const [name, cookie] of cookies) browser.cookies.set(name, cookie)
    expect((await browser.send('/auth/profile')).status).toBe(200)
  })

  test('are not extended by a clock that is set back by an hour', async () => {
    const browser = world.newBrowser()
    await world.login(browser)
    world.clock.now = start - 3600
    const request = browser.request('/')
    const headers = new Headers()
    const session = (await world.client.getSession(request)) as SessionData
    await world.client.updateSession(request, headers, { ...session, theme: 'dark' })
    const [, age] = /max-age=(-?\d+)/i.exec(headers.getSetCookie().join()) ?? []
    // Until the end that the login had, by the clock of now.
    expect(Number(age)).toBe(86_400 + 3600)
    browser.store(new Response(null, { headers }))
    world.clock.now = start + 86_400
    expect(await world.client.getSession(browser.request('/'))).toBeNull()
  })

  test('may all be lost: every user is signed out, and can log in again', async () => {
    const browsers = [world.newBrowser(), world.newBrowser()]
    for (const browser of browsers) await world.login(browser)
    records.clear()
    for (const browser of browsers) {
      expect((await browser.send('/page')).status).toBe(200)
      expect(browser.names('__session')).toEqual([])
      expect((await world.login(browser)).status).toBe(302)
      expect((await browser.send('/auth/profile')).status).toBe(200)
    }
  })
})
