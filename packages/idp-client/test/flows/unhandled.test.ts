import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import type { IdpClientOptions, SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

/* Vitest fails a run in which a rejection is not handled anywhere; here everything fails that can, and nobody waits. */
const unhandled: unknown[] = []
const hear = (reason: unknown): void => void unhandled.push(reason)

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: 600 })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', hear)
  process.on('uncaughtException', hear)
})
afterEach(() => {
  process.off('unhandledRejection', hear)
  process.off('uncaughtException', hear)
  world.provider.faults.clear()
})

function failing(store: SessionDataStore, isDown: () => boolean): SessionDataStore {
  const members = Object.entries(store).map(([name, work]) => [
    name,
    async (...given: unknown[]) => {
      if (isDown()) throw new Error(`${name} is down`)
      return (work as (...given: unknown[]) => unknown)(...given)
    },
  ])
  return Object.fromEntries(members) as SessionDataStore
}

let isDown = false
const broken: [string, () => IdpClientOptions][] = [
  ['sessions in cookies', () => ({})],
  ['a store that fails', () => ({ sessionStore: failing(memoryStore(), () => isDown) })],
  [
    'hooks and a logger that fail',
    () => ({
      logger: () => Promise.reject(new Error('the logger')) as unknown as undefined,
      onCallback: () => {
        if (isDown) throw new Error('onCallback')
      },
      beforeSessionSaved: (session) => {
        if (isDown) throw new Error('beforeSessionSaved')
        return session
      },
    }),
  ],
]

test.each(broken)('[I3] no failure is an unhandled rejection: %s', async (_, options) => {
  isDown = false
  const { browser, client } = world.another(options())
  await world.login(browser)
  world.clock.now += 601
  isDown = true
  const faults = [
    { kind: 'reset' },
    { kind: 'respond', status: 500 },
    { kind: 'respond', status: 200, body: '{' },
  ] as const
  let failures = 0
  for (const fault of faults) {
    for (const endpoint of ['token', 'discovery', 'jwks', 'userinfo'] as const)
      world.provider.faults.set(endpoint, fault)
    const request = browser.request('/')
    const work = [
      ...['/auth/access-token', '/auth/profile', '/auth/login', '/auth/callback?state=x&code=y', '/page'].map(
        (path) => client.middleware(browser.request(path)),
      ),
      client.getAccessToken(request, new Headers(), { refresh: true }),
      client.getAccessTokenForConnection(request, new Headers(), { connection: 'github' }),
      client.getUserInfo(request),
      client.listConnectedAccounts(request),
      client.revokeRefreshToken(request, new Headers()),
    ]
    const results = await Promise.allSettled(work)
    failures += results.filter(({ status }) => status === 'rejected').length
    world.provider.faults.clear()
  }
  await client.middleware(browser.request('/auth/logout'))
  // Rejections that nobody handles are told after the microtasks of a turn.
  await new Promise((done) => setImmediate(done))
  await new Promise((done) => setImmediate(done))
  expect(failures).toBeGreaterThan(3)
  expect(unhandled).toEqual([])
})
