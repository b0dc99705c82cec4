import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClientOptions } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { Process } from '../support/processes.ts'

const TTL = 600
const TOKEN = '/auth/access-token'

let world: World
beforeEach(async () => {
  Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterEach(async () => {
  vi.unstubAllGlobals()
  await world.provider.stop()
})

async function noticesOf(options: IdpClientOptions = {}): Promise<unknown[]> {
  const { browser } = world.another(options)
  await world.login(browser)
  for (let count = 0; count < 2; count += 1) {
    world.clock.now += TTL + 1
    expect((await browser.send(TOKEN)).status).toBe(200)
  }
  return world.events.flatMap((event) => (event.code === 'NOTICE' ? [event.message] : []))
}

describe('[D1] a refresh in the edge realm of Next.js', () => {
  test('is reported once', async () => {
    vi.stubGlobal('EdgeRuntime', 'edge-runtime')
    expect(await noticesOf()).toEqual([
      expect.stringMatching(/edge runtime.*runtime: 'nodejs'.*handlers\(\)/),
    ])
  })

  test('is not reported with sessions in a store, which both realms share', async () => {
    vi.stubGlobal('EdgeRuntime', 'edge-runtime')
    const sessionStore = memoryStore({ name: crypto.randomUUID(), clock: () => world.clock.now })
    expect(await noticesOf({ sessionStore })).toEqual([])
  })

  test('is not reported elsewhere', async () => {
    expect(await noticesOf()).toEqual([])
  })
})

test('[D1] a session that the edge realm rolls while the server refreshes it keeps the newer refresh token', async () => {
  const [edge, server] = [new Process(), new Process()]
  const { browser, client } = world.another()
  await world.login(browser)
  world.clock.now += TTL + 1
  // The middleware rolls the session, and hands the request on with the cookie that it wrote.
  const rolled = await edge.run(() => client.middleware(browser.request('/page')))
  expect(rolled.headers.getSetCookie().join()).toContain('__session=')
  browser.store(rolled)
  const headers = new Headers()
  const { token } = await server.run(() => client.getAccessToken({}, browser.request('/page'), headers))
  browser.store(new Response(null, { headers }))
  // Later requests find what the server brought, in either realm.
  for (const realm of [edge, server]) {
    const session = await realm.run(() => client.getSession(browser.request('/page')))
    expect(session?.tokenSet.accessToken).toBe(token)
  }
  for (const realm of [edge, server, edge]) {
    world.clock.now += TTL + 1
    expect((await realm.run(() => browser.send(TOKEN))).status).toBe(200)
  }
})
