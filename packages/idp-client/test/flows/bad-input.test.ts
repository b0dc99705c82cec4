import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

// A compressed block that lies: dead-cookies.test.ts; a header of 8 kB: cookie-limits.test.ts; a `Host` that is not
// allowed: test/adapters/mounting.test.ts; 401 unauthorized_client: access-token.test.ts.

const DAY = 86_400

let world: World
beforeEach(async () => {
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
  world = await startWorld()
})
afterEach(() => world.provider.stop())

const changed = (response: Response): string[] =>
  response.headers.getSetCookie().filter((line) => line.startsWith('__session'))

const ofLevel = (...levels: LogEvent['level'][]): LogEvent[] =>
  world.events.filter(({ level }) => levels.includes(level))

test('[Q6] 10,000 query parameters cause no failure on any route, and no other one loses the session', async () => {
  const { browser, login } = world
  await login(browser)
  const query = Array.from({ length: 10_000 }, (_, index) => `p${index}=v`).join('&')
  const expected = [
    ['/auth/login', 400],
    ['/auth/callback', 400],
    ['/auth/profile', 200],
    ['/auth/access-token', 200],
    ['/page', 200],
    ['/auth/logout', 302],
  ] as const
  for (const [path, status] of expected) {
    if (path === '/auth/logout') expect((await browser.session()).user.sub).toBe('dev|alice')
    const response = await browser.send(`${path}?${query}`)
    expect([path, response.status]).toEqual([path, status])
    expect(response.headers.get('location') ?? '').not.toContain('p9999')
  }
  expect(ofLevel('error')).toEqual([])
  expect(JSON.stringify(world.events)).not.toContain('p9999')
})

const places: [string, () => IdpClientOptions][] = [
  ['in cookies', () => ({})],
  [
    'in a store',
    () => ({ sessionStore: memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now }) }),
  ],
]

describe.each(places)('[Q6] a clock that is a day behind, with sessions %s', (_place, options) => {
  test('rejects a login with an error that names the clocks, and the next one works', async () => {
    const { browser } = world.another(options())
    const start = world.clock.now
    world.clock.now = start - DAY
    world.provider.clock.advance(DAY)
    const failed = await world.login(browser)
    expect(failed.status).toBeGreaterThanOrEqual(400)
    expect(changed(failed)).toEqual([])
    expect(world.events).toContainEqual(expect.objectContaining({ remedy: 'CLOCKS_DIFFER' }))
    world.clock.now = start
    world.provider.clock.advance(-DAY)
    expect((await world.login(browser)).status).toBe(302)
    expect((await browser.session()).user.sub).toBe('dev|alice')
  })

  test('leaves a session of another server alone, and redeems none of its tokens', async () => {
    const { browser } = world.another(options())
    await world.login(browser)
    const start = world.clock.now
    world.clock.now = start - DAY
    world.provider.clock.advance(DAY)
    world.provider.clearRequests()
    for (const [path, status] of [
      ['/auth/profile', 401],
      ['/auth/access-token', 401],
      ['/page', 200],
    ] as const) {
      const response = await browser.send(path)
      expect([path, response.status, changed(response)]).toEqual([path, status, []])
    }
    expect(world.refreshes()).toEqual([])
    expect(world.events).toContainEqual(expect.objectContaining({ remedy: 'CLOCKS_DIFFER' }))
    world.clock.now = start
    world.provider.clock.advance(-DAY)
    expect((await browser.session()).user.sub).toBe('dev|alice')
    expect((await browser.send('/auth/access-token')).status).toBe(200)
  })

  test('at the provider alone: a refresh keeps session, user and the new refresh token', async () => {
    const { browser } = world.another(options())
    await world.login(browser)
    const before = await browser.session()
    world.clock.now += DAY / 2
    world.provider.clock.advance(-DAY)
    const response = await browser.send('/auth/access-token')
    expect(response.status).toBe(200)
    expect(world.events).toContainEqual(
      expect.objectContaining({ code: 'REFRESHED_ID_TOKEN_IGNORED', level: 'warn', reason: 'time' }),
    )
    const after = await browser.session()
    expect(after.user).toEqual(before.user)
    expect(after.tokenSet.refreshToken).not.toBe(before.tokenSet.refreshToken)
  })
})
