import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { constantTimeEqual } from '../../src/crypto/random.ts'
import type { SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'
import { engineFor } from '../support/engine.ts'

let world: World
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
afterEach(() => {
  vi.restoreAllMocks()
})

describe('[I3] how secrets are compared', () => {
  test('a comparison reads every character, wherever the first difference is', () => {
    const secret = 'a'.repeat(43)
    const read = vi.spyOn(String.prototype, 'charCodeAt')
    const counts = [0, 21, 42, undefined].map((at) => {
      const guess = at === undefined ? secret : `${secret.slice(0, at)}b${secret.slice(at + 1)}`
      read.mockClear()
      expect(constantTimeEqual(secret, guess)).toBe(at === undefined)
      return read.mock.calls.length
    })
    expect(new Set(counts)).toEqual(new Set([86]))
  })

  test('a store is read by a hash, and a transaction is found by one: neither session key nor state is a key', async () => {
    const asked = new Set<string>()
    const store = memoryStore()
    const sessionStore = new Proxy(store, {
      get(target, name: keyof SessionDataStore) {
        const work = target[name] as (...given: unknown[]) => unknown
        return (...given: unknown[]) => {
          if (typeof given[0] === 'string') asked.add(given[0])
          return work.apply(target, given)
        }
      },
    })
    const { browser, client } = world.another({ sessionStore })
    const location = new URL(await world.begin(browser))
    const state = location.searchParams.get('state') ?? ''
    const [transaction = ''] = browser.names('__txn_')
    expect(state).not.toContain(transaction.replace('__txn_', ''))
    await browser.send(await world.authorize(location.href))
    const sealed = browser.cookies.get('__session')?.value ?? ''
    const { sealer } = engineFor().engine
    const opened = await sealer.open('session-id', sealed)
    const [, , sessionKey = ''] = Buffer.from(opened ?? [])
      .toString()
      .split('.')
    expect(sessionKey).toMatch(/^[\w-]{22,}$/)
    expect(await client.getSession(browser.request('/'))).not.toBeNull()
    expect(asked.size).toBeGreaterThan(0)
    for (const key of asked) expect(key.includes(sessionKey) || sessionKey.includes(key)).toBe(false)
  })

  test('a cookie that was changed at any position is rejected and not decoded', async () => {
    const { browser, client } = world.another()
    await world.login(browser)
    const sealed = browser.cookies.get('__session')?.value ?? ''
    const { sealer } = engineFor().engine
    expect(await sealer.open('session', sealed)).not.toBeNull()
    const places = Array.from({ length: 60 }, (_, at) => Math.floor((at * sealed.length) / 60))
    const parse = vi.spyOn(JSON, 'parse')
    for (const at of [...places, sealed.length - 1]) {
      const changed = `${sealed.slice(0, at)}${sealed[at] === 'A' ? 'B' : 'A'}${sealed.slice(at + 1)}`
      parse.mockClear()
      expect(await sealer.open('session', changed), `${at}`).toBeNull()
      // At most the header is read before the tag is verified.
      expect(parse.mock.calls.length).toBeLessThanOrEqual(1)
      const request = new Request('http://localhost:3000/', { headers: { cookie: `__session=${changed}` } })
      expect(await client.getSession(request)).toBeNull()
    }
  })
})
