import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { incompressible } from '../support/incompressible.ts'
import { Process } from '../support/processes.ts'

const TTL = 600
const MAX_BYTES = 6400
/** How much more a write after a redemption may take. */
const OVERDRAFT = 400
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'
const AUDIENCES = Array.from({ length: 20 }, (_, at) => `https://api-${at}.example.test/`)

let world: World
beforeEach(async () => {
  const apis = AUDIENCES.map((audience) => ({ audience, scopes: ['read:things'] }))
  world = await startWorld({}, { accessTokenTtl: TTL, apis })
})
afterEach(() => world.provider.stop())

const tokenOf = (browser: Browser, audience?: string): Promise<Response> =>
  browser.send(`/auth/access-token${audience ? `?audience=${encodeURIComponent(audience)}` : ''}`)

/** All session cookies together, with names and separators. */
function bytesIn(browser: Browser): number {
  return browser
    .names('__session')
    .reduce((sum, name) => sum + name.length + 3 + (browser.cookies.get(name)?.value.length ?? 0), 0)
}

const sessionIn = (browser: Browser, client: IdpClient = world.client) =>
  client.getSession(browser.request('/'))

/** Runs an operation with a response that its cookies go to, as a route handler of an application does. */
async function within<T>(browser: Browser, operation: (request: Request, target: Headers) => Promise<T>) {
  const headers = new Headers()
  try {
    return await operation(browser.request('/'), headers)
  } finally {
    browser.store(new Response(null, { headers }))
  }
}

/** A session that has only so many bytes left. */
async function nearLimit(left: number, options: IdpClientOptions = {}) {
  const made = world.another(options)
  await world.login(made.browser)
  await within(made.browser, async (request, target) => {
    const session = await made.client.getSession(request)
    if (!session) throw new Error('not logged in')
    // Four characters of a cookie are three bytes of what it holds.
    const room = MAX_BYTES - bytesIn(made.browser) - left
    await made.client.updateSession(request, target, {
      ...session,
      note: 'x'.repeat(Math.floor(room / 1.36)),
    })
  })
  expect(bytesIn(made.browser)).toBeGreaterThan(MAX_BYTES - left - 400)
  expect(bytesIn(made.browser)).toBeLessThanOrEqual(MAX_BYTES)
  return made
}

const limits = () => world.events.filter((event) => event.code === 'SESSION_AT_LIMIT')

/** The whole life of a session that asks for many audiences. */
async function liveOn({ browser, client }: { browser: Browser; client: IdpClient }): Promise<void> {
  const one = new Process()
  for (const audience of AUDIENCES)
    expect((await one.run(() => tokenOf(browser, audience))).status, audience).toBe(200)

  // A restart, then a second process of the same application.
  for (const process of [new Process(), new Process()]) {
    world.clock.now += TTL + 1
    for (const audience of [undefined, ...AUDIENCES.slice(0, 3)])
      expect((await process.run(() => tokenOf(browser, audience))).status, audience).toBe(200)
  }

  // A Server Component, which cannot write, and a page of the same process after it.
  const last = new Process()
  world.clock.now += TTL + 1
  await last.run(async () => {
    for (const options of [{}, ...AUDIENCES.map((audience) => ({ audience }))]) {
      const found = await client.getAccessToken(browser.request('/'), undefined, options)
      expect(found.token).toBeTypeOf('string')
    }
    expect((await browser.send('/page')).headers.getSetCookie()).not.toEqual([])
  })
  world.clock.now += TTL + 1
  await new Process().run(async () => {
    expect((await tokenOf(browser)).status).toBe(200)
    expect((await sessionIn(browser, client))?.user.sub).toBeTypeOf('string')
  })
}

describe('[C2] a session that grows after its login stays valid', () => {
  test('with 20 audiences, a restart, a second process and a Server Component', async () => {
    await world.login(world.browser)
    await liveOn(world)
    expect(bytesIn(world.browser)).toBeLessThanOrEqual(MAX_BYTES)
    expect(limits()).not.toEqual([])
  })

  test('at the byte limit', async () => {
    const made = await nearLimit(600)
    await liveOn(made)
    expect(bytesIn(made.browser)).toBeLessThanOrEqual(MAX_BYTES + OVERDRAFT)
  })

  test('in a store', async () => {
    const made = world.another({ sessionStore: memoryStore() })
    await world.login(made.browser)
    await liveOn(made)
  })
})

describe('[C2] tokens that are left out of the cookies because a refresh token can obtain them again', () => {
  const [first = '', second = '', third = ''] = AUDIENCES

  test('are expired ones, those of connections, then access tokens, the oldest first; the event names them', async () => {
    const { browser, client } = await nearLimit(2150)
    for (const audience of [first, second]) expect((await tokenOf(browser, audience)).status).toBe(200)
    await within(browser, async (request, target) => {
      const session = await client.getSession(request)
      if (!session) throw new Error('not logged in')
      const connectionTokenSets = [TTL, -1].map((seconds) => ({
        accessToken: `token ${seconds} `.repeat(20),
        connection: seconds < 0 ? 'expired' : 'valid',
        expiresAt: world.clock.now + seconds,
      }))
      await client.updateSession(request, target, { ...session, connectionTokenSets })
    })
    expect(limits()).toEqual([])
    const order = ['connection expired', 'connection valid', `audience ${first}`, `audience ${second}`]
    const before = order.slice()
    for (const audience of AUDIENCES.slice(2, 6)) {
      expect((await tokenOf(browser, audience)).status).toBe(200)
      before.push(`audience ${audience}`)
    }
    const leftOut = limits().flatMap((event) => ('leftOut' in event ? event.leftOut : []))
    expect(leftOut).toEqual(before.slice(0, leftOut.length))
    expect(leftOut.length).toBeGreaterThan(3)
    const kept = (await sessionIn(browser))?.accessTokens?.map(({ audience }) => `audience ${audience}`)
    expect(kept).toEqual(before.slice(leftOut.length))
    expect((await sessionIn(browser))?.connectionTokenSets).toBeUndefined()
  })

  test('are never the one that is being written, at any limit', async () => {
    const { browser } = await nearLimit(100)
    for (const audience of [first, second, third]) {
      const response = await tokenOf(browser, audience)
      expect(response.status).toBe(200)
      const { token } = (await response.json()) as { token: string }
      expect((await sessionIn(browser))?.accessTokens).toMatchObject([{ accessToken: token, audience }])
    }
    expect(bytesIn(browser)).toBeLessThanOrEqual(MAX_BYTES + OVERDRAFT)
    expect(limits().at(-1)).toMatchObject({ bytes: bytesIn(browser) })
  })

  test('are requested again, and the others stay', async () => {
    const { browser } = await nearLimit(1100)
    for (const audience of [first, second, third]) await tokenOf(browser, audience)
    world.provider.clearRequests()
    expect((await tokenOf(browser, first)).status).toBe(200)
    expect(world.provider.count('token')).toBe(1)
    expect((await tokenOf(browser)).status).toBe(200)
    expect(world.provider.count('token')).toBe(1)
  })

  test('do not exist without a refresh token', async () => {
    const { browser, client } = await nearLimit(100)
    await within(browser, async (request, target) => {
      const session = await client.getSession(request)
      if (!session) throw new Error('not logged in')
      const { refreshToken: _none, ...tokenSet } = session.tokenSet
      const entry = { accessToken: 'a', audience: first, expiresAt: world.clock.now + TTL }
      await client.updateSession(request, target, { ...session, tokenSet, accessTokens: [entry] })
    })
    await within(browser, async (request, target) => {
      const session = await client.getSession(request)
      if (!session) throw new Error('not logged in')
      await expect(
        client.updateSession(request, target, { ...session, more: 'x'.repeat(2000) }),
      ).rejects.toMatchObject({ code: 'SESSION_TOO_LARGE' })
    })
    expect((await sessionIn(browser))?.accessTokens).toHaveLength(1)
  })
})

describe('[C2] the write after a refresh never fails', () => {
  const grow = (characters: number) =>
    world.provider.tamperIdToken((claims) => {
      claims['note'] = incompressible(characters)
    })

  test('[L1] up to 400 bytes more than the limit are written, with a warning', async () => {
    const { browser } = await nearLimit(100)
    grow(300)
    world.clock.now += TTL + 1
    expect((await tokenOf(browser)).status).toBe(200)
    const bytes = bytesIn(browser)
    expect(bytes).toBeGreaterThan(MAX_BYTES)
    expect(bytes).toBeLessThanOrEqual(MAX_BYTES + OVERDRAFT)
    expect(limits()).toEqual([
      { level: 'warn', code: 'SESSION_AT_LIMIT', bytes, limit: MAX_BYTES, leftOut: [] },
    ])
    // It is rolled as every other session.
    world.clock.now += 301
    expect((await browser.send('/page')).headers.getSetCookie()).not.toEqual([])
    world.clock.now += TTL + 1
    expect((await new Process().run(() => tokenOf(browser))).status).toBe(200)
  })

  test('[L1] above that the main access token stays in this process, and other processes refresh once', async () => {
    const [audience = ''] = AUDIENCES
    const { browser, client } = await nearLimit(100, { authorizationParameters: { audience } })
    grow(500)
    world.clock.now += TTL + 1
    const first = await tokenOf(browser)
    expect(first.status).toBe(200)
    const { token } = (await first.json()) as { token: string }
    expect(limits()).toMatchObject([{ leftOut: ['access token'] }])
    expect((await sessionIn(browser))?.user['note']).toBe(incompressible(500))
    expect(await sessionIn(browser)).toMatchObject({ tokenSet: { accessToken: '' } })
    world.provider.clearRequests()
    for (const path of ['/page', '/auth/profile', '/page']) {
      world.clock.now += 100
      await browser.send(path)
      expect(await (await tokenOf(browser)).json()).toMatchObject({ token })
      expect(await client.getAccessToken(browser.request('/'))).toMatchObject({ token })
    }
    expect(world.provider.count('token')).toBe(0)
    const connection = { connection: 'github', subject_token_type: ACCESS_TOKEN } as const
    await within(browser, (...args) => client.getAccessTokenForConnection(...args, connection))
    expect(world.provider.requests('token').map(({ body }) => body['subject_token'])).toEqual([token])
    world.provider.clearRequests()
    const other = new Process()
    await other.run(async () => {
      for (let call = 0; call < 3; call++) {
        const again = (await (await tokenOf(browser)).json()) as { token: string }
        expect(again.token).not.toBe('')
        expect(again.token).not.toBe(token)
      }
    })
    expect(world.provider.count('token')).toBe(1)
    // Until it expires, and not for another user of the browser.
    world.clock.now += TTL + 1
    expect(await (await tokenOf(browser)).json()).not.toMatchObject({ token })
    await browser.send('/auth/logout')
    expect((await tokenOf(browser)).status).toBe(401)
  })

  test.each([4000, 60_000, 100_000])(
    '[L1] above that the earlier ID token and user stay, with a warning (%d more characters)',
    async (characters) => {
      const { browser, client } = await nearLimit(100)
      const before = await sessionIn(browser)
      grow(characters)
      for (let refresh = 0; refresh < 3; refresh++) {
        world.clock.now += TTL + 1
        expect((await new Process().run(() => tokenOf(browser))).status).toBe(200)
        const after = await sessionIn(browser)
        expect(after?.user).toEqual(before?.user)
        expect(after?.tokenSet.idToken).toBe(before?.tokenSet.idToken)
        expect(after?.['note']).toBe(before?.['note'])
        expect(bytesIn(browser)).toBeLessThanOrEqual(MAX_BYTES + OVERDRAFT)
      }
      expect(limits().slice(0, 2)).toMatchObject([
        { leftOut: ['access token'] },
        { level: 'warn', leftOut: ['new ID token'] },
      ])
      // A Server Component, whose tokens wait for the next response.
      world.clock.now += TTL + 1
      await new Process().run(async () => {
        await client.getAccessToken(browser.request('/'))
        expect((await browser.send('/page')).headers.getSetCookie()).not.toEqual([])
        expect((await sessionIn(browser))?.user).toEqual(before?.user)
      })
      world.clock.now += TTL + 1
      expect((await new Process().run(() => tokenOf(browser))).status).toBe(200)
    },
  )

  test('updateSession leaves out tokens that can be obtained again, then throws with the bytes of each field', async () => {
    const { browser, client } = await nearLimit(1100)
    await tokenOf(browser, AUDIENCES[0])
    expect((await sessionIn(browser))?.accessTokens).toHaveLength(1)
    const update = (more: string) =>
      within(browser, async (request, target) => {
        const session = await client.getSession(request)
        if (!session) throw new Error('not logged in')
        await client.updateSession(request, target, { ...session, more })
      })
    await update('x'.repeat(800))
    expect((await sessionIn(browser))?.accessTokens).toBeUndefined()
    expect(limits()).toMatchObject([{ leftOut: ['audience https://api-0.example.test/'] }])
    await expect(update('x'.repeat(4000))).rejects.toMatchObject({
      code: 'SESSION_TOO_LARGE',
      fields: expect.objectContaining({ more: 4002 }),
    })
    expect((await sessionIn(browser))?.['more']).toHaveLength(800)
  })

  test('a login that does not fit is rejected', async () => {
    world.provider.tamperIdToken((claims) => {
      claims['note'] = incompressible(8000)
    })
    expect((await world.login(world.browser)).status).toBe(500)
    expect(world.browser.names('__session')).toEqual([])
    expect(world.events).toContainEqual(expect.objectContaining({ error: 'SESSION_TOO_LARGE' }))
  })
})

describe('[C2] where bytes are not limited', () => {
  const audiences = Array.from({ length: 102 }, (_, at) => `https://many-${at}.example.test/`)
  const apis = audiences.map((audience) => ({ audience, scopes: [] }))

  test.each(['a store', 'the memory of a process'])('%s keeps 100 further tokens', async (place) => {
    await world.provider.stop()
    world = await startWorld({}, { apis })
    const isStore = place === 'a store'
    const { browser, client } = world.another(isStore ? { sessionStore: memoryStore() } : {})
    await world.login(browser)
    // A page, which can write no cookie.
    for (const audience of audiences)
      await client.getAccessToken(browser.request('/'), undefined, { audience })
    const kept = (await sessionIn(browser, client))?.accessTokens?.map(({ audience }) => audience)
    expect(kept).toEqual(audiences.slice(2))
    expect(limits()).toMatchObject(
      audiences.slice(0, 2).map((audience) => ({ leftOut: [`audience ${audience}`], limit: 100 })),
    )
  })
})
