import { systemClock } from '../../lib/clock.ts'
import { generateSessionCookies } from '../session-cookie.ts'
import type { BrowserResponse } from './browser.ts'
import { Browser, signedInBrowser } from './browser.ts'
import { claim, claimEqual } from './claim.ts'
import type { ContractHost, ContractRuns } from './host.ts'
import {
  claimNoCookies,
  claimNotStored,
  claimSignedIn,
  claimSignedOut,
  ourCookies,
  SESSION,
} from './response-claims.ts'

interface Age {
  /** Seconds since the login. */
  readonly createdAgo: number
  /** Seconds since the last recorded use. */
  readonly usedAgo: number
}

const FRESH: Age = { createdAgo: 60, usedAgo: 10 }
/* More than the five minutes after which use is recorded again, with the default lifetimes. */
const DUE: Age = { createdAgo: 4000, usedAgo: 400 }
const UNUSED_TOO_LONG: Age = { createdAgo: 90_000, usedAgo: 87_000 }
const TOO_OLD: Age = { createdAgo: 259_300, usedAgo: 10 }

/** Returns a browser in which Carol has a session of this age. */
async function browserOfCarol(host: ContractHost, age: Age, secret: string = host.secret): Promise<Browser> {
  const now = systemClock()
  const browser = new Browser(host)
  const session = { user: { sub: 'test|carol' }, internal: { createdAt: now - age.createdAgo } }
  const cookies = await generateSessionCookies(session, { secret, now: now - age.usedAgo })
  for (const { name, value } of cookies) browser.plant(name, value)
  return browser
}

function sessionCookie(response: BrowserResponse): BrowserResponse['cookies'][number] | undefined {
  return response.cookies.find(({ name }) => name.startsWith(SESSION))
}

/** Returns a string that compresses badly. */
function padding(length: number): string {
  return Array.from({ length }, (_, index) => 'abcdefghijklmnopqrstuvwxyz'[(index * 7) % 26]).join('')
}

/** Cases for a session between login and logout. */
export const sessions: ContractRuns = {
  'the session cookie is HttpOnly, SameSite=Lax, for the whole host, and Secure over https': async (host) => {
    const response = await new Browser(host).logIn({ user: 'alice' })
    const cookie = sessionCookie(response)
    claim(cookie !== undefined, 'the callback sets the session cookie')
    claim(cookie.attributes.has('httponly'), 'it is HttpOnly')
    claimEqual(cookie.attributes.get('samesite')?.toLowerCase(), 'lax', 'its SameSite')
    claimEqual(cookie.attributes.get('path'), '/', 'its Path')
    claimEqual(cookie.attributes.has('domain'), false, 'whether it has a Domain')
    claimEqual(cookie.attributes.has('secure'), host.url.startsWith('https:'), 'whether it is Secure')
    claim(Number(cookie.attributes.get('max-age')) > 80_000, 'it lives for the inactivity window')
  },

  'updateSession is seen by the next request, in every calling style, and changes nothing else': async (
    host,
  ) => {
    for (const style of host.styles) {
      const browser = await signedInBrowser(host)
      const before = await browser.whoami(style)
      const response = await browser.send(`/update?style=${style}&value=changed-${style}`)
      claim(response.status === 200, `the update succeeds (${style}, status ${response.status})`)
      claimNotStored(response, `the response with the updated session (${style})`)
      const after = await browser.whoami(style)
      claimEqual(after, { ...before, value: `changed-${style}` }, `the session after the update (${style})`)
    }
  },

  'updateSession and getAccessToken without a session fail with MISSING_SESSION and set no cookie': async (
    host,
  ) => {
    for (const style of host.styles) {
      for (const path of [`/update?style=${style}&value=x`, `/token?style=${style}`]) {
        const response = await new Browser(host).send(path)
        claim(
          response.text.includes('"MISSING_SESSION"'),
          `${path} fails with MISSING_SESSION: ${response.text}`,
        )
        claim(response.status >= 400, `${path} responds with an error status`)
        claimNoCookies(response, path)
      }
    }
  },

  'a session too large for one cookie is spread over several, and shrinks again': async (host) => {
    const browser = await browserOfCarol(host, FRESH)
    const { style } = browser
    const large = padding(3600)
    await browser.send(`/update?style=${style}&value=${large}`)
    claim(browser.names(SESSION).length > 1, `it takes several cookies (${browser.names(SESSION).join(' ')})`)
    claim(browser.value(SESSION) === undefined, 'the single cookie is deleted')
    for (const each of host.styles) {
      claimEqual((await browser.whoami(each))['value'], large, `all of it is read again (${each})`)
    }
    await browser.send(`/update?style=${style}&value=small`)
    claimEqual(browser.names(SESSION), [SESSION], 'one cookie is left after it shrank')
    claimEqual((await browser.whoami())['value'], 'small', 'the value after it shrank')
  },

  "the application's cookies are kept beside those of the library, set before and after": async (host) => {
    for (const style of host.styles) {
      const browser = await browserOfCarol(host, DUE)
      const response = await browser.send(`/app-cookie?style=${style}&value=v`)
      claim(response.status === 200, `the request succeeds (${style}, status ${response.status})`)
      claimEqual(browser.value('app_before'), '1', `the cookie set before (${style})`)
      claimEqual(browser.value('app_after'), '1', `the cookie set after (${style})`)
      claimEqual((await browser.whoami(style))['value'], 'v', `the updated session (${style})`)
    }
  },

  'a request with a fresh session sets no cookie': async (host) => {
    const browser = await browserOfCarol(host, FRESH)
    for (const path of ['/public', '/page', '/api', `/whoami?style=${browser.style}`, '/auth/profile']) {
      claimNoCookies(await browser.send(path), `a fresh session on ${path}`)
    }
    await claimSignedIn(browser, 'carol', 'with a fresh session')
  },

  'use extends a session once it is due, without changing it, and that response is not cacheable': async (
    host,
  ) => {
    const browser = await browserOfCarol(host, DUE)
    const rolled = await browser.send('/public')
    claimEqual([rolled.status, rolled.text.includes('public')], [200, true], 'the page itself')
    claim(sessionCookie(rolled) !== undefined, 'the session cookie is written again')
    claimNotStored(rolled, 'a public page with our cookie')
    const { createdAt } = await browser.whoami()
    claim(Math.abs(Number(createdAt) - (systemClock() - DUE.createdAgo)) < 60, 'the login time stays')
    const next = await browser.send('/public')
    claimNoCookies(next, 'the next request')
    // Servers that convert a string themselves may write a space before the parameter.
    const [type, nextType] = [rolled, next].map(({ headers }) =>
      headers.get('content-type')?.replace('; ', ';'),
    )
    claimEqual(type, nextType, 'the content type')
    const profile = await (await browserOfCarol(host, DUE)).send('/auth/profile')
    claim(sessionCookie(profile) !== undefined, 'the profile route counts as use')
  },

  'prefetches do not extend a session, the visit after them does': async (host) => {
    const kinds: readonly Record<string, string>[] = [
      { purpose: 'prefetch' },
      { 'sec-purpose': 'prefetch' },
      { 'sec-purpose': 'prefetch;prerender' },
      { 'next-router-prefetch': '1', rsc: '1' },
    ]
    for (const headers of kinds) {
      const browser = await browserOfCarol(host, DUE)
      claimNoCookies(
        await browser.send('/public', { headers }),
        `a prefetch (${Object.keys(headers).join(', ')})`,
      )
      claim(
        sessionCookie(await browser.send('/public')) !== undefined,
        'the visit itself extends the session',
      )
    }
  },

  'an expired or tampered session is rejected, and its cookie is deleted once': async (host) => {
    const tampered = await browserOfCarol(host, FRESH)
    const value = tampered.value(SESSION) ?? ''
    const middle = Math.floor(value.length / 2)
    tampered.plant(
      SESSION,
      value.slice(0, middle) + (value[middle] === 'A' ? 'B' : 'A') + value.slice(middle + 1),
    )
    const browsers = {
      'expired by inactivity': await browserOfCarol(host, UNUSED_TOO_LONG),
      'expired by age': await browserOfCarol(host, TOO_OLD),
      tampered,
    }
    for (const [kind, browser] of Object.entries(browsers)) {
      const first = await browser.send('/public')
      claimEqual(first.status, 200, `a public page works with a dead cookie (${kind})`)
      claimEqual(ourCookies(first), [SESSION], `the dead cookie is cleared (${kind})`)
      claimEqual(browser.names(SESSION), [], `the browser has none any more (${kind})`)
      claimNoCookies(await browser.send('/public'), `the next request (${kind})`)
    }
    const guarded = await browserOfCarol(host, TOO_OLD)
    await claimSignedOut(guarded, 'with a dead cookie')
  },

  'a session cookie that another application wrote is ignored, and stays until a login': async (host) => {
    const garbage = new Browser(host)
    garbage.plant(SESSION, '%E0%A4%A')
    const browsers = {
      'sealed with another secret': await browserOfCarol(
        host,
        FRESH,
        'another-secret-of-thirty-two-characters',
      ),
      garbage,
    }
    for (const [kind, browser] of Object.entries(browsers)) {
      const first = await browser.send('/public')
      claimEqual(first.status, 200, `a public page works with a foreign cookie (${kind})`)
      claimNoCookies(first, `a public page with a foreign cookie (${kind})`)
      claimEqual(browser.names(SESSION), [SESSION], `the browser still has it (${kind})`)
      const before = browser.value(SESSION)
      await browser.logIn({ user: 'alice' })
      claim(browser.value(SESSION) !== before, `a login takes its place (${kind})`)
    }
    const guarded = await browserOfCarol(host, FRESH, 'another-secret-of-thirty-two-characters')
    await claimSignedOut(guarded, 'with a foreign cookie')
  },

  'a response that arrives after the logout restores no session, and the next login stays valid': async (
    host,
  ) => {
    const browser = await signedInBrowser(host)
    const late = browser.names(SESSION).map((name) => ({ name, value: browser.value(name) ?? '' }))
    const arrive = (): void => {
      for (const { name, value } of late) browser.plant(name, value)
    }
    await browser.send('/auth/logout')
    arrive()
    await claimSignedOut(browser, 'with the session of before the logout')
    arrive()
    const response = await browser.send('/public')
    claimEqual(
      ourCookies(response),
      late.map(({ name }) => name),
      'the next response clears it',
    )
    await browser.logIn({ user: 'bob' })
    await claimSignedIn(browser, 'bob', 'after a logout')
  },
}

/** Cases for hosts whose middleware surrounds the handlers of the application. */
export const lateWrites: ContractRuns = {
  'a session that is saved after the response has left is refused, in every calling style': async (host) => {
    const browser = await signedInBrowser(host)
    for (const style of host.styles) {
      const query = `style=${style}&value=${crypto.randomUUID()}`
      const { status } = await browser.send(`/late?${query}`)
      claimEqual(status, 200, `status of /late (${style})`)
      const { code } = await browser.json(`/late-result?${query}`)
      claimEqual(code, 'SESSION_NOT_WRITABLE', `the code of the late update (${style})`)
      claimEqual((await browser.whoami(style))['value'], null, `the value that was not saved (${style})`)
    }
  },
}
