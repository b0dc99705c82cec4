import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { SessionData, SessionDataStore } from '../../src/index.ts'
import type { World } from '../support/app.ts'
import { startWorld } from '../support/app.ts'

/** A store that returns the record of one key for every key, as a broken cache in front of it does. */
const records = new Map<string, SessionData>()
let shown: string | undefined
const read = (id: string): SessionData | null => structuredClone(records.get(shown ?? id) ?? null)
const store: SessionDataStore = {
  get: async (id) => read(id),
  set: async (id, session) => void records.set(id, structuredClone(session)),
  delete: async (id) => void records.delete(id),
  update: async (id, change, _expiry) => {
    const current = read(id)
    if (!current) return null
    const changed = change(current)
    records.set(id, structuredClone(changed))
    return changed
  },
}

let world: World
beforeAll(async () => {
  world = await startWorld({ sessionStore: store })
})
afterAll(() => world.provider.stop())
beforeEach(() => {
  shown = undefined
  records.clear()
  world.events.length = 0
})

async function aliceAndBob() {
  const [alice, bob] = [world.newBrowser(), world.newBrowser()]
  await world.login(alice, '', { user: 'alice' })
  const [idOfAlice = ''] = records.keys()
  await world.login(bob, '', { user: 'bob' })
  return { alice, bob, idOfAlice }
}

test('[C8] a record of another user does not sign in as that user', async () => {
  const { alice, bob, idOfAlice } = await aliceAndBob()
  shown = idOfAlice
  expect((await alice.send('/auth/profile')).status).toBe(200)
  expect(await world.client.getSession(bob.request('/'))).toBeNull()
  expect((await bob.send('/auth/access-token')).status).toBe(401)
  expect(world.events).toContainEqual(
    expect.objectContaining({ code: 'SESSION_STORE_FAILED', operation: 'get', level: 'error' }),
  )
  expect(JSON.stringify(world.events)).not.toContain(idOfAlice)
})

test('[C8] a write does not adopt a record of another user that the store returns', async () => {
  const { alice, bob, idOfAlice } = await aliceAndBob()
  const request = bob.request('/')
  const session = (await world.client.getSession(request)) ?? expect.fail('bob is signed in')
  shown = idOfAlice
  await expect(
    world.client.updateSession(request, new Headers(), { ...session, mine: true }),
  ).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  shown = undefined
  const after = await world.client.getSession(alice.request('/'))
  expect(after).toMatchObject({ user: { sub: 'dev|alice' } })
  expect(after).not.toHaveProperty('mine')
})

test('[C8] a record that does not contain its key is not a session', async () => {
  const { alice, idOfAlice } = await aliceAndBob()
  const record = records.get(idOfAlice) ?? expect.fail('there is a record')
  expect(record.internal).toHaveProperty('id', idOfAlice)
  delete (record.internal as { id?: string }).id
  expect((await alice.send('/auth/profile')).status).toBe(401)
})

test('[I2] a record of another client is not a session, even with a cookie of this client', async () => {
  const { alice, idOfAlice } = await aliceAndBob()
  const record = records.get(idOfAlice) ?? expect.fail('there is a record')
  const internal = record.internal as { client?: string }
  const { client } = internal
  expect(client).toMatch(/^[\w-]{12}$/)
  internal.client = 'AAAAAAAAAAAA'
  expect(await world.client.getSession(alice.request('/'))).toBeNull()
  expect((await alice.send('/auth/access-token')).status).toBe(401)
})
