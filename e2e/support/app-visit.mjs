import { equal, match, ok } from 'node:assert/strict'
import { request as httpsRequest } from 'node:https'
import { CookieJar } from 'tough-cookie'

/** Visits an application as one user: keeps its cookies, follows no redirect. */
export class Browser {
  #jar = new CookieJar()
  #base
  #fetch

  /** @param {string} [ca] PEM of the certificate to trust, where the application has one of its own */
  constructor(base, ca) {
    this.#base = base
    this.#fetch = ca === undefined ? fetch : fetchTrusting(ca)
  }

  get base() {
    return this.#base
  }

  get(path) {
    return this.request(path)
  }

  /** Returns the value of the header `Cookie` of a request. */
  cookieHeader(path) {
    return this.#jar.getCookieString(new URL(path, this.#base).href)
  }

  /** Like `fetch`, with the cookies of this user. */
  async request(path, { headers, ...init } = {}) {
    const url = new URL(path, this.#base).href
    const cookie = await this.#jar.getCookieString(url)
    const response = await this.#fetch(url, {
      ...init,
      headers: { accept: 'text/html,application/json', ...(cookie === '' ? {} : { cookie }), ...headers },
      redirect: 'manual',
      signal: AbortSignal.timeout(120_000),
    })
    const cookies = response.headers.getSetCookie()
    for (const line of cookies) await this.#jar.setCookie(line, url)
    return {
      status: response.status,
      location: response.headers.get('location'),
      type: response.headers.get('content-type')?.split(';', 1)[0],
      cookies,
      text: await response.text(),
    }
  }

  /** Names of the cookies for the first page, sorted. */
  cookieNames() {
    const cookies = this.#jar.getCookiesSync(this.#base)
    return cookies.map(({ key }) => key).sort()
  }
}

/** The part of `fetch` that is needed here. Node's own decides at the start of the process which certificates it trusts. */
function fetchTrusting(ca) {
  return (url, { method = 'GET', headers, signal }) =>
    new Promise((resolve, reject) => {
      const sent = httpsRequest(url, { method, headers, signal, ca }, (incoming) => {
        const chunks = []
        incoming.on('data', (chunk) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const pairs = Object.entries(incoming.headersDistinct).flatMap(([name, values]) =>
            values.map((value) => [name, value]),
          )
          const body =
            incoming.statusCode === 204 || incoming.statusCode === 304 ? null : Buffer.concat(chunks)
          resolve(new Response(body, { status: incoming.statusCode, headers: pairs }))
        })
      })
      sent.on('error', reject)
      sent.end()
    })
}

const toPath = (location, base) => new URL(location ?? '', base).pathname

/** Without a session, pages lead to the login and APIs refuse. */
export async function expectDenied(base, { pages, apis }, ca) {
  const browser = new Browser(base, ca)
  for (const page of pages) {
    const response = await browser.get(page)
    ok(
      response.status >= 300 && response.status < 400,
      `${page} responds with ${response.status} without a session`,
    )
    equal(toPath(response.location, base), '/auth/login', `${page} leads to the login`)
  }
  for (const api of [...apis, '/auth/profile']) {
    equal((await browser.get(api)).status, 401, `${api} without a session`)
  }
}

/** A user logs in, sees protected pages, and logs out; `greeting` is the first page of the quick start. */
export async function expectLogin(base, { pages, apis, greeting }, provider, { ca, user = 'alice' } = {}) {
  const browser = new Browser(base, ca)
  if (greeting) match((await browser.get(greeting)).text, /href="\/auth\/login"/, greeting)
  const returnTo = pages[0]
  const begin = await browser.get(`/auth/login?returnTo=${encodeURIComponent(returnTo)}`)
  equal(begin.status, 302, `login responds with ${begin.status}: ${begin.text.slice(0, 300)}`)
  const { location } = await provider.login(begin.location, { user })
  const { origin, pathname, search } = new URL(location)
  equal(origin, base, 'the provider sends the browser back to the address that it used')
  const back = await browser.get(pathname + search)
  equal(back.status, 302, `callback responds with ${back.status}: ${back.text.slice(0, 300)}`)
  equal(toPath(back.location, base), returnTo, 'the callback leads back')

  const profile = await browser.get('/auth/profile')
  equal(profile.status, 200, 'profile')
  const { sub } = JSON.parse(profile.text)
  ok(sub, 'the profile names the user')
  for (const page of pages) {
    const response = await browser.get(page)
    equal(response.status, 200, page)
    match(response.text, new RegExp(`signed in as ${sub.replace(/[^\w]/g, '.')}`), page)
  }
  if (greeting) match((await browser.get(greeting)).text, /Hello (?:<!-- -->)?Alice/, greeting)
  for (const api of apis) {
    const response = await browser.get(api)
    equal(response.status, 200, api)
    equal(JSON.parse(response.text).sub, sub, api)
  }

  const out = await browser.get('/auth/logout')
  equal(out.status, 302, 'logout')
  ok(out.location.startsWith(provider.issuer), 'the logout continues at the provider')
  for (const api of apis) equal((await browser.get(api)).status, 401, `${api} after the logout`)
}

/** With nothing configured, guards must refuse, and never show what they guard. */
export async function expectClosed(base, { pages, apis }) {
  const browser = new Browser(base)
  for (const path of [...pages, ...apis]) {
    const { status, text } = await browser.get(path)
    ok(status >= 500, `${path} responds with ${status} without a configuration`)
    ok(!text.includes('signed in as'), `${path} shows nothing`)
  }
  equal((await browser.get('/')).status, 200, 'the public page works without a configuration')
}
