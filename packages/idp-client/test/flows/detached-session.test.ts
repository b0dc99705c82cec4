import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { IdpClientOptions, SessionData, SessionDataStore } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const TTL = 600

let world: World
beforeAll(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterAll(() => world.provider.stop())

/** Everything that an application can do to an object that it was given. */
function spoil(session: SessionData): void {
  session.user.sub = 'mallory'
  session.user['roles'] = ['admin']
  session['note'] = 'mine'
  session.internal.createdAt = 4_000_000_000
  session.internal.sid = 'other'
  session.tokenSet.idToken = 'other'
  session.tokenSet.scope = 'admin'
  session.accessTokens?.splice(0)
  const nested = session.user['address']
  if (typeof nested === 'object' && nested !== null) Object.assign(nested, { country: 'XX' })
}

/** A store that returns the same object again as long as the record has not changed. */
function storeWithCache(): SessionDataStore {
  const store = memoryStore()
  const returned = new Map<string, { text: string; session: SessionData | null }>()
  return {
    ...store,
    async get(id) {
      const session = await store.get(id)
      const text = JSON.stringify(session)
      if (returned.get(id)?.text !== text) returned.set(id, { text, session })
      return returned.get(id)?.session ?? null
    },
  }
}

const places: [string, () => IdpClientOptions][] = [
  ['cookies', () => ({})],
  ['a store', () => ({ sessionStore: memoryStore() })],
  ['a store that keeps the objects that it returns', () => ({ sessionStore: storeWithCache() })],
]

describe.each(places)(
  '[C7] a change of the object that getSession returned: sessions in %s',
  (_, options) => {
    async function signedIn() {
      world.provider.tamperIdToken((claims) => {
        claims['address'] = { country: 'NO' }
      })
      const made = world.another(options())
      await world.login(made.browser)
      const headers = new Headers()
      const audience = 'https://api.example.test/'
      await made.client.getAccessToken(made.browser.request('/'), headers, { audience })
      made.browser.store(new Response(null, { headers }))
      const saved = await made.client.getSession(made.browser.request('/'))
      return { ...made, saved: structuredClone(saved ?? expect.fail('signed in')) }
    }

    test('is not written by a refresh, and not visible to the next call or request', async () => {
      const { browser, client, saved } = await signedIn()
      for (let requests = 0; requests < 3; requests++) {
        const session = (await client.getSession(browser.request('/'))) ?? expect.fail('signed in')
        expect(session).toEqual(saved)
        spoil(session)
      }
      world.clock.now += TTL + 1
      const request = browser.request('/')
      const headers = new Headers()
      spoil((await client.getSession(request)) ?? expect.fail('signed in'))
      expect(await client.getSession(request)).toEqual(saved)
      await client.getAccessToken(request, headers)
      browser.store(new Response(null, { headers }))
      const after = await client.getSession(browser.request('/'))
      expect(after?.user).toEqual(saved.user)
      expect(after?.internal).toEqual(saved.internal)
      expect(after).not.toHaveProperty('note')
      expect(after?.tokenSet.refreshToken).not.toBe(saved.tokenSet.refreshToken)
      expect(after?.tokenSet.scope).toBe(saved.tokenSet.scope)
    })

    test('is not written by a roll', async () => {
      const { browser, client, saved } = await signedIn()
      world.clock.now += 301
      const request = browser.request('/page')
      const response = await client.middleware(request, async () => {
        spoil((await client.getSession()) ?? expect.fail('signed in'))
        await client.getAccessToken()
        return new Response('ok')
      })
      browser.store(response)
      const again = await client.getSession(browser.request('/'))
      expect(again).toEqual(saved)
    })

    test('is saved by updateSession, except for properties that the library controls', async () => {
      const { browser, client, saved } = await signedIn()
      const request = browser.request('/')
      const headers = new Headers()
      const session = (await client.getSession(request)) ?? expect.fail('signed in')
      spoil(session)
      await client.updateSession(request, headers, session)
      browser.store(new Response(null, { headers }))
      const after = await client.getSession(browser.request('/'))
      expect(after).toMatchObject({ note: 'mine', user: { sub: 'mallory', roles: ['admin'] } })
      expect(after?.internal).toEqual(saved.internal)
      expect(after?.tokenSet.idToken).toBe(saved.tokenSet.idToken)
    })
  },
)
