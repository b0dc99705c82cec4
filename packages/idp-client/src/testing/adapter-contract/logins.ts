import { Browser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractRuns } from './host.ts'
import {
  claimNoCookies,
  claimNotStored,
  claimRedirect,
  claimSignedIn,
  claimSignedOut,
  ourCookies,
  SESSION,
  TRANSACTION,
} from './response-claims.ts'

const alice = { user: 'alice' } as const
const bob = { user: 'bob' } as const

/** Cases from the first click to the logout. */
export const logins: ContractRuns = {
  'a user logs in, is signed in everywhere, gets a token, and logs out': async (host) => {
    const browser = new Browser(host)
    await claimSignedOut(browser, 'before the login')
    const response = await browser.logIn(alice, '/page')
    claimRedirect(response, browser.url('/page'), 'the callback redirects to returnTo')
    claimNotStored(response, 'the callback')
    claimEqual(browser.names(TRANSACTION), [], 'the transaction is gone after the callback')
    await claimSignedIn(browser, 'alice', 'after the login')
    claim((await browser.send('/page')).text.includes('alice'), 'the guarded page is shown')
    const api = await browser.json('/api')
    claim(String(api['sub']).includes('alice'), 'the guarded API responds')
    const profile = await browser.json('/auth/profile')
    claimEqual(profile['sub'], api['sub'], 'the profile route returns the user')
    claimEqual(profile['nonce'], undefined, 'the protocol claims are removed')
    for (const style of host.styles) {
      const { token, token_type } = await browser.json(`/token?style=${style}`)
      claim(typeof token === 'string' && token !== '', `there is an access token (${style})`)
      claimEqual(token_type, 'Bearer', 'its type')
    }
    const logout = await browser.send('/auth/logout')
    claimEqual(logout.status, 302, 'logout redirects')
    claim(logout.location?.origin !== browser.url('').origin, 'logout redirects to the provider')
    claimNotStored(logout, 'logout')
    claim(browser.value(SESSION) === undefined, 'logout deletes the session cookie')
    await claimSignedOut(browser, 'after the logout')
  },

  'returnTo is unchanged after the login, from the login route and from the page guard': async (host) => {
    const browser = new Browser(host)
    const target = browser.url('/page?q=a%20b&u=%C3%BC&next=%2Fpublic%3Fx%3D1')
    const guarded = await browser.send(target)
    claim(guarded.location !== null, `the page guard redirects (status ${guarded.status})`)
    const toProvider = await browser.send(guarded.location)
    claim(toProvider.location !== null, `the login route redirects (status ${toProvider.status})`)
    claim(toProvider.location.origin !== target.origin, 'the login route redirects to the provider')
    const back = await browser.comeBack(await host.signIn(toProvider.location.href, alice))
    claimRedirect(back, target, 'the login returns to the page that required it')
    const again = await new Browser(host).logIn(alice, target.pathname + target.search)
    claimRedirect(again, target, 'the login leads to the path that its query names')
  },

  'a hostile returnTo never leaves the origin': async (host) => {
    const targets = [
      'https://evil.example/',
      '//evil.example',
      '/\\evil.example',
      'javascript:alert(1)',
      '/%5cevil.example',
    ]
    for (const target of targets) {
      const { location, status } = await new Browser(host).logIn(alice, target)
      claimEqual(status, 302, `the login with returnTo ${target} succeeds`)
      claimEqual(location?.origin, new URL(host.url).origin, `the target for returnTo ${target}`)
      claim(!location?.pathname.startsWith('//'), `no target begins with two slashes (${target})`)
    }
  },

  'five logins of one browser finish in any order': async (host) => {
    const browser = new Browser(host)
    const ways = []
    for (const tab of [0, 1, 2, 3, 4]) {
      ways.push({ tab, way: await host.signIn(await browser.begin(`/public?tab=${tab}`), alice) })
    }
    for (const index of [3, 0, 4, 1, 2]) {
      const login = ways[index]
      claim(login !== undefined, 'five logins were begun')
      const response = await browser.comeBack(login.way)
      claimRedirect(
        response,
        browser.url(`/public?tab=${login.tab}`),
        `login ${login.tab} leads to its own target`,
      )
    }
    claimEqual(browser.names(TRANSACTION), [], 'no transaction is left')
    await claimSignedIn(browser, 'alice', 'after five logins')
  },

  'thirty abandoned logins stay below 3500 bytes of cookies, and the next one works': async (host) => {
    const browser = new Browser(host)
    for (let count = 0; count < 30; count++) await browser.begin(`/page?attempt=${count}`)
    const bytes = browser.cookieHeader(browser.url('/auth/callback')).length
    claim(bytes < 3500, `the cookies of unfinished logins stay below 3500 bytes (${bytes})`)
    claimRedirect(await browser.logIn(alice, '/page'), browser.url('/page'), 'the login after them')
    await claimSignedIn(browser, 'alice', 'after thirty abandoned logins')
  },

  'two concurrent users never share a session': async (host) => {
    const visits = Array.from({ length: 8 }, (_, index) => ({
      user: index % 2 === 0 ? alice : bob,
      browser: new Browser(host),
    }))
    await Promise.all(visits.map(({ browser, user }) => browser.logIn(user, '/page')))
    const rounds = Array.from({ length: 5 }, () => visits).flat()
    await Promise.all(
      rounds.map(async ({ browser, user }) => {
        await claimSignedIn(browser, user.user, 'with others at the same time')
        const page = await browser.send('/page')
        claim(page.text.includes(user.user), `the page is ${user.user}'s`)
      }),
    )
  },

  'a denied login shows a page, starts no session, and does not affect an existing one': async (host) => {
    const browser = new Browser(host)
    await browser.logIn(bob, '/page')
    const response = await browser.logIn({ ...alice, deny: true }, '/page')
    claimEqual(response.status, 400, 'status of the failure page')
    claimNotStored(response, 'the failure page')
    claim(response.headers.get('content-type')?.startsWith('text/html') === true, 'the failure is a page')
    claimEqual(browser.names(TRANSACTION), [], 'the transaction is gone')
    await claimSignedIn(browser, 'bob', 'after a rejected login of another user')
  },

  'a callback that this browser did not start signs no user in': async (host) => {
    const [browser, other] = [new Browser(host), new Browser(host)]
    const way = await host.signIn(await other.begin('/page'), bob)
    const stolen = await browser.comeBack(way)
    claim(
      stolen.status >= 400 && stolen.status < 500,
      `a foreign callback is refused (status ${stolen.status})`,
    )
    await claimSignedOut(browser, 'after a foreign callback')
    for (const query of ['', '?state=', '?state=x', '?code=c&state=x&state=x']) {
      const { status } = await browser.send(`/auth/callback${query}`)
      claim(status >= 400 && status < 500, `the callback ${query} is refused (status ${status})`)
    }
    claimRedirect(await other.comeBack(way), other.url('/page'), 'the browser that began it still finishes')
  },

  'a used callback never signs in again': async (host) => {
    const browser = new Browser(host)
    const way = await host.signIn(await browser.begin('/page'), alice)
    await browser.comeBack(way)
    await browser.send('/auth/logout')
    const again = await browser.comeBack(way)
    claim(again.status >= 400 && again.status < 500, `a used callback is refused (status ${again.status})`)
    await claimSignedOut(browser, 'after a used callback')
  },

  'startInteractiveLogin redirects with its transaction cookie, in every calling style': async (host) => {
    for (const style of host.styles) {
      const browser = new Browser(host)
      const target = '/public?begun=by-code'
      const response = await browser.send(`/start?style=${style}&returnTo=${encodeURIComponent(target)}`)
      claim([302, 303, 307].includes(response.status), `it redirects (${style}, status ${response.status})`)
      claimEqual(ourCookies(response).length, 1, `it sets one cookie (${style})`)
      claimNotStored(response, `the redirect (${style})`)
      const back = await browser.comeBack(await host.signIn(response.location?.href ?? '', alice))
      claimRedirect(back, browser.url(target), `the login leads to its target (${style})`)
      await claimSignedIn(browser, 'alice', 'after a login begun by code')
    }
  },

  'form_post works across sites over https, and is rejected over http': async (host) => {
    const https = host.url.startsWith('https:')
    for (const style of host.styles) {
      const browser = new Browser(host)
      const query = `style=${style}&returnTo=%2Fpage&response_mode=form_post`
      if (!https) {
        const { code } = await browser.json(`/start?${query}`)
        claimEqual(code, 'INVALID_CONFIGURATION', 'form_post over http is refused')
        continue
      }
      const begun = await browser.send(`/start?${query}`)
      const way = await host.signIn(begun.location?.href ?? '', alice)
      claim(way.form !== undefined, 'the provider responds with a form')
      const response = await browser.comeBack(way)
      claimEqual(response.status, 303, 'the callback redirects after a POST')
      claimRedirect(response, browser.url('/page'), 'the callback redirects to returnTo')
      claimNotStored(response, 'the callback')
      await claimSignedIn(browser, 'alice', 'after form_post')
    }
  },

  'onCallback and beforeSessionSaved decide about a login': async (host) => {
    const elsewhere = new Browser(host)
    const target = elsewhere.url('/public?from=hook')
    claimRedirect(await elsewhere.logIn(alice, '/hook/elsewhere'), target, 'onCallback names another target')
    const { hooked } = await elsewhere.whoami()
    claimEqual(hooked, 'before-session-saved', 'what beforeSessionSaved adds is saved')
    const away = await new Browser(host).logIn(alice, '/hook/away')
    claimEqual(away.location?.origin, elsewhere.url('').origin, 'onCallback cannot lead to another origin')

    const responding = new Browser(host)
    const response = await responding.logIn(alice, '/hook/response')
    claimEqual(
      [response.status, response.text],
      [202, 'response of the hook'],
      'a Response of onCallback is sent as it is',
    )
    claimEqual(responding.value('hook'), '1', 'with its own cookie')
    await claimSignedIn(responding, 'alice', 'with a Response of onCallback')

    for (const [path, status] of [
      ['/hook/deny', 403],
      ['/hook/throw', 500],
    ] as const) {
      const browser = new Browser(host)
      claimEqual((await browser.logIn(alice, path)).status, status, `status of ${path}`)
      await claimSignedOut(browser, `after ${path}`)
    }

    const denied = new Browser(host)
    const failed = await denied.logIn({ ...alice, deny: true }, '/hook/error')
    claimRedirect(failed, denied.url('/public?error=AUTHORIZATION_ERROR'), 'onCallback gets the failure')
    await claimSignedOut(denied, 'after a failure')
  },

  'the profile route responds 401 without body and cookie if no user is signed in': async (host) => {
    const response = await new Browser(host).send('/auth/profile')
    claimEqual([response.status, response.text], [401, ''], 'the profile without a user')
    claimNoCookies(response, 'the profile route')
    claimNotStored(response, 'the profile route')
  },
}
