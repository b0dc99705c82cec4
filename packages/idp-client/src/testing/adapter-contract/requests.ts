import { Browser, signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import { contractHooks } from './host.ts'
import { claimNoCookies, claimNotStored, claimSignedIn, ourCookies } from './response-claims.ts'

const ALLOWED = {
  '/auth/login': 'GET',
  '/auth/logout': 'GET',
  '/auth/callback': 'GET, POST',
  '/auth/profile': 'GET',
} as const

/** Headers as Chromium sends them; `fetch` itself adds `Sec-Fetch-Mode: cors`. */
const browserFetch = { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' }
const NO_NAVIGATIONS: readonly Record<string, string>[] = [
  { ...browserFetch, rsc: '1', 'next-router-prefetch': '1' },
  { ...browserFetch, rsc: '1' },
  { ...browserFetch, 'sec-purpose': 'prefetch' },
  { 'sec-purpose': 'prefetch;prerender' },
  { purpose: 'prefetch' },
  { 'x-middleware-prefetch': '1' },
  { 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'image' },
  browserFetch,
]

/** Cases for the responses to single requests. */
export const requests: ContractRuns = {
  'auth routes respond to other methods with 405 and Allow': async (host) => {
    const browser = new Browser(host)
    for (const [path, allow] of Object.entries(ALLOWED)) {
      const refused = ['HEAD', 'OPTIONS', 'PUT', 'DELETE', 'POST'].filter((method) => !allow.includes(method))
      for (const method of refused) {
        const response = await browser.send(path, { method })
        claimEqual([response.status, response.headers.get('allow')], [405, allow], `${method} ${path}`)
        claimNoCookies(response, `${method} ${path}`)
        claimNotStored(response, `${method} ${path}`)
      }
    }
  },

  '200 prefetch, RSC and HEAD requests set no cookie and do not redirect': async (host) => {
    const browser = new Browser(host)
    for (let round = 0; round < 20; round++) {
      for (const headers of NO_NAVIGATIONS) {
        const response = await browser.send('/auth/login?returnTo=/page', { headers })
        claim([204, 403].includes(response.status), `no login begins (status ${response.status})`)
        claimNoCookies(response, JSON.stringify(headers))
      }
      for (const path of ['/auth/login', '/public']) {
        claimNoCookies(await browser.send(path, { method: 'HEAD' }), `HEAD ${path}`)
      }
    }
    claimEqual(browser.cookieHeader(browser.url('/')), '', 'cookies after 200 requests')
  },

  'an image, a script or a prefetch cannot log the user out': async (host) => {
    const browser = await signedInBrowser(host)
    for (const headers of NO_NAVIGATIONS) {
      const response = await browser.send('/auth/logout', { headers })
      claim([204, 403].includes(response.status), `no logout (status ${response.status})`)
      claimNoCookies(response, JSON.stringify(headers))
    }
    await claimSignedIn(browser, 'alice', 'after requests that are no navigations')
  },

  'a navigation to the login route sets one cookie and is not cacheable': async (host) => {
    const response = await new Browser(host).send('/auth/login')
    claimEqual(response.status, 302, 'status of the login route')
    claimEqual(ourCookies(response).length, 1, 'cookies of the login route')
    claimNotStored(response, 'the login route')
    const redirectUri = response.location?.searchParams.get('redirect_uri')
    claimEqual(redirectUri, `${host.url}/auth/callback`, 'redirect_uri')
  },

  'other paths belong to the application': async (host) => {
    const browser = new Browser(host)
    for (const path of ['/auth', '/auth/nothing', '/auth/login/more', '/auth/Login']) {
      const response = await browser.send(path)
      claimEqual(response.status, 404, `status of ${path}`)
      claimNoCookies(response, path)
    }
    const open = await browser.send('/public')
    claimEqual([open.status, open.text.includes('public')], [200, true], 'a public page without a session')
    claimNoCookies(open, 'a public page')
  },

  'a logout notice of the provider, a form without an origin, reaches its route': async (host) => {
    const { error } = await new Browser(host).json('/auth/backchannel-logout', {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    })
    const isOurs = typeof error === 'object' && error !== null && 'code' in error
    claim(isOurs, 'the library rejects the empty form, not the framework')
  },

  'guards reject requests without a session: a redirect from pages, 401 as JSON from APIs': async (host) => {
    const browser = new Browser(host)
    const page = await browser.send('/page?x=1')
    claim([302, 303, 307].includes(page.status), `the page redirects (status ${page.status})`)
    claimEqual(page.location?.pathname, browser.url('/auth/login').pathname, 'the target of the page guard')
    claimNoCookies(page, 'the page guard')
    const api = await browser.send('/api')
    claimEqual([api.status, api.location], [401, null], 'the API guard')
    claim(api.headers.get('content-type')?.startsWith('application/json') === true, 'its response is JSON')
    const body = JSON.parse(api.text) as Record<string, unknown>
    claimEqual([body['error'], body['code']], ['not_authenticated', 'NOT_AUTHENTICATED'], 'its body')
    claimNoCookies(api, 'the API guard')
    claimNotStored(api, 'the API guard')
  },

  'a page or an API response behind a guard is not stored by caches, unless the application allows it':
    async (host) => {
      const browser = await signedInBrowser(host)
      for (const path of ['/page', '/api', '/shared']) {
        const response = await browser.send(path)
        claimEqual(response.status, 200, `the status of ${path}`)
        claimNotStored(response, path)
      }
      const { headers } = await browser.send('/public')
      claimEqual(headers.get('cache-control'), 'public, max-age=60', 'caching of a page without a guard')
    },

  'the route with the public keys may be cached, and contains the members of public keys only': async (
    host,
  ) => {
    const browser = await signedInBrowser(host)
    const response = await browser.send('/auth/jwks', { headers: { 'sec-fetch-site': 'cross-site' } })
    claimEqual(response.status, 200, 'the status of the public keys')
    const [key] = contractHooks.additionalPublicKeys
    claimEqual(JSON.parse(response.text), { keys: [{ ...key, use: 'sig' }] }, 'the public keys')
    // Hosts on Express add the encoding to the type.
    const [type] = response.headers.get('content-type')?.split(';') ?? []
    const headers = [type, response.headers.get('cache-control')]
    claimEqual(headers, ['application/json', 'public, max-age=300'], 'type and caching of the public keys')
    claimNoCookies(response, 'the route with the public keys')
    const { status } = await browser.send('/auth/jwks', { method: 'POST' })
    claimEqual(status, 405, 'the status of another method')
  },
}
