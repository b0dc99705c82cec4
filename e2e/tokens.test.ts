import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { fingerprint } from './fixtures/next16/lib/fingerprint.ts'
import type { RunningNext } from './fixtures/support/next-application.ts'
import { startNext } from './fixtures/support/next-application.ts'
import { SECRET } from './fixtures/support/session.ts'
import { builtFolder } from './support/built.ts'
import { CookieBrowser } from './support/cookie-browser.ts'

const LIFETIME = 3600

let provider: DevProvider
let folder: string
const running: RunningNext[] = []

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  folder = await builtFolder('next16-plain')
})

afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()))
  await provider?.stop()
})

async function start(variables: Readonly<Record<string, string>> = {}): Promise<RunningNext> {
  const server = await startNext(folder, 'start', (url) => ({
    ...provider.env,
    IDP_SECRET: SECRET,
    APP_BASE_URL: url,
    ...variables,
  }))
  provider.registerApp(server.url)
  running.push(server)
  return server
}

/** Signs a user in to the application. */
async function loggedIn({ url }: RunningNext): Promise<CookieBrowser> {
  const browser = new CookieBrowser()
  const begun = await browser.send(`${url}/auth/login`)
  const back = await provider.login(begun.headers.get('location') ?? '', { user: 'alice' })
  const done = await browser.send(back.location ?? '')
  expect(done.status).toBe(302)
  return browser
}

/** Signs in so many times, and waits until all access tokens have expired; the next ones last. */
async function allExpired(server: RunningNext, count: number): Promise<CookieBrowser[]> {
  provider.settings.accessTokenTtl = 1
  const browsers = await Promise.all(Array.from({ length: count }, () => loggedIn(server)))
  provider.settings.accessTokenTtl = LIFETIME
  const over = Math.ceil(Date.now() / 1000) + 2
  while (Date.now() / 1000 < over) await new Promise((resolve) => setTimeout(resolve, 50))
  return browsers
}

const refreshes = (): number =>
  provider.requests('token').filter(({ body }) => body['grant_type'] === 'refresh_token').length

async function printed(response: Response): Promise<string> {
  expect(response.status).toBe(200)
  const found = /token=([0-9a-f]{64})/.exec(await response.text())?.[1]
  if (found === undefined) throw new Error('the page shows no token')
  return found
}

/** The token that the session of this browser holds now, by the route for browsers. */
async function current({ url }: RunningNext, browser: CookieBrowser): Promise<string> {
  const response = await browser.send(`${url}/auth/access-token`)
  expect(response.status).toBe(200)
  const { token } = (await response.json()) as { token: string }
  return fingerprint(token)
}

const wrote = (response: Response): boolean =>
  response.headers.getSetCookie().some((line) => line.startsWith('__session'))

describe('an access token that has expired', () => {
  let server: RunningNext
  /** The same application in another process, which knows nothing but what a cookie says. */
  let elsewhere: RunningNext
  let waiting: CookieBrowser[]

  beforeAll(async () => {
    server = await start()
    elsewhere = await start()
    waiting = await allExpired(server, 10)
  })

  /** Each test takes a session of its own. */
  function takeExpired(): CookieBrowser {
    const browser = waiting.pop()
    if (!browser) throw new Error('more tests than expired sessions')
    provider.clearRequests()
    return browser
  }

  const navigations = [
    ['a document', '/page/token', {}],
    ['a navigation of the router', '/page/token', { rsc: '1' }],
    ['a page of the Pages Router', '/legacy/token', {}],
  ] as const

  test.each(navigations)(
    'proxy and page, %s: one refresh, the page has the new token, the next request makes none',
    async (_title, path, headers) => {
      const browser = takeExpired()
      const response = await browser.send(`${server.url}${path}?renewed`, { headers })
      const shown = await printed(response)
      expect(refreshes()).toBe(1)
      expect(wrote(response)).toBe(true)
      expect(await current(elsewhere, browser)).toBe(shown)
      expect(await printed(await browser.send(`${server.url}${path}?renewed`, { headers }))).toBe(shown)
      expect(refreshes()).toBe(1)
    },
  )

  test('a Server Component alone gets a fresh token; the next request that can write stores it', async () => {
    const browser = takeExpired()
    const before = browser.header(server.url)
    const response = await browser.send(`${server.url}/page/token`)
    const shown = await printed(response)
    expect(refreshes()).toBe(1)
    expect(wrote(response)).toBe(false)
    expect(browser.header(server.url)).toBe(before)

    const next = await browser.send(`${server.url}/whoami`)
    expect(await next.json()).toMatchObject({ sub: 'dev|alice' })
    expect(wrote(next)).toBe(true)
    expect(browser.header(server.url)).not.toBe(before)
    expect(await printed(await browser.send(`${server.url}/page/token`))).toBe(shown)
    expect(await current(elsewhere, browser)).toBe(shown)
    expect(refreshes()).toBe(1)
  })

  test('two pages at once have the same new token', async () => {
    const browser = takeExpired()
    const url = `${server.url}/page/token`
    const [first, second] = await Promise.all([browser.send(url), browser.send(url)])
    const shown = await printed(first)
    expect(await printed(second)).toBe(shown)
    expect(refreshes()).toBe(1)
  })

  test.each([
    ['route handlers, without a request', '/token?style=ambient'],
    ['route handlers, with request and response', '/token?style=explicit'],
    ['API routes of the Pages Router', '/api/legacy/token'],
    ['the route for browsers', '/auth/access-token'],
  ])('50 at once from %s: one refresh, 50 equal tokens', async (_title, path) => {
    const browser = takeExpired()
    const headers = { cookie: browser.header(server.url) }
    const responses = await Promise.all(
      Array.from({ length: 50 }, () => fetch(server.url + path, { headers, redirect: 'manual' })),
    )
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(responses.filter(wrote)).toHaveLength(50)
    const bodies = (await Promise.all(responses.map((response) => response.json()))) as { token: string }[]
    expect(new Set(bodies.map(({ token }) => token)).size).toBe(1)
    expect(refreshes()).toBe(1)
  })

  test('50 at once from all of these together, and from pages, cause one refresh', async () => {
    const browser = takeExpired()
    const headers = { cookie: browser.header(server.url) }
    const paths = [
      '/token',
      '/token?style=explicit',
      '/api/legacy/token',
      '/page/token',
      '/legacy/token?renewed',
    ]
    const responses = await Promise.all(
      Array.from({ length: 50 }, (_, index) => fetch(server.url + paths[index % paths.length], { headers })),
    )
    const texts = await Promise.all(responses.map((response) => response.text()))
    const prints = texts.map((text) => {
      const token = /"token":"([^"]+)"/.exec(text)?.[1]
      return token === undefined ? /token=([0-9a-f]{64})/.exec(text)?.[1] : fingerprint(token)
    })
    expect(responses.map(({ status }) => status)).toEqual(Array(50).fill(200))
    expect(prints[0]).toMatch(/^[0-9a-f]{64}$/)
    expect(new Set(prints).size).toBe(1)
    expect(refreshes()).toBe(1)
  })
})

describe('[S065,S238] enableAccessTokenEndpoint: false', () => {
  let server: RunningNext
  let withRoute: RunningNext
  let issued: string[]

  beforeAll(async () => {
    server = await start({ FIXTURE_TOKEN_ROUTE: 'off' })
    withRoute = await start()
  })

  beforeEach(() => {
    issued = []
    return provider.rewrite('token', (json) => {
      for (const name of ['access_token', 'refresh_token', 'id_token']) {
        const value = json[name]
        if (typeof value === 'string') issued.push(value)
      }
    })
  })

  const pages = [
    '/page',
    '/page/token',
    '/page/token?renewed',
    '/actions',
    '/links',
    '/static',
    '/legacy/guarded',
  ]
  const responses = ['/legacy/token', '/whoami', '/api', '/api/legacy/whoami', '/auth/profile']

  /** Everything that a browser can read of the responses: bodies, and headers but for the cookie that it cannot open. */
  async function readable({ url }: RunningNext, browser: CookieBrowser): Promise<[string, string][]> {
    const requests = [
      ...[...pages, ...responses, '/auth/access-token'].map((path) => ({ path, headers: {} })),
      ...pages.map((path) => ({ path, headers: { rsc: '1' } })),
      ...pages.map((path) => ({ path, headers: { rsc: '1', 'next-router-prefetch': '1' } })),
    ]
    const seen: [string, string][] = []
    for (const { path, headers } of requests) {
      const response = await browser.send(url + path, { headers })
      const kept = [...response.headers].filter(([name]) => name !== 'set-cookie')
      seen.push([`${path} ${JSON.stringify(headers)}`, JSON.stringify(kept) + (await response.text())])
    }
    return seen
  }

  const leaks = (seen: readonly [string, string][]): string[] =>
    seen.filter(([, text]) => issued.some((token) => text.includes(token))).map(([request]) => request)

  test('no page, payload or response contains a token', async () => {
    const [browser = new CookieBrowser()] = await allExpired(server, 1)
    provider.clearRequests()
    const seen = await readable(server, browser)
    // Tokens were issued at the login and by the refresh, and pages have used them.
    expect(refreshes()).toBe(1)
    expect(issued).toHaveLength(6)
    expect(seen.filter(([, text]) => text.includes('dev|alice')).length).toBeGreaterThan(5)
    expect(seen.filter(([, text]) => /token=[0-9a-f]{64}/.test(text)).length).toBeGreaterThan(3)
    expect(leaks(seen)).toEqual([])
    expect((await browser.send(`${server.url}/auth/access-token`)).status).toBe(404)
  })

  test('with the route it is the only response that does', async () => {
    const browser = await loggedIn(withRoute)
    expect(leaks(await readable(withRoute, browser))).toEqual(['/auth/access-token {}'])
  })
})
