import { fileURLToPath } from 'node:url'
import type { ContractCase, ContractHost } from 'idp-client/testing'
import {
  adapterContract,
  frontChannelLogoutContract,
  proxyContract,
  unconfiguredContract,
} from 'idp-client/testing'
import type { DevProvider, Upstream } from 'idp-dev-provider'
import { startDevProvider, startUpstream } from 'idp-dev-provider'
import type { Browser, Page, Response as PageResponse } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { repeatedCredentials } from '../packages/idp-client/test/support/repeated-credentials.ts'
import { sendBytes } from '../packages/idp-client/test/support/send-bytes.ts'
import type { CachingProxy } from './fixtures/support/caching-proxy.ts'
import { startCachingProxy } from './fixtures/support/caching-proxy.ts'
import { startChromium } from './fixtures/support/chromium.ts'
import type { RunningNext } from './fixtures/support/next-application.ts'
import { copyFixture, startNext } from './fixtures/support/next-application.ts'
import { ourCookies, SECRET, signedIn } from './fixtures/support/session.ts'
import type { BrowserProfile } from './support/browser-profile.ts'
import { foreignFetches, newProfile } from './support/browser-profile.ts'
import { builtFolder } from './support/built.ts'
import { CookieBrowser } from './support/cookie-browser.ts'

let provider: DevProvider
/** With Cache Components. */
let cached: string
/** Without Cache Components. */
let plain: string
const running: RunningNext[] = []
const upstreams: Upstream[] = []

beforeAll(async () => {
  provider = await startDevProvider({ https: true, host: '127.0.0.1' })
  ;[cached, plain] = await Promise.all([builtFolder('next16-cached'), builtFolder('next16-plain')])
})

afterAll(async () => {
  await Promise.all(running.map((server) => server.stop()))
  await provider?.stop()
  await Promise.all(upstreams.map((upstream) => upstream.close()))
})

type Variables = Readonly<Record<string, string>>

async function start(folder: string, variables: Variables = {}): Promise<RunningNext> {
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

function toContractHost({ url }: RunningNext, styles: ContractHost['styles']): ContractHost {
  const signIn: ContractHost['signIn'] = (authorizationUrl, user) => provider.login(authorizationUrl, user)
  const accessToken: ContractHost['accessToken'] = (claims, header = {}) =>
    provider.signAccessToken(claims, { header })
  return { url, secret: SECRET, styles, signIn, accessToken, publicKeys: () => provider.jwks().keys }
}

/** The contract without the cases whose titles begin so; each must exist, or the list would rot. */
function contractWithout(...beginnings: readonly string[]): ContractCase[] {
  const left = new Set(adapterContract)
  for (const beginning of beginnings) {
    const found = adapterContract.filter(({ title }) => title.startsWith(beginning))
    if (found.length !== 1) throw new Error(`${found.length} cases begin with: ${beginning}`)
    for (const one of found) left.delete(one)
  }
  return [...left]
}

/** Starts an application with an API of its own behind its proxy for APIs. */
async function startWithUpstream(
  folder: string,
  styles: ContractHost['styles'],
  variables: Variables = {},
): Promise<ContractHost> {
  const upstream = await startUpstream()
  upstreams.push(upstream)
  const server = await start(folder, { CONTRACT_UPSTREAM: upstream.url, ...variables })
  return { ...toContractHost(server, styles), proxyLimits: { respellsQuery: true }, sendBytes, upstream }
}

describe('App Router behind the proxy', () => {
  let host: ContractHost

  beforeAll(async () => {
    host = await startWithUpstream(plain, ['ambient', 'explicit'])
  })

  test.each([...adapterContract, ...proxyContract, repeatedCredentials(true)])('$title', ({ run }) =>
    run(host),
  )
})

describe('App Router behind the proxy, with sessions in a store', () => {
  let host: ContractHost

  beforeAll(async () => {
    host = toContractHost(await start(plain, { FIXTURE_STORE: 'memory' }), ['ambient', 'explicit'])
  })

  test.each(frontChannelLogoutContract)('$title', ({ run }) => run(host))
})

describe('App Router behind middleware.ts on the edge runtime', () => {
  let host: ContractHost

  beforeAll(async () => {
    host = await startWithUpstream(await builtFolder('next16-edge'), ['ambient', 'explicit'])
  })

  test.each([...adapterContract, ...proxyContract, repeatedCredentials(true)])('$title', ({ run }) =>
    run(host),
  )
})

describe('Pages Router behind the proxy and a rewrite', () => {
  let host: ContractHost

  beforeAll(async () => {
    const started = await startWithUpstream(cached, ['explicit'], { FIXTURE_STYLE: 'pages' })
    host = { ...started, proxyPath: '/api/proxied' }
  })

  // Next hides router headers from the proxy and spells the query anew, unless skipProxyUrlNormalize is set.
  const cases = contractWithout('prefetches do not extend', 'returnTo is unchanged')

  test.each([...cases, ...proxyContract, repeatedCredentials(false)])('$title', ({ run }) => run(host))

  test('the guard redirects back to the page with the same parameters', async () => {
    const response = await fetch(`${host.url}/page?q=a%20b&next=%2Fpublic%3Fx%3D1`, { redirect: 'manual' })
    const target = new URL(response.headers.get('location') ?? '', host.url)
    const back = new URL(target.searchParams.get('returnTo') ?? '', host.url)
    expect(back.pathname).toBe('/page')
    expect([...back.searchParams]).toEqual([
      ['q', 'a b'],
      ['next', '/public?x=1'],
    ])
  })
})

describe('auth routes as a catch-all route handler', () => {
  let host: ContractHost

  beforeAll(async () => {
    host = toContractHost(await start(plain, { FIXTURE_STYLE: 'mounted' }), ['ambient', 'explicit'])
  })

  // Requests for the application itself need a proxy, and Next responds to one kind of prefetch before a proxy sees it.
  const cases = contractWithout(
    'use extends',
    'prefetches do not',
    'an expired or tampered',
    'a response that arrives after',
    'returnTo is unchanged',
    '200 prefetch, RSC',
    'an image, a script',
  )

  test.each(cases)('$title', ({ run }) => run(host))

  test.each([
    [{ rsc: '1' }, 403],
    [{ rsc: '1', 'next-router-prefetch': '1' }, 204],
    [{ 'sec-purpose': 'prefetch' }, 204],
    [{ 'sec-fetch-dest': 'image', 'sec-fetch-site': 'same-origin' }, 403],
  ])('a request that is not a navigation (%o) starts and ends nothing: %i', async (headers, status) => {
    for (const path of ['/auth/login', '/auth/logout']) {
      const response = await fetch(host.url + path, { headers, redirect: 'manual' })
      expect(response.status).toBe(status)
      expect(response.headers.getSetCookie()).toEqual([])
    }
  })
})

describe.each([
  { title: 'App Router', style: 'app', styles: ['ambient', 'explicit'] },
  { title: 'Pages Router', style: 'pages', styles: ['explicit'] },
] as const)('$title with no variable set', ({ style, styles }) => {
  let host: ContractHost

  beforeAll(async () => {
    const server = await startNext(plain, 'start', () => ({ FIXTURE_STYLE: style }))
    running.push(server)
    host = toContractHost(server, styles)
  })

  test.each(unconfiguredContract)('$title', ({ run }) => run(host))
})

describe('requests', () => {
  let server: RunningNext

  beforeAll(async () => {
    const counter = fileURLToPath(new URL('./fixtures/support/count-opens.cjs', import.meta.url))
    server = await start(plain, { NODE_OPTIONS: `--require ${counter}` })
  })

  async function opens(): Promise<number> {
    const { opens: count } = (await (await fetch(`${server.url}/opens`)).json()) as { opens: number }
    return count
  }

  test.each(['/page', '/api', '/whoami?style=explicit', '/legacy/guarded', '/api/legacy/guarded'])(
    'one navigation decrypts the session once in the proxy and once in %s',
    async (path) => {
      const cookie = await signedIn('test|carol', 'fresh')
      const before = await opens()
      const response = await fetch(server.url + path, { headers: { cookie } })
      expect(await response.text()).toContain('test|carol')
      expect((await opens()) - before).toBe(2)
    },
  )

  test.each(['/page', '/whoami', '/legacy/guarded', '/api/legacy/whoami'])(
    'a session that the proxy has just written is read by %s',
    async (path) => {
      const cookie = await signedIn('test|carol', 'due')
      const response = await fetch(server.url + path, { headers: { cookie } })
      expect(ourCookies(response)).toHaveLength(1)
      expect(await response.text()).toContain('test|carol')
    },
  )

  test('a render reads session and token, and gets an error that it cannot write', async () => {
    const headers = { cookie: await signedIn('test|carol', 'fresh') }
    const response = await fetch(`${server.url}/page/write`, { headers })
    expect(await response.text()).toContain('update=SESSION_NOT_WRITABLE token=Bearer')
    expect(ourCookies(response)).toEqual([])
  })

  test('a path header of a client does not change where the guard redirects to', async () => {
    const response = await fetch(`${server.url}/page?x=1`, {
      redirect: 'manual',
      headers: { 'x-idp-return-path': '/claimed' },
    })
    expect(response.headers.get('location')).toBe('/auth/login?returnTo=%2Fpage%3Fx%3D1')
  })

  test.each(['/page', '/legacy/guarded'])(
    'a form that is sent to %s leads to the login by GET',
    async (path) => {
      const body = new URLSearchParams({ a: '1' })
      const response = await fetch(server.url + path, { method: 'POST', body, redirect: 'manual' })
      expect(response.status).toBe(303)
      expect(response.headers.get('location')).toMatch(/^\/auth\/login\?returnTo=/)
    },
  )

  test('a hook that writes its own cookies through cookies() does not lose the session', async () => {
    const login = await fetch(
      `${server.url}/auth/login?returnTo=${encodeURIComponent('/public?hook=cookies')}`,
      {
        redirect: 'manual',
      },
    )
    const transaction = ourCookies(login)[0]?.split(';', 1)[0] ?? ''
    const way = await provider.login(login.headers.get('location') ?? '', { user: 'alice' })
    const back = await fetch(way.location ?? '', { redirect: 'manual', headers: { cookie: transaction } })
    expect(new URL(back.headers.get('location') ?? '', server.url).href).toBe(
      `${server.url}/public?hook=cookies`,
    )
    const names = back.headers.getSetCookie().map((line) => line.split('=', 1)[0])
    expect(names).toContain('by_hook')
    expect(names).toContain('__session')
  })

  /** Through the login that a page leads to, and back to it; the page with the session of that login. */
  async function stepUp(path: string, cookie: string): Promise<Response> {
    const refused = await fetch(server.url + path, { redirect: 'manual', headers: { cookie } })
    const target = refused.headers.get('location') ?? ''
    expect(refused.status).toBe(307)
    expect(target).toMatch(/^\/auth\/login\?returnTo=[^&]+&guard=[\w.-]+$/)
    expect(new URL(target, server.url).searchParams.get('returnTo')).toBe(path)
    const login = await fetch(server.url + target, { redirect: 'manual' })
    const asked = new URL(login.headers.get('location') ?? '').searchParams
    expect([asked.get('max_age'), asked.get('acr_values')]).toEqual(['600', 'urn:gold'])
    const transaction = ourCookies(login)[0]?.split(';', 1)[0] ?? ''
    const way = await provider.login(login.headers.get('location') ?? '', { user: 'alice' })
    const back = await fetch(way.location ?? '', { redirect: 'manual', headers: { cookie: transaction } })
    expect(new URL(back.headers.get('location') ?? '', server.url).href).toBe(server.url + path)
    const session = ourCookies(back).filter((line) => !/; max-age=0/i.test(line))
    const headers = { cookie: session.map((line) => line.split(';', 1)[0]).join('; ') }
    return fetch(server.url + path, { redirect: 'manual', headers })
  }

  test('a page that requires more than a session causes a login that meets the requirement', async () => {
    const shown = await stepUp('/page/strong?x=1', await signedIn('test|carol', 'fresh'))
    expect(shown.status).toBe(200)
    expect(await shown.text()).toMatch(/strong=[^<]*alice/)
  })

  test('a login that does not meet the requirement is not repeated, and the page can show that', async () => {
    const undo = provider.tamperIdToken((claims) => {
      delete claims['acr']
    })
    const shown = await stepUp('/page/strong', '')
    undo()
    expect(shown.status).toBe(200)
    expect(await shown.text()).toContain('refused=INSUFFICIENT_USER_AUTHENTICATION')
  })

  test('[C4] requirements of a page take precedence over configured acr_values and organization, in one login', async () => {
    const FIXTURE_AUTHORIZATION = JSON.stringify({ acr_values: 'urn:silver', organization: 'org_acme' })
    const { url } = await start(plain, { FIXTURE_AUTHORIZATION })
    const browser = new CookieBrowser()
    const visit = (to: string): Promise<Response> => browser.send(new URL(to, url).href)
    const logIn = async (path: string): Promise<URLSearchParams> => {
      const begun = (await visit(path)).headers.get('location') ?? ''
      const { location = '' } = await provider.login(begun, { user: 'bob' })
      expect((await visit(location)).status).toBe(302)
      return new URL(begun).searchParams
    }
    const plainLogin = await logIn('/auth/login')
    expect([plainLogin.get('acr_values'), plainLogin.get('organization')]).toEqual(['urn:silver', 'org_acme'])
    const refused = await visit('/page/elsewhere')
    expect(refused.status).toBe(307)
    const stronger = await logIn(refused.headers.get('location') ?? '')
    expect([stronger.get('acr_values'), stronger.get('organization')]).toEqual(['urn:gold', 'org_globex'])
    const shown = await visit('/page/elsewhere')
    expect([shown.status, await shown.text()]).toEqual([
      200,
      expect.stringMatching(/elsewhere=[^<]*org_globex/),
    ])
  })

  test("another middleware's rewrite keeps the session and the URL that the browser shows", async () => {
    const guarded = await fetch(`${server.url}/fr/page?x=1`, { redirect: 'manual' })
    expect(guarded.headers.get('location')).toBe('/auth/login?returnTo=%2Ffr%2Fpage%3Fx%3D1')
    const cookie = await signedIn('test|carol', 'due')
    const shown = await fetch(`${server.url}/fr/page`, { headers: { cookie } })
    expect(ourCookies(shown)).toHaveLength(1)
    expect(await shown.text()).toContain('test|carol')
  })
})

describe('a shared cache in front', () => {
  let server: RunningNext
  let cache: CachingProxy

  beforeAll(async () => {
    server = await start(cached)
    cache = await startCachingProxy(server.url)
  })

  afterAll(() => cache?.stop())

  const paths = [
    '/static',
    '/public',
    '/page',
    '/actions',
    '/api',
    '/legacy/guarded',
    '/api/legacy/public',
    '/api/legacy/cacheable',
    '/auth/profile',
  ]

  test('stores no response with a cookie of the library, for any of 20 users', async () => {
    const people = Array.from({ length: 20 }, (_, index) => `test|person-${index}`)
    let rolled = 0
    for (const [index, sub] of people.entries()) {
      const cookie = await signedIn(sub, 'due')
      // Everybody begins elsewhere, so that every path is once the first request to fill the cache.
      const order = [...paths.slice(index % paths.length), ...paths.slice(0, index % paths.length)]
      for (const path of [...order, '/auth/login']) {
        const response = await fetch(cache.url + path, { redirect: 'manual', headers: { cookie } })
        for (const line of ourCookies(response).filter((one) => one.startsWith('__session'))) {
          rolled += 1
          const who = await fetch(`${server.url}/whoami`, {
            headers: { cookie: line.split(';', 1)[0] ?? '' },
          })
          expect(await who.json()).toMatchObject({ sub })
        }
      }
    }
    expect(rolled).toBeGreaterThan(people.length)
    const leaks = [...cache.stored].filter(
      ([, { headers }]) => ourCookies(new Response(null, { headers })).length > 0,
    )
    expect(leaks.map(([path]) => path)).toEqual([])
    // Without our cookie pages stay as cacheable as they were.
    await fetch(`${cache.url}/static`)
    expect([...cache.stored.keys()]).toContain('/static')
  })
})

/** Signs in on the page of the provider, which the browser must have reached. */
async function enterAs(page: Page, name: string): Promise<void> {
  await page.waitForURL((url) => url.origin === provider.origin)
  await page.getByRole('button', { name }).click()
}

const modes = [
  { mode: 'start' as const, bundler: 'production build' },
  { mode: 'dev' as const, bundler: 'development server' },
]

describe.each(modes)('Chromium on a $bundler', ({ mode }) => {
  let server: RunningNext
  let browser: Browser
  let profile: BrowserProfile

  beforeAll(async () => {
    browser = await startChromium({ provider })
    const folder = mode === 'start' ? cached : await copyFixture('next16', 'next16-dev')
    server = await startNext(folder, mode, (url) => ({
      ...provider.env,
      IDP_SECRET: SECRET,
      APP_BASE_URL: url,
      // The pages await the session outside of Suspense, which Next.js reports in development with Cache Components.
      ...(mode === 'start' ? { FIXTURE_CACHE_COMPONENTS: '1' } : {}),
    }))
    provider.registerApp(server.url)
    running.push(server)
    // A development server compiles a page at its first request, and makes every open page refresh itself then: amid a
    // navigation, that is reported on the console of the browser.
    const cookie = await signedIn('test|first', 'fresh')
    for (const path of mode === 'dev'
      ? ['/links', '/page', '/legacy/guarded', '/actions', '/auth/login']
      : [])
      await fetch(server.url + path, { redirect: 'manual', headers: { cookie } })
  })

  beforeEach(async () => {
    profile = await newProfile(browser)
  })

  afterEach(async () => {
    await profile.leave()
    await server.complaints.settle()
  })

  afterAll(() => browser?.close())

  test.each([
    ['guarded', '/page?from=link'],
    ['login', '/page'],
    ['legacy', '/legacy/guarded?from=link'],
  ])('a click on the link %s goes through the login, without a blocked request', async (id, target) => {
    const { page } = profile
    // The router is told to navigate instead.
    profile.announce(403, '/auth/login')
    await page.goto(`${server.url}/links`)
    await page.getByText('hydrated').waitFor()
    await page.click(`#${id}`)
    await enterAs(page, 'alice')
    await page.waitForURL(server.url + target)
    await page.getByText('user=dev|alice').waitFor()
    expect(foreignFetches(profile, server.url)).toEqual([])
  })

  test('Server Actions read, change and create a session; one that changes nothing sets no cookie', async () => {
    const { page } = profile
    const cookiesOfAction = async (button: string, result: string): Promise<string[]> => {
      const isAction = (response: PageResponse): boolean =>
        response.request().headers()['next-action'] !== undefined
      const [response] = await Promise.all([page.waitForResponse(isAction), page.click(button)])
      await page.getByText(result).waitFor()
      const headers = await response.headersArray()
      return headers.filter(({ name }) => name.toLowerCase() === 'set-cookie').map(({ value }) => value)
    }
    await page.goto(`${server.url}/actions`)
    await page.getByText('hydrated').waitFor()
    expect(await cookiesOfAction('#look', 'looked nobody')).toEqual([])
    await page.click('#enter')
    await enterAs(page, 'bob')
    await page.waitForURL(`${server.url}/actions`)
    await page.getByText('value=none').waitFor()
    await page.getByText('hydrated').waitFor()
    expect(await cookiesOfAction('#look', 'looked dev|bob')).toEqual([])
    expect((await cookiesOfAction('#keep', 'kept by action')).length).toBeGreaterThan(0)
    await page.getByText('value=by action').waitFor()
    await page.reload()
    await page.getByText('value=by action').waitFor()
  })

  test('an action does not count as use of a session that is due for rolling', async () => {
    const { page } = profile
    const [name = '', value = ''] = (await signedIn('test|carol', 'fresh')).split('=')
    await page.context().addCookies([{ name, value, url: server.url }])
    await page.goto(`${server.url}/actions`)
    await page.getByText('hydrated').waitFor()
    const due = (await signedIn('test|carol', 'due')).split('=')[1] ?? ''
    await page.context().addCookies([{ name, value: due, url: server.url }])
    const isAction = (response: PageResponse): boolean =>
      response.request().headers()['next-action'] !== undefined
    const [response] = await Promise.all([page.waitForResponse(isAction), page.click('#look')])
    await page.getByText('looked test|carol').waitFor()
    expect((await response.allHeaders())['set-cookie']).toBeUndefined()
  })
})
