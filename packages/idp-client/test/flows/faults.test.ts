import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import type { Fault } from '../support/timeouts.ts'
import { toTimeout } from '../support/timeouts.ts'

/* Every wire fault of a provider. */
const faults: Record<string, Fault> = {
  'never responds': { kind: 'hang' },
  'never responds after it processed the request': { kind: 'hang', commit: true },
  'responds too late': { kind: 'delay', ms: 3000 },
  'drips headers': { kind: 'slowHeaders' },
  'drips the body': { kind: 'slowBody' },
  '500 JSON': {
    kind: 'respond',
    status: 500,
    body: '{"error":"server_error","error_description":"out of order"}',
    headers: { 'content-type': 'application/json' },
  },
  '502 HTML': {
    kind: 'respond',
    status: 502,
    body: '<h1>proxy says no</h1>',
    headers: { 'content-type': 'text/html' },
  },
  '503 Retry-After': { kind: 'respond', status: 503, headers: { 'retry-after': '1' } },
  '429 Retry-After': { kind: 'respond', status: 429, headers: { 'retry-after': '1' } },
  '200 HTML': { kind: 'respond', body: '<h1>wifi for guests</h1>', headers: { 'content-type': 'text/html' } },
  truncated: { kind: 'truncate' },
  empty: { kind: 'empty' },
  null: { kind: 'null' },
  array: { kind: 'array' },
  'reset before headers': { kind: 'reset' },
  'reset in the body': { kind: 'reset', at: 'body' },
  'reset after it acted': { kind: 'reset', at: 'commit' },
  '64 MiB': { kind: 'huge' },
  'huge header': { kind: 'hugeHeader' },
  'gzip bomb': { kind: 'gzipBomb' },
  'broken gzip': { kind: 'brokenGzip' },
  'redirect elsewhere': { kind: 'redirect', location: 'http://127.0.0.1:9/' },
  'redirect to itself': { kind: 'redirect' },
}

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  world.provider.faults.clear()
  world.provider.clearRequests()
  world.events.length = 0
})

function expectClean(text: string): void {
  expect(text).not.toMatch(/proxy says no|wifi for guests|out of order|node_modules|at .*\.ts:/)
}

describe.each(Object.entries(faults))('the provider %s', (name, fault) => {
  test('at the token endpoint: 502, 503 or 504, no session, the transaction is deleted, the next login works', async () => {
    await world.login(world.newBrowser())
    world.provider.clearRequests()
    const { browser } = world.another({ httpTimeout: toTimeout(fault) })
    const callback = await world.authorize(await world.begin(browser))
    world.provider.faults.set('token', fault)
    const response = await browser.send(callback)
    world.provider.faults.clear()
    expect([502, 503, 504]).toContain(response.status)
    expect(response.headers.get('cache-control')).toContain('no-store')
    expectClean(await response.text())
    expect(world.provider.count('token')).toBe(1)
    expect(browser.cookies.size).toBe(0)
    expect((await world.login(browser)).status).toBe(302)
  })

  test('at discovery and at the keys without a cache: 502, 503 or 504, and failures are not cached', async () => {
    for (const endpoint of ['discovery', 'jwks'] as const) {
      const own = await startWorld()
      own.provider.faults.set(endpoint, fault)
      const { browser } = own.another({ httpTimeout: toTimeout(fault) })
      const started = await browser.send('/auth/login?returnTo=/x')
      if (endpoint === 'discovery') {
        expect([502, 504], name).toContain(started.status)
        expect(browser.cookies.size).toBe(0)
        expectClean(await started.text())
      } else {
        const done = await browser.send(await own.authorize(started.headers.get('location') ?? ''))
        expect([502, 504], name).toContain(done.status)
        expect(browser.names('__session')).toEqual([])
        expectClean(await done.text())
      }
      own.provider.faults.clear()
      expect((await own.login(own.newBrowser())).status).toBe(302)
      await own.provider.stop()
    }
  })
})

test('for ten minutes: sessions keep working, nothing is deleted, logins recover without a restart', async () => {
  const browser = world.newBrowser()
  await world.login(browser)
  const before = [...browser.cookies.keys()]
  for (const endpoint of ['discovery', 'jwks', 'token'] as const)
    world.provider.faults.set(endpoint, { kind: 'reset' })
  for (let minute = 0; minute < 10; minute++) {
    world.clock.now += 60
    expect((await browser.send('/auth/profile')).status).toBe(200)
    expect((await browser.send('/page')).status).toBe(200)
    expect((await world.client.getAccessToken(browser.request('/'))).token).toBeTruthy()
  }
  expect([...browser.cookies.keys()]).toEqual(before)
  const failed = world.newBrowser()
  const url = await world.begin(failed)
  expect((await failed.send(await world.authorize(url))).status).toBe(502)
  world.provider.faults.clear()
  expect((await world.login(world.newBrowser())).status).toBe(302)
})

test('no event contains a token, a cookie, an e-mail address or text of the provider', async () => {
  await world.login(world.newBrowser(), '', { user: 'mallory' })
  await world.login(world.newBrowser(), '', { deny: true })
  world.provider.faults.set('token', {
    kind: 'respond',
    status: 400,
    body: '{"error":"invalid_grant","error_description":"token eyJhbGciOi of alice"}',
    headers: { 'content-type': 'application/json' },
  })
  await world.login(world.newBrowser())
  const logged = JSON.stringify(world.events)
  expect(world.events.length).toBeGreaterThan(4)
  expect(logged).not.toMatch(/eyJ|@|<script|alice|mallory/i)
  expect(logged).not.toContain(world.provider.clientSecret)
})
