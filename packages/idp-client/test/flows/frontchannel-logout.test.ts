import { decodeJwt } from 'jose/jwt/decode'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import type { IdpClient, IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { customFetch, isContinue } from '../../src/index.ts'
import type { Browser } from '../support/app.ts'
import { APP } from '../support/app.ts'
import type { LogoutWorld } from '../support/logout-world.ts'
import { startLogoutWorld, toldStore } from '../support/logout-world.ts'
import { rejectionOf } from '../support/provider-engine.ts'

const ROUTE = '/auth/frontchannel-logout'
const SUB = 'dev|alice'
const FRAME = { 'sec-fetch-dest': 'iframe', 'sec-fetch-mode': 'navigate', 'sec-fetch-site': 'cross-site' }

let world: LogoutWorld
beforeAll(async () => {
  world = await startLogoutWorld({ frontChannelLogout: true })
})
afterAll(() => world.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.store.told.length = 0
  world.store.failing.clear()
  world.events.length = 0
  // More than the pause between two lines of the log, and a new second of the limit.
  world.clock.now += 61
})

interface Sent {
  readonly init?: RequestInit
  readonly client?: IdpClient
}

/** Requests the route as an iframe on a page of the provider does: without a cookie, unless `init` has one. */
async function send(query: string, { client = world.client, init = {} }: Sent = {}) {
  const headers = new Headers({ host: new URL(APP).host, ...FRAME })
  for (const [name, value] of new Headers(init.headers)) headers.set(name, value)
  const response = await client.middleware(new Request(APP + ROUTE + query, { ...init, headers }))
  const text = await response.text()
  const code: unknown = text === '' ? undefined : JSON.parse(text).error.code
  return { status: response.status, code, text, headers: response.headers }
}

function toQuery(parameters: Record<string, string>): string {
  return `?${new URLSearchParams(parameters)}`
}

const named = (sid: string, iss: string = world.provider.issuer): string => toQuery({ iss, sid })

function another(options: IdpClientOptions): IdpClient {
  return world.another(options).client
}

describe('a request of the provider', () => {
  test('ends exactly the session that it names, by issuer and sid', async () => {
    const [one, two] = [await world.signedIn(), await world.signedIn()]
    const sid = await world.sidOf(one)
    world.events.length = 0
    const response = await send(named(sid))
    expect([response.status, response.text]).toEqual([200, ''])
    expect(world.store.told).toEqual([{ iss: world.provider.issuer, sid, iat: world.clock.now }])
    expect(world.store.told[0]).not.toHaveProperty('sub')
    expect([await world.userOf(one), await world.userOf(two)]).toEqual([null, SUB])
    expect(world.events).toEqual([
      { level: 'info', code: 'FRONTCHANNEL_LOGOUT', id: expect.stringMatching(/^[\w-]{36}$/) },
    ])
  })

  test('gets the same response whether there was a session or not, and may be in a frame of the provider', async () => {
    const browser = await world.signedIn()
    const sid = await world.sidOf(browser)
    const responses = [await send(named(sid)), await send(named(sid)), await send(named('unknown'))]
    const seen = responses.map(({ headers, status, text }) => ({ headers: [...headers], status, text }))
    expect(new Set(seen.map((each) => JSON.stringify(each))).size).toBe(1)
    const { headers } = responses[0] ?? (await send(named(sid)))
    expect(headers.get('content-security-policy')).toBe(`frame-ancestors ${world.provider.origin}`)
    expect(headers.get('cache-control')).toContain('no-store')
    expect(headers.has('x-frame-options')).toBe(false)
    expect(headers.getSetCookie()).toEqual([])
  })

  test('needs no Fetch Metadata: browsers send none on plain http', async () => {
    const browser = await world.signedIn()
    const url = APP + ROUTE + named(await world.sidOf(browser))
    const headers = { host: new URL(APP).host }
    expect((await world.client.middleware(new Request(url, { headers }))).status).toBe(200)
    expect(await world.userOf(browser)).toBeNull()
  })

  test('neither reads nor changes a cookie, also of another session in the same browser', async () => {
    const [here, there] = [await world.signedIn(), await world.signedIn()]
    const cookies = [...here.cookies].map(([name, { value }]) => `${name}=${value}`).join('; ')
    const query = named(await world.sidOf(there))
    world.store.failing.add('get')
    const response = await send(query, { init: { headers: { cookie: `${cookies}; __session=broken` } } })
    world.store.failing.clear()
    expect([response.status, response.headers.getSetCookie()]).toEqual([200, []])
    expect([await world.userOf(here), await world.userOf(there)]).toEqual([SUB, null])
  })

  test('does not revoke the refresh token', async () => {
    const browser = await world.signedIn()
    const query = named(await world.sidOf(browser))
    world.provider.clearRequests()
    await send(query)
    expect(world.provider.count('revocation')).toBe(0)
  })

  test('does not end a session of another issuer with the same sid', async () => {
    const other = await startLogoutWorld({ sessionStore: world.store })
    onTestFinished(() => other.stop())
    const browser = await other.signedIn()
    const sid = await other.sidOf(browser)
    expect((await send(named(sid))).status).toBe(200)
    expect(await other.userOf(browser)).toBe(SUB)
    expect((await send(named(sid, other.provider.issuer))).status).toBe(400)
    expect(await other.userOf(browser)).toBe(SUB)
  })

  test('accepts further frame ancestors, for the custom domains of the provider', async () => {
    const frameAncestors = ['https://login.example.com', 'https://sso.example.org:8443/']
    const client = another({ frontChannelLogout: { frameAncestors } })
    expect((await send(named('x'), { client })).headers.get('content-security-policy')).toBe(
      `frame-ancestors ${world.provider.origin} https://login.example.com https://sso.example.org:8443`,
    )
  })

  test('routes.frontChannelLogout moves the route; without the option it belongs to the application', async () => {
    const moved = another({ routes: { frontChannelLogout: '/bye' } })
    const at = (client: IdpClient, path: string): Promise<Response> =>
      client.middleware(new Request(APP + path + named('x'), { headers: { host: new URL(APP).host } }))
    expect([(await at(moved, '/bye')).status, isContinue(await at(moved, ROUTE))]).toEqual([200, true])
    for (const frontChannelLogout of [undefined, false])
      expect(isContinue(await at(another({ frontChannelLogout }), ROUTE))).toBe(true)
  })
})

describe('requests that end nothing', () => {
  let browser: Browser
  let sid: string
  beforeAll(async () => {
    browser = await world.signedIn()
    sid = await world.sidOf(browser)
  })

  async function expectRefused(response: Awaited<ReturnType<typeof send>>, status: number, code?: string) {
    expect([response.status, response.code]).toEqual([status, code])
    expect(response.headers.get('cache-control')).toContain('no-store')
    expect(response.headers.getSetCookie()).toEqual([])
    expect(response.text).not.toMatch(/evil|http|unknown|stack/)
    expect(response.text).not.toContain(sid)
    expect(world.store.told).toEqual([])
    expect(await world.userOf(browser)).toBe(SUB)
  }

  const iss = (): string => `iss=${encodeURIComponent(world.provider.issuer)}`
  const queries: Record<string, () => string> = {
    'no parameter': () => '',
    'no sid': () => `?${iss()}`,
    'an empty sid': () => `?${iss()}&sid=`,
    'two sids': () => `?${iss()}&sid=${sid}&sid=${sid}`,
    'two sids, one empty': () => `?${iss()}&sid=${sid}&sid`,
    'a sid of 256 characters': () => `?${iss()}&sid=${'a'.repeat(256)}`,
    'a sid with a line break': () => `?${iss()}&sid=${sid}%0A`,
    'a sid with U+0000': () => `?${iss()}&sid=%00${sid}`,
    'a sid with an invisible character': () => `?${iss()}&sid=${sid}%E2%80%8B`,
    'the sid in another case': () => `?${iss()}&SID=${sid}`,
    'no iss': () => `?sid=${sid}`,
    'an empty iss': () => `?iss=&sid=${sid}`,
    'another iss': () => `?iss=https%3A%2F%2Fevil.example&sid=${sid}`,
    'the iss with a slash': () => `?${iss()}%2F&sid=${sid}`,
    'the iss in capitals': () => `?iss=${encodeURIComponent(world.provider.issuer.toUpperCase())}&sid=${sid}`,
    'the iss twice': () => `?${iss()}&${iss()}&sid=${sid}`,
    'a fragment in place of a query': () => `#${iss()}&sid=${sid}`,
  }

  test.each(Object.entries(queries))('%s: 400', async (_title, toText) => {
    await expectRefused(await send(toText()), 400, 'FRONTCHANNEL_LOGOUT_ERROR')
  })

  test.each(['POST', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])('%s: 405', async (method) => {
    const response = await send(named(sid), { init: { method } })
    await expectRefused(response, 405)
    expect(response.headers.get('allow')).toBe('GET')
  })

  const headers: Record<string, Record<string, string>> = {
    'a document': { 'sec-fetch-dest': 'document' },
    'an image': { 'sec-fetch-dest': 'image' },
    'fetch()': { 'sec-fetch-dest': 'empty' },
    'a frame of a frameset': { 'sec-fetch-dest': 'frame' },
    'a fenced frame': { 'sec-fetch-dest': 'fencedframe' },
    'an empty destination': { 'sec-fetch-dest': '' },
    'two destinations': { 'sec-fetch-dest': 'iframe, document' },
    'a prefetch': { 'sec-purpose': 'prefetch' },
    'a prerender': { 'sec-purpose': 'prefetch;prerender' },
    'an older prefetch': { purpose: 'prefetch' },
    'a prefetch of a router': { 'next-router-prefetch': '1' },
  }

  test.each(Object.entries(headers))('%s: 403', async (_title, given) => {
    await expectRefused(await send(named(sid), { init: { headers: given } }), 403, 'IFRAME_REQUIRED')
  })

  test('are logged once per code and minute, with their number', async () => {
    for (let count = 0; count < 5; count++) await send('?sid=evil')
    await send(named(sid), { init: { headers: { 'sec-fetch-dest': 'image' } } })
    const lines = (): unknown[] =>
      world.events.map((event) => ('error' in event ? [event.level, event.error, event.detail] : event.code))
    const detail =
      "The front-channel logout request is not valid. iss is missing, which frontChannelLogout: { issuer: 'optional' } allows."
    expect(lines()).toEqual([
      ['warn', 'FRONTCHANNEL_LOGOUT_ERROR', detail],
      ['warn', 'IFRAME_REQUIRED', expect.any(String)],
    ])
    world.clock.now += 60
    world.events.length = 0
    await send('?sid=evil')
    expect(lines()).toEqual([
      [
        'warn',
        'FRONTCHANNEL_LOGOUT_ERROR',
        `${detail} 4 more were refused since the last line with this code.`,
      ],
    ])
  })
})

describe("frontChannelLogout: { issuer: 'optional' }, for Microsoft Entra ID", () => {
  test('accepts a request without iss, and still ends only a session of the own issuer', async () => {
    const client = another({ frontChannelLogout: { issuer: 'optional' } })
    const other = await startLogoutWorld({ sessionStore: world.store })
    onTestFinished(() => other.stop())
    const [own, foreign] = [await world.signedIn(), await other.signedIn()]
    for (const sid of [await world.sidOf(own), await other.sidOf(foreign)])
      expect((await send(toQuery({ sid }), { client })).status).toBe(200)
    expect([await world.userOf(own), await other.userOf(foreign)]).toEqual([null, SUB])
    expect(world.store.told.map(({ iss }) => iss)).toEqual([world.provider.issuer, world.provider.issuer])
  })

  test('refuses an iss that is sent and is not the issuer', async () => {
    const client = another({ frontChannelLogout: { issuer: 'optional' } })
    for (const iss of ['', 'https://evil.example', `${world.provider.issuer}/`])
      expect((await send(named('x', iss), { client })).status).toBe(400)
    expect(world.store.told).toEqual([])
  })
})

describe('floods and failures', () => {
  test('more than 20 requests in a second: 503, and a later one is processed', async () => {
    const browser = await world.signedIn()
    const query = named(await world.sidOf(browser))
    // Refused requests do not count.
    for (let count = 0; count < 30; count++) await send('')
    const statuses: number[] = []
    for (let count = 0; count < 25; count++) statuses.push((await send(named(`unknown ${count}`))).status)
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(5).fill(503)])
    const response = await send(query)
    expect([response.status, response.code, response.headers.get('retry-after')]).toEqual([
      503,
      'TOO_MANY_LOGOUTS',
      '1',
    ])
    expect([world.store.told.length, await world.userOf(browser)]).toEqual([20, SUB])
    expect(
      world.events.filter((event) => 'error' in event && event.error === 'TOO_MANY_LOGOUTS'),
    ).toHaveLength(1)
    world.clock.now += 1
    expect([(await send(query)).status, await world.userOf(browser)]).toEqual([200, null])
  })

  test('a store that fails: 503 and an event, and the repeated request ends the session', async () => {
    const browser = await world.signedIn()
    const query = named(await world.sidOf(browser))
    world.store.failing.add('deleteByLogoutToken')
    const response = await send(query)
    expect([response.status, response.code]).toEqual([503, 'SESSION_STORE_FAILED'])
    expect(response.text).not.toContain('is down')
    expect(world.events).toContainEqual(
      expect.objectContaining({ level: 'error', code: 'SESSION_STORE_FAILED', operation: 'logout' }),
    )
    expect(world.events.map(({ code }) => code)).not.toContain('FRONTCHANNEL_LOGOUT')
    world.store.failing.clear()
    expect([(await send(query)).status, await world.userOf(browser)]).toEqual([200, null])
  })

  test('a provider that cannot be reached for its issuer: 503, logged once', async () => {
    const client = another({ [customFetch]: () => Promise.reject(new Error('unreachable')) })
    for (let count = 0; count < 2; count++) {
      const response = await send(named('x'), { client })
      expect([response.status, response.code]).toEqual([503, 'DISCOVERY_ERROR'])
    }
    expect(world.events).toHaveLength(1)
    expect(world.store.told).toEqual([])
  })
})

const stores: readonly (readonly [string, () => SessionDataStore])[] = [
  ['a store that remembers', () => toldStore()],
  [
    'a store that does not',
    () => {
      const { endedAt: _endedAt, ...store } = toldStore()
      return store
    },
  ],
]

describe.each(stores)('a login that is being completed, with %s', (_name, make) => {
  /** The session after a login, during which an iframe ends the session that its ID token names, `age` seconds later. */
  async function userAfter(age: number): Promise<[status: number, user: string | undefined]> {
    const { client, browser } = world.another({
      sessionStore: make(),
      async [customFetch](input, init) {
        const response = await fetch(input, init)
        if (!String(init?.body ?? '').includes('grant_type=authorization_code')) return response
        const { id_token: idToken } = (await response.clone().json()) as { id_token: string }
        const { iat = 0, sid } = decodeJwt<{ sid: string }>(idToken)
        world.clock.now = iat + age
        expect((await send(named(sid), { client })).status).toBe(200)
        return response
      },
    })
    const { status } = await world.login(browser)
    return [status, (await client.getSession(browser.request('/')))?.user.sub]
  }

  test('does not restore the session that was ended', async () => {
    expect(await userAfter(0)).toEqual([502, undefined])
    expect(await userAfter(5)).toEqual([502, undefined])
  })

  test('later with the same sid succeeds: the request ends no future session', async () => {
    expect(await userAfter(-1)).toEqual([302, SUB])
  })

  test('a refresh that is running does not restore the session', async () => {
    const store = make()
    let [asked, give] = [false, (): void => {}]
    const held = new Promise<void>((resolve) => {
      give = resolve
    })
    const { client, browser } = world.another({
      sessionStore: store,
      async [customFetch](input, init) {
        if (String(init?.body ?? '').includes('grant_type=refresh_token')) {
          asked = true
          await held
        }
        return fetch(input, init)
      },
    })
    await world.login(browser)
    const { sid } = (await browser.session()).internal
    const refreshing = rejectionOf(client.getAccessToken(browser.request('/'), undefined, { refresh: true }))
    await expect.poll(() => asked).toBe(true)
    expect((await send(named(String(sid)), { client })).status).toBe(200)
    give()
    expect((await refreshing)['code']).toBe('MISSING_SESSION')
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })
})
