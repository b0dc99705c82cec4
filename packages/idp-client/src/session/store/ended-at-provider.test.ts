import { expect, test } from 'vitest'
import type { SessionDataStore } from '../../config/options.ts'
import { rememberEnd, wasEnded } from './ended-at-provider.ts'

const unused = async (): Promise<null> => null
/** A store that remembers no ends, so that the process does. */
const createStore = (): SessionDataStore => ({
  get: unused,
  set: async () => {},
  delete: async () => {},
})

const iss = 'https://idp.example.com'
const session = { iss, sid: 'sid', sub: 'alice', issuedAt: 990 }

test('[Q4] logout tokens that arrive in another order end what the newest of them ends', async () => {
  const store = createStore()
  rememberEnd(store, { iss, sub: 'alice', iat: 1000 }, 1000)
  rememberEnd(store, { iss, sub: 'alice', iat: 900 }, 1001)
  expect(await wasEnded(store, session, 1002)).toBe(true)
  expect(await wasEnded(store, { ...session, issuedAt: 1001 }, 1002)).toBe(false)
})

test('[Q4] an end is remembered for 600 s, for its own store', async () => {
  const store = createStore()
  rememberEnd(store, { iss, sid: 'sid', iat: 1000 }, 1000)
  expect(await wasEnded(store, session, 1599)).toBe(true)
  expect(await wasEnded(store, session, 1600)).toBe(false)
  expect(await wasEnded(createStore(), session, 1000)).toBe(false)
})
