import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TakeOver } from '../../src/take-over/take-over.ts'
import type { Browser, World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { createStore } from '../support/former-library.ts'

const DAY = 86_400

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())

/** As docs/guides/session-stores.md prints it: takes over the sessions that the client without a store wrote. */
const fromCookies = (): TakeOver => ({
  until: new Date((world.clock.now + 30 * DAY) * 1000).toISOString().slice(0, 10),
  cookies: '__session',
  library: 'idp-client',
  async read(cookies) {
    const pairs = cookies.names().map((name) => `${name}=${encodeURIComponent(cookies.get(name) ?? '')}`)
    const headers = { cookie: pairs.join('; ') }
    const session = await world.client.getSession(new Request('http://localhost/', { headers }))
    if (!session) return null
    const { internal, tokenSet, user } = session
    return {
      user,
      sid: internal.sid,
      createdAt: internal.createdAt,
      sessionExpiresAt: internal.sessionExpiresAt,
      usedAt: world.clock.now,
      idToken: tokenSet.idToken,
      tokens: tokenSet,
    }
  },
})

const startWithStore = () => world.another({ sessionStore: createStore(world), takeOver: fromCookies() })

/** Gives a browser the cookies of another one. */
function copyCookies(from: Browser, to: Browser): void {
  for (const [name, cookie] of from.cookies) to.cookies.set(name, cookie)
}

async function loggedIn(): Promise<Browser> {
  const browser = world.newBrowser()
  await world.login(browser)
  return browser
}

test('a session in cookies moves to a store, with its tokens and the time of its login', async () => {
  const before = await loggedIn()
  const { internal, tokenSet, user } = await before.session()
  // Longer than a session lasts without use, but it was in use.
  for (let hours = 0; hours < 30; hours += 10) {
    world.clock.now += 10 * 3600
    await before.send('/page')
  }
  const { browser, client } = startWithStore()
  copyCookies(before, browser)
  await browser.send('/page')
  const session = await browser.session()
  expect(session).toMatchObject({ user, internal })
  expect(session.tokenSet.idToken).toBe(tokenSet.idToken)
  expect((await client.sessions.listBySubject(user.sub)).map(({ sid }) => sid)).toEqual([internal.sid])
  const { token } = await client.getAccessToken(browser.request('/'), new Headers())
  expect(token).not.toBe(tokenSet.accessToken)
})

test('logins of one user in the same second stay two sessions, and one that has ended does not return', async () => {
  const { browser, client } = startWithStore()
  const [first, second] = [await loggedIn(), await loggedIn()]
  copyCookies(first, browser)
  await browser.send('/page')
  const ids = async () => (await client.sessions.listBySubject('dev|alice')).map(({ id }) => id)
  const [id = ''] = await ids()
  second.store(await client.middleware(second.request('/page')))
  expect(await ids()).toHaveLength(2)
  await client.sessions.revoke(id)
  expect(await client.getSession(first.request('/'))).toBeNull()
  expect(await client.getSession(second.request('/'))).not.toBeNull()
})
