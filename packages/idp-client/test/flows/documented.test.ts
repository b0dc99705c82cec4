import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SessionDataStore } from '../../src/index.ts'
import { IdpClient, isContinue } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { currentTime, startWorld } from '../support/app.ts'
import { pageText, tableBelow } from '../support/tables.ts'
import { skipTime } from '../support/timers.ts'

/* The reference decides the open points of the specification; these tests check that. */
const page = (name: string): string => pageText(`reference/${name}.md`)

let world: World
beforeAll(async () => {
  world = await startWorld({ session: { expiryClaim: 'session_expiry' } })
})
afterAll(() => world.provider.stop())
let now: number
beforeEach(() => {
  now = currentTime()
  world.clock.now = now
  world.events.length = 0
})

const json = { headers: { accept: 'application/json' } }

async function codeOf(response: Response): Promise<string> {
  const body = (await response.json()) as { error: { code: string } }
  return body.error.code
}

describe('[S137] states of a session', () => {
  async function state(browser: Browser): Promise<'none' | 'active' | 'ended'> {
    if (await world.client.getSession(browser.request('/'))) return 'active'
    // A logout leaves no session cookie, only its marker.
    const left = browser.names('__session').filter((name) => name !== '__session__ended')
    return left.length > 0 ? 'ended' : 'none'
  }

  async function active(): Promise<Browser> {
    const browser = world.newBrowser()
    await world.login(browser)
    return browser
  }

  const wait = (seconds: number): void => {
    world.clock.now += seconds
  }

  async function update(browser: Browser): Promise<void> {
    const request = browser.request('/')
    const session = await world.client.getSession(request)
    if (!session) throw new Error('nobody is signed in')
    const response = new Response()
    await world.client.updateSession(request, response, { ...session, changed: true })
    browser.store(response)
  }

  /** Refreshes the session; the new ID token says that it ends so many seconds after the login. */
  async function refreshWithExpiry(browser: Browser, seconds: number): Promise<void> {
    const response = new Response()
    world.provider.settings.sessionExpiry = seconds
    try {
      await world.client.getAccessToken(browser.request('/'), response, { refresh: true })
    } finally {
      world.provider.settings.sessionExpiry = false
      browser.store(response)
    }
  }

  function tamper(browser: Browser): void {
    for (const [name, cookie] of browser.cookies) {
      browser.cookies.set(name, { ...cookie, value: `${cookie.value.slice(0, -4)}AAAA` })
    }
  }

  /** How each documented event is brought about. */
  const events: Readonly<Record<string, (browser: Browser) => unknown>> = {
    'a login completes': (browser) => world.login(browser),
    'use, and [recording use](#rolling) is due': (browser) => {
      wait(300)
      return browser.send('/page')
    },
    'use, and recording use is not due': (browser) => browser.send('/page'),
    updateSession: update,
    'getAccessToken refreshes': async (browser) => {
      const response = new Response()
      await world.client.getAccessToken(browser.request('/'), response, { refresh: true })
      expect(response.headers.getSetCookie()).toHaveLength(1)
      browser.store(response)
    },
    'another login completes': (browser) => world.login(browser, '', { user: 'bob' }),
    'a login fails': (browser) => world.login(browser, '?prompt=login', { deny: true }),
    'inactivityDuration passes without use': () => wait(86_400),
    'absoluteDuration has passed since createdAt': async (browser) => {
      for (let days = 0; days < 6; days++) {
        wait(43_200)
        if (days < 5) await browser.send('/page')
      }
    },
    'the end that [the provider sets](#the-end-that-the-provider-sets) passes': async (browser) => {
      await refreshWithExpiry(browser, 100)
      wait(100)
    },
    'a refresh brings an end that is past': async (browser) => {
      await expect(refreshWithExpiry(browser, -1)).rejects.toMatchObject({ code: 'SESSION_EXPIRED' })
    },
    'the cookie was modified, or its secret was removed from the list': tamper,
    logout: (browser) => browser.send('/auth/logout'),
    'any request through the middleware': (browser) => browser.send('/page'),
  }

  const rows = tableBelow(page('session'), '## Session lifecycle')

  test('the table has a row for each event', () => {
    expect(rows.map(([, event]) => event)).toEqual(Object.keys(events))
  })

  test.each(rows)('%s, %s: %s', async (from, event = '', to) => {
    const browser = from === 'none' ? world.newBrowser() : await active()
    if (from === 'ended') tamper(browser)
    expect(await state(browser)).toBe(from)
    await events[event]?.(browser)
    expect(await state(browser)).toBe(to)
  })
})

describe('[S137] states of a login', () => {
  const signedIn = async (browser: Browser) => (await world.client.getSession(browser.request('/'))) !== null

  async function pending(options: Parameters<World['another']>[0] = {}) {
    const { browser } = world.another(options)
    return { browser, callback: await world.authorize(await world.begin(browser)) }
  }

  async function refused(browser: Browser, callback: string, code: string): Promise<void> {
    expect(await codeOf(await browser.send(callback, json))).toBe(code)
  }

  /** Causes each documented event, and reads its state from the response of the callback. */
  const events: Readonly<Record<string, () => Promise<void>>> = {
    'none, the login route, or startInteractiveLogin': async () => {
      const { browser } = await pending()
      expect(browser.names('__txn_')).toHaveLength(1)
    },
    'pending, the callback succeeds': async () => {
      const { browser, callback } = await pending()
      await browser.send(callback)
      expect([browser.names('__txn_'), await signedIn(browser)]).toEqual([[], true])
    },
    'pending, the callback fails': async () => {
      const { browser, callback } = await pending()
      await refused(browser, callback.replace(/code=[^&]*/, 'code=wrong'), 'AUTHORIZATION_CODE_GRANT_ERROR')
      expect([browser.names('__txn_'), await signedIn(browser)]).toEqual([[], false])
    },
    'pending, transactionCookie.maxAge passes': async () => {
      const { browser, callback } = await pending()
      world.clock.now += 3600
      await refused(browser, callback, 'EXPIRED_STATE')
    },
    'pending, a later login, without parallel transactions': async () => {
      const { browser, callback } = await pending({ enableParallelTransactions: false })
      await world.begin(browser)
      await refused(browser, callback, 'SUPERSEDED_STATE')
    },
    'pending, more logins than fit, or a logout': async () => {
      const crowded = await pending()
      for (let count = 0; count < 10; count++) {
        world.clock.now += 1
        await world.begin(crowded.browser)
      }
      await refused(crowded.browser, crowded.callback, 'UNKNOWN_STATE')
      const left = await pending()
      await left.browser.send('/auth/logout')
      await refused(left.browser, left.callback, 'UNKNOWN_STATE')
    },
    'completed, the same callback again, with a session': async () => {
      const { browser, callback } = await pending()
      await browser.send(callback)
      world.provider.clearRequests()
      expect((await browser.send(callback)).status).toBe(302)
      expect(world.provider.count('token')).toBe(0)
    },
    'completed, the same callback again, with the used cookie': async () => {
      const { browser, callback } = await pending()
      const copy = browser.request(callback, json)
      await browser.send(callback)
      world.clock.now += 60
      skipTime(60_000)
      expect(await codeOf(await world.client.middleware(copy))).toBe('REPLAYED_STATE')
    },
  }

  const rows = tableBelow(page('session'), '## Login transactions').map(
    ([from, event]) => `${from}, ${event}`,
  )

  test('the table has a row for each event', () => {
    expect(rows).toEqual(Object.keys(events))
  })

  test.each(rows)('%s', async (row) => {
    await events[row]?.()
  })
})

describe('routes', () => {
  const rows = tableBelow(page('routes'), '# Routes')

  test.each(rows)('[S155,S156] %s at %s responds to %s only: %s, %s', async (...cells) => {
    const [, path = '', methods = '', , enabledBy = ''] = cells
    const isDisabled = !enabledBy.startsWith('default') && !enabledBy.includes('501')
    for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
      const response = await world.newBrowser().send(path, { method })
      if (isDisabled) expect(isContinue(response)).toBe(true)
      else if (!methods.split(', ').includes(method)) {
        expect([response.status, response.headers.get('allow')]).toEqual([405, methods])
      } else {
        expect(response.status).not.toBe(405)
        expect(response.status === 501).toBe(enabledBy.includes('501'))
      }
    }
  })

  test('[S156] the login reads the documented parameters, and sends all others to the provider', async () => {
    const cells = tableBelow(page('routes'), '## login').map(([cell = '']) => cell)
    const namesIn = (first: string) =>
      (cells.find((cell) => cell === first || cell.startsWith(`${first},`)) ?? '')
        .split(', ')
        .filter((name) => /^[a-z_]+$/.test(name))
    const configurable = [...namesIn('audience'), ...namesIn('organization')]
    const [passed, ignored] = [[...namesIn('login_hint'), ...configurable], namesIn('client_id')]
    const sent = async (names: string[], browser = world.newBrowser()) => {
      const query = names.map((name) => `${name}=visitor`).join('&')
      const url = new URL(await world.begin(browser, `?${query}`))
      return [...url.searchParams].filter(([, value]) => value === 'visitor').map(([name]) => name)
    }
    expect(passed.length).toBeGreaterThan(4)
    expect((await sent(passed)).sort()).toEqual([...passed].sort())
    expect(ignored.length).toBeGreaterThan(10)
    expect(await sent([...ignored, ...namesIn('guard')])).toEqual([])
    const ours = Object.fromEntries(configurable.map((name) => [name, 'ours']))
    expect(await sent(configurable, world.another({ authorizationParameters: ours }).browser)).toEqual([])
  })
})

describe('events', () => {
  const rows = tableBelow(page('events'), '# Events')
  const ofFailures = tableBelow(page('events'), '## Failures').flatMap(([names = '']) =>
    names.split(/[^A-Za-z]+/),
  )

  async function inAStore(): Promise<void> {
    let isDown = false
    const sessionStore: SessionDataStore = {
      ...memoryStore({ name: crypto.randomUUID() }),
      get: () => (isDown ? Promise.reject(new Error('the store is down')) : Promise.resolve(null)),
    }
    const stored = world.another({ sessionStore, frontChannelLogout: true })
    await world.login(stored.browser)
    isDown = true
    await stored.browser.send('/auth/profile')
    const logout_token = await world.provider.logoutToken({ sub: 'dev|alice' })
    const body = new URLSearchParams({ logout_token })
    await stored.browser.send('/auth/backchannel-logout', { method: 'POST', body })
    const named = new URLSearchParams({ iss: world.provider.issuer, sid: 'unknown' })
    await stored.browser.send(`/auth/frontchannel-logout?${named}`)
  }

  async function atTheLimit(): Promise<void> {
    const { browser, client } = world.another()
    await world.login(browser)
    const request = browser.request('/')
    const headers = new Headers()
    const session = await client.getSession(request)
    if (!session) throw new Error('nobody is signed in')
    await client.updateSession(request, headers, { ...session, note: 'x'.repeat(3700) })
    await client.getAccessToken(request, headers, { audience: 'https://api.example.test/' })
    await client.getAccessToken(request, headers, { audience: 'https://orders.example.test/' })
  }

  async function withLargeDetails(): Promise<void> {
    const details = [{ type: 'payment', creditorName: 'x'.repeat(1100) }]
    const authorizationParameters = { authorization_details: JSON.stringify(details) }
    await world.login(world.another({ authorizationParameters }).browser)
  }

  async function withFormerSessions(): Promise<void> {
    const until = new Date((world.clock.now + 10 * 86_400) * 1000).toISOString().slice(0, 10)
    const sessions = [{ user: { sub: 'dev|alice' }, createdAt: world.clock.now }, null]
    const { browser } = world.another({
      takeOver: { until, cookies: 'former', read: () => sessions.shift() ?? null },
    })
    for (const _session of [...sessions]) {
      browser.cookies.set('former', { value: 'session', text: '', path: '/' })
      await browser.send('/auth/profile')
      browser.cookies.clear()
    }
  }

  async function everythingThatHappens(): Promise<void> {
    const browser = world.newBrowser()
    await withFormerSessions()
    await world.login(browser)
    await inAStore()
    await atTheLimit()
    await withLargeDetails()
    const connecting = world.another({ enableConnectAccountEndpoint: true })
    await world.login(connecting.browser)
    for (const connect of ['accept', 'cancel'] as const) {
      const started = await connecting.browser.send('/auth/connect?connection=github')
      await connecting.browser.send(await world.authorize(started.headers.get('location') ?? '', { connect }))
    }
    const undo = world.provider.tamperIdToken((claims) => {
      claims['nonce'] = 'another'
    })
    await world.client.getAccessToken(browser.request('/'), new Headers(), { refresh: true })
    undo()
    world.provider.settings.sessionExpiry = 'soon'
    const refreshing = connecting.browser.request('/')
    await connecting.client.getAccessToken(refreshing, new Headers(), { refresh: true })
    world.provider.settings.sessionExpiry = false
    world.clock.now += 600
    await browser.send('/page')
    await world.login(browser, '?prompt=login', { deny: true })
    const remove = world.provider.faults.set('token', { kind: 'respond', status: 500 })
    await world.login(browser)
    remove()
    await browser.send('/auth/login?max_age=x')
    await browser.send('/auth/logout')
    const logger = (event: (typeof world.events)[number]): void => void world.events.push(event)
    new IdpClient({ logger, ...{ misspelt: 1 } })
  }

  test('[S242] have the documented levels and properties', async () => {
    await everythingThatHappens()
    const told = new Set(world.events.map(({ code }) => code))
    expect([...told].sort()).toEqual(rows.map(([code]) => code).sort())
    for (const { level, code, ...members } of world.events) {
      const [, levels = '', names = ''] = rows.find(([name]) => name === code) ?? []
      expect(levels.split(/, | or /), code).toContain(level)
      for (const name of Object.keys(members)) {
        const more = names.includes('(#failures)') ? ofFailures : []
        if (name !== 'id') expect([...names.split(/[^A-Za-z]+/), ...more], code).toContain(name)
      }
    }
  })
})
