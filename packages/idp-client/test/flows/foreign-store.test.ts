import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { SessionData, SessionDataStore } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

const SENTENCE =
  'sessionStore.update returned no session and not null: update(id, session) of other libraries does that.'

let world: World
let records: Map<string, string>
beforeAll(async () => {
  world = await startWorld()
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  records = new Map()
  world.events.length = 0
})

const plain = (): SessionDataStore => ({
  get: async (id) => JSON.parse(records.get(id) ?? 'null'),
  set: async (id, session) => void records.set(id, JSON.stringify(session)),
  delete: async (id) => void records.delete(id),
})

/** The same with an `update` that replaces a record, as other libraries define it. */
function foreign(update: (id: string, session: unknown) => Promise<unknown>): SessionDataStore {
  return { ...plain(), update: update as unknown as NonNullable<SessionDataStore['update']> }
}

const replaces = foreign(async (id, session) => {
  const isThere = records.has(id)
  if (isThere) records.set(id, JSON.stringify(session))
  return isThere
})

const upserts = foreign(async (id, session) => {
  records.set(id, JSON.stringify(session) ?? '')
  return true
})

const returnsNothing = foreign(async (id, session) => {
  if (records.has(id)) records.set(id, JSON.stringify(session))
})

/** Declares as many parameters as ours, and the last one is something else. */
const withThreeParameters = foreign(async (id: string, session: unknown, _ttl?: unknown) => {
  if (records.has(id)) records.set(id, JSON.stringify(session) ?? '')
  return true
})
Object.defineProperty(withThreeParameters.update, 'length', { value: 3 })

describe.each([
  ['replaces', replaces],
  ['has three parameters', withThreeParameters],
  ['replaces and returns nothing', returnsNothing],
  ['inserts or replaces', upserts],
])('an update of another library that %s', (_what, sessionStore) => {
  test('[G4] is rejected at the first login, with an explanation', async () => {
    const { browser } = world.another({ sessionStore })
    const response = await world.login(browser)
    expect(response.status).toBe(503)
    expect(world.events).toContainEqual(
      expect.objectContaining({
        level: 'error',
        detail: expect.stringContaining(SENTENCE),
        advice: expect.stringContaining('rename or remove it'),
        remedy: 'SESSION_STORE_UPDATE',
      }),
    )
    expect(browser.names('__session')).toEqual([])
  })

  test('[G4] does not change sessions that are already in the store', async () => {
    const { browser: before } = world.another({ sessionStore: plain() })
    await world.login(before)
    const [id = '', stored] = [...records][0] ?? []
    const { browser, client } = world.another({ sessionStore })
    for (const [name, cookie] of before.cookies) browser.cookies.set(name, cookie)
    const session = (await client.getSession(browser.request('/'))) as SessionData
    await expect(
      client.updateSession(browser.request('/'), new Headers(), { ...session, theme: 'dark' }),
    ).rejects.toMatchObject({ code: 'SESSION_STORE_FAILED', message: expect.stringContaining(SENTENCE) })
    world.clock.now += 400
    await browser.send('/')
    expect(records.get(id)).toBe(stored)
    expect((await client.getSession(browser.request('/')))?.user.sub).toBe('dev|alice')
  })
})

test('[G4] the update of another library is called once, for any number of logins', async () => {
  const asked: string[] = []
  const sessionStore = foreign(async (id) => {
    asked.push(id)
    return true
  })
  const { browser } = world.another({ sessionStore })
  for (let login = 0; login < 3; login++) expect((await world.login(browser)).status).toBe(503)
  expect(asked).toHaveLength(1)
})

describe('an update with two parameters, like that of the library', () => {
  const calls: string[] = []
  const ours = (): SessionDataStore => ({
    ...plain(),
    async update(id, change) {
      calls.push(id)
      const current = records.get(id)
      if (current === undefined) return null
      const changed = change(JSON.parse(current))
      records.set(id, JSON.stringify(changed))
      return changed
    },
  })

  test('is called for an unknown id once, and then used', async () => {
    calls.length = 0
    const { browser, client } = world.another({ sessionStore: ours() })
    await world.login(browser)
    const session = (await client.getSession(browser.request('/'))) as SessionData
    await client.updateSession(browser.request('/'), new Headers(), { ...session, theme: 'dark' })
    const [id] = records.keys()
    expect(calls).toEqual([expect.not.stringMatching(String(id)), id])
    expect(JSON.parse([...records.values()][0] ?? '')).toMatchObject({ theme: 'dark' })
  })

  test('is called again after the store has failed', async () => {
    calls.length = 0
    let isDown = true
    const store = ours()
    const sessionStore: SessionDataStore = {
      ...store,
      async update(id, change) {
        if (isDown) throw new Error('no route to the store')
        return store.update?.(id, change, { expiresAt: 0 }) ?? null
      },
    }
    const { browser } = world.another({ sessionStore })
    expect((await world.login(browser)).status).toBe(503)
    isDown = false
    expect((await world.login(browser)).status).toBe(302)
    expect(calls).toHaveLength(1)
  })
})
