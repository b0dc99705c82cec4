import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IdpClient, IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { BrowserJar } from '../support/browser-jar.ts'

const ONE = 'http://localhost:3000'
const OTHER = 'http://localhost:3001'
const OTHER_SECRET = 'the other application has a secret of its own'
const LARGE = 'abcdefghij'.repeat(400)

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())

/** One browser in front of several applications, whose ports are nothing to its cookies. */
class TestBrowser {
  readonly jar = new BrowserJar()

  async visit(client: IdpClient, address: string): Promise<Response> {
    const url = new URL(address)
    const response = await client.middleware(this.request(address))
    for (const line of response.headers.getSetCookie()) this.jar.take(line, url)
    return response
  }

  request(address: string): Request {
    const url = new URL(address)
    return new Request(url, { headers: { host: url.host, cookie: this.jar.header(url) } })
  }

  async login(app: App, options: Parameters<World['authorize']>[1] = { user: 'alice' }): Promise<Response> {
    const begun = await this.visit(app.client, `${app.url}/auth/login`)
    const back = await world.authorize(begun.headers.get('location') ?? '', options)
    return this.visit(app.client, back)
  }

  async isSignedIn(app: App): Promise<boolean> {
    return (await app.client.getSession(this.request(`${app.url}/`))) !== null
  }
}

interface App {
  readonly client: IdpClient
  readonly url: string
}

function appAt(url: string, options: IdpClientOptions = {}): App {
  return { client: world.another({ appBaseUrl: url, ...options }).client, url }
}

const stored = (): IdpClientOptions => ({ sessionStore: memoryStore({ name: randomUUID() }) })

const named = ({ session, ...options }: IdpClientOptions, name: string): IdpClientOptions => ({
  ...options,
  session: { ...session, cookie: { ...session?.cookie, name } },
})

/** A large session, so that it takes several cookies where it is in cookies. */
const large: IdpClientOptions = {
  beforeSessionSaved: (session) => ({ ...session, note: LARGE }),
  session: { cookie: { maxBytes: 20_000 } },
}

test('[Q4] beside cookies of another application only the dead session itself is deleted', async () => {
  const one = appAt(ONE)
  const other = appAt(OTHER, { ...large, secret: OTHER_SECRET })
  const browser = new TestBrowser()
  await browser.login(one)
  const own = /__session=[^;]+/.exec(browser.jar.header(new URL(ONE)))?.[0] ?? ''
  await browser.login(other)
  browser.jar.take('__session__conn_0=theirs; Path=/', new URL(ONE))
  const names = browser.jar.names()
  expect(names).toEqual(expect.arrayContaining(['__session__0', '__session__1']))
  browser.jar.take(`${own}x; Path=/`, new URL(ONE))
  await browser.visit(one.client, `${one.url}/page`)
  expect(browser.jar.names()).toEqual(names)
  expect(await browser.isSignedIn(other)).toBe(true)
})

describe.each<[string, () => IdpClientOptions, () => IdpClientOptions]>([
  ['both in cookies', () => ({}), () => ({})],
  ['the other one in several cookies', () => ({}), () => large],
  ['one in several cookies', () => large, () => ({})],
  ['both in stores', stored, stored],
  ['one in a store', stored, () => large],
])('two applications on one host, %s', (_name, oneOptions, otherOptions) => {
  test('[J3] two applications with different cookie names keep their sessions', async () => {
    const one = appAt(ONE, named(oneOptions(), 'one'))
    const other = appAt(OTHER, { ...named(otherOptions(), 'other'), secret: OTHER_SECRET })
    const browser = new TestBrowser()
    await browser.login(one)
    await browser.login(other)
    for (const { client, url } of [one, other]) {
      await browser.visit(client, `${url}/page`)
      expect((await browser.visit(client, `${url}/auth/profile`)).status).toBe(200)
    }
    expect([await browser.isSignedIn(one), await browser.isSignedIn(other)]).toEqual([true, true])
    await browser.visit(one.client, `${one.url}/auth/logout`)
    expect([await browser.isSignedIn(one), await browser.isSignedIn(other)]).toEqual([false, true])
  })

  test('[J3] with the same name only a login or logout of the other one removes a session', async () => {
    const one = appAt(ONE, oneOptions())
    const other = appAt(OTHER, { ...otherOptions(), secret: OTHER_SECRET })
    const browser = new TestBrowser()
    await browser.login(one)
    await browser.visit(other.client, `${other.url}/page`)
    expect((await browser.visit(other.client, `${other.url}/auth/profile`)).status).toBe(401)
    expect((await browser.visit(other.client, `${other.url}/auth/access-token`)).status).toBe(401)
    expect((await browser.login(other, { deny: true })).status).toBe(400)
    expect((await browser.visit(other.client, `${other.url}/auth/callback?code=x&state=y`)).status).toBe(400)
    expect([await browser.isSignedIn(one), await browser.isSignedIn(other)]).toEqual([true, false])

    await browser.login(other)
    expect([await browser.isSignedIn(one), await browser.isSignedIn(other)]).toEqual([false, true])
    await browser.visit(one.client, `${one.url}/page`)
    expect((await browser.visit(one.client, `${one.url}/auth/profile`)).status).toBe(401)
    expect(await browser.isSignedIn(other)).toBe(true)

    await browser.visit(one.client, `${one.url}/auth/logout`)
    expect(await browser.isSignedIn(other)).toBe(false)
    expect(browser.jar.names().filter((name) => name !== '__session__ended')).toEqual([])
  })

  test('[J3] a login removes every cookie of the name, of any origin', async () => {
    const one = appAt(ONE, oneOptions())
    const browser = new TestBrowser()
    const names = ['__session__0', '__session__7', '__session__conn_0', '__session__conn_1__0']
    for (const name of names) browser.jar.take(`${name}=foreign; Path=/`, new URL(ONE))
    await browser.visit(one.client, `${ONE}/page`)
    expect(browser.jar.names()).toEqual(names)
    await browser.login(one)
    expect(await browser.isSignedIn(one)).toBe(true)
    const values = browser.jar.sent(new URL(ONE)).map(({ value }) => value)
    expect(values).not.toContain('foreign')
  })

  test('[C1, J3] recorded use does not change the cookies of another application', async () => {
    const one = appAt(ONE, oneOptions())
    const other = appAt(OTHER, { ...otherOptions(), secret: OTHER_SECRET })
    const browser = new TestBrowser()
    // The other one's cookie came with a longer path.
    const elsewhere = new TestBrowser()
    await elsewhere.login(other)
    await browser.login(one)
    for (const { name, value } of elsewhere.jar.sent(new URL(OTHER))) {
      browser.jar.take(`${name}=${value}; Path=/sub`, new URL(`${OTHER}/sub/`))
    }
    world.clock.now += 400
    const rolled = await browser.visit(one.client, `${ONE}/sub/page`)
    expect(rolled.headers.getSetCookie().some((line) => line.startsWith('__session'))).toBe(true)
    expect(await browser.isSignedIn(one)).toBe(true)
    expect(await other.client.getSession(browser.request(`${OTHER}/sub/`))).not.toBeNull()
  })
})

test('[J3] truncated or changed cookies belong to the library, and are deleted once', async () => {
  const one = appAt(ONE)
  const browser = new TestBrowser()
  await browser.login(one)
  const [cookie] = browser.jar.sent(new URL(ONE))
  for (const value of [cookie?.value.slice(0, -1), cookie?.value.slice(0, 120), `${cookie?.value}x`]) {
    browser.jar.take(`__session=${value}; Path=/`, new URL(ONE))
    browser.jar.take('__session__conn_x=another; Path=/', new URL(ONE))
    const response = await browser.visit(one.client, `${ONE}/page`)
    expect(response.headers.getSetCookie()).toHaveLength(1)
    expect(browser.jar.names()).toEqual(['__session__conn_x'])
  }
})

test('[J3] another client with the same secret is another application', async () => {
  const { clientId, clientSecret } = await world.provider.addClient({
    redirectUris: [`${OTHER}/auth/callback`],
  })
  const one = appAt(ONE)
  const other = appAt(OTHER, { clientId, ...(clientSecret === undefined ? {} : { clientSecret }) })
  const browser = new TestBrowser()
  await browser.login(one)
  await browser.visit(other.client, `${OTHER}/page`)
  expect(await browser.isSignedIn(one)).toBe(true)
  await browser.login(other)
  await browser.visit(one.client, `${ONE}/page`)
  expect([await browser.isSignedIn(one), await browser.isSignedIn(other)]).toEqual([false, true])
})

test('[J3] one notice of this process names the option', () => {
  const notices = world.events.filter((event) => event.code === 'NOTICE' && event.remedy !== undefined)
  expect(notices).toEqual([
    {
      level: 'warn',
      code: 'NOTICE',
      message: expect.stringContaining('session.cookie.name'),
      remedy: 'SESSION_COOKIE_SHARED',
    },
  ])
})

describe('[C1] two values in one request, in the order of a browser', () => {
  test.each<[string, () => IdpClientOptions]>([
    ['in cookies', () => ({})],
    ['in a store', stored],
  ])('sessions %s', async (_name, options) => {
    const app = appAt(ONE, options())
    const browsers = [new TestBrowser(), new TestBrowser()]
    const values: string[] = []
    for (const browser of browsers) {
      await browser.login(app)
      values.push(browser.jar.sent(new URL(ONE))[0]?.value ?? '')
    }
    await browsers[0]?.visit(app.client, `${ONE}/auth/logout`)
    const ask = (path: string, all: readonly string[]): Promise<Response> => {
      const cookie = all.map((value) => `__session=${value}`).join('; ')
      return app.client.middleware(
        new Request(`${ONE}${path}`, { headers: { host: 'localhost:3000', cookie } }),
      )
    }
    const orders = [values, [...values].reverse()]
    for (const order of orders) {
      const response = await ask('/auth/profile', order)
      expect([response.status, response.headers.getSetCookie()]).toEqual([200, []])
      expect((await ask('/page', order)).headers.getSetCookie()).toEqual([])
    }
    const out = await ask('/auth/logout', values)
    expect(out.headers.getSetCookie().some((line) => /^__session=;.*Max-Age=0/.test(line))).toBe(true)
    for (const order of [...orders, ...values.map((value) => [value])]) {
      expect((await ask('/auth/profile', order)).status).toBe(401)
    }
  })
})

test('a roll deletes its own connection cookies that are no longer needed, and none of another application', async () => {
  const one = appAt(ONE)
  const other = appAt(OTHER, { secret: OTHER_SECRET })
  const [browser, neighbour] = [new TestBrowser(), new TestBrowser()]
  for (const [who, app] of [
    [browser, one],
    [neighbour, other],
  ] as const) {
    await who.login(app)
    const headers = new Headers()
    for (const connection of ['github', 'google-oauth2'])
      await app.client.getAccessTokenForConnection(who.request(`${app.url}/`), headers, { connection })
    for (const line of headers.getSetCookie()) who.jar.take(line, new URL(app.url))
  }
  const cookiesOf = (who: TestBrowser, app: App) =>
    new Map(
      who.jar
        .header(new URL(app.url))
        .split('; ')
        .map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)] as const),
    )
  const [mine, theirs] = [cookiesOf(browser, one), cookiesOf(neighbour, other)]
  const foreign = `__session=${mine.get('__session')}; __session=${theirs.get('__session')}`
  const requestWith = (conn: string) =>
    new Request(`${ONE}/page`, { headers: { host: 'localhost:3000', cookie: `${foreign}; ${conn}` } })
  const deleted = (response: { headers: Headers }) =>
    response.headers
      .getSetCookie()
      .filter((line) => /max-age=0(;|$)/i.test(line))
      .map((line) => line.slice(0, line.indexOf('=')))
  world.clock.now += 400

  const roll = await one.client.middleware(
    requestWith(`__session__conn_4=${theirs.get('__session__conn_1')}`),
  )
  expect(roll.headers.getSetCookie().some((line) => line.startsWith('__session='))).toBe(true)
  expect(deleted(roll)).toEqual([])

  const both = `__session__conn_0=${mine.get('__session__conn_0')}; __session__conn_1=${mine.get('__session__conn_1')}`
  const request = requestWith(`${both}; __session__conn_4=${theirs.get('__session__conn_1')}`)
  const session = (await one.client.getSession(request)) ?? expect.fail('signed in')
  expect(session.connectionTokenSets).toHaveLength(2)
  const headers = new Headers()
  const { connectionTokenSets: _removed, ...rest } = session
  await one.client.updateSession(request, headers, rest as typeof session)
  expect(deleted({ headers }).sort()).toEqual(['__session__conn_0', '__session__conn_1'])
})

test('a session that gets smaller deletes its cookies, also those with names that another application uses', async () => {
  const one = appAt(ONE, large)
  const other = appAt(OTHER, { ...large, secret: OTHER_SECRET })
  const [browser, elsewhere] = [new TestBrowser(), new TestBrowser()]
  await elsewhere.login(other)
  await browser.login(one)
  for (const { name, value } of elsewhere.jar.sent(new URL(OTHER)))
    browser.jar.take(`${name}=${value}; Path=/sub`, new URL(`${OTHER}/sub/`))
  const before = browser.jar.sent(new URL(ONE)).map(({ name }) => name)
  expect(before).toEqual(expect.arrayContaining(['__session__0', '__session__1']))
  const request = browser.request(`${ONE}/sub/page`)
  const session = (await one.client.getSession(request)) ?? expect.fail('signed in')
  const headers = new Headers()
  await one.client.updateSession(request, headers, { ...session, note: 'short' })
  for (const line of headers.getSetCookie()) browser.jar.take(line, new URL(request.url))
  expect(browser.jar.sent(new URL(ONE)).map(({ name }) => name)).toEqual(['__session'])
  expect(await other.client.getSession(browser.request(`${OTHER}/sub/`))).not.toBeNull()
})
