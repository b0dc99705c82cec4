import type { SessionDataStore } from '../../config/options.ts'
import { systemClock } from '../../lib/clock.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import { claim } from '../adapter-contract/claim.ts'
import type { Rules } from './rule.ts'
import {
  claimSame,
  createSession,
  expiryRules,
  isThere,
  later,
  newId,
  over,
  rules,
  soon,
  soonIsOver,
  storeSession,
} from './rule.ts'

const json = {
  texts: ['', ' ', 'plain', '"quoted" \\ \' ` / <b>&amp;', 'null', '0', "'; drop table sessions; --"],
  numbers: [0, 1, -1, 0.1, -1.5e-7, 1e21, 9_007_199_254_740_991, -9_007_199_254_740_991, Number.MAX_VALUE],
  others: [true, false, null, [], {}, [[]], [null, [{ a: [{}] }]]],
  deep: { a: { b: { c: { d: { e: { f: [{ g: 'bottom' }] } } } } } },
}

const texts = [
  'Grüße aus Köln, Ελλάδα, 日本語, العربية',
  '👩‍👩‍👧‍👦 𝒳 🏳️‍🌈',
  'e\u0301 is not \u00e9',
  'line\nbreak\r\n\ttab \u2028 \u2029 \ufeff',
]

/* A claim may contain either; some databases reject the first, some encodings lose the second. */
const oddTexts = ['\u0000', 'a\u0000b', '\ud800', 'a\udc00b', '\u0001\u001f\u007f\u0080']

/* As a string, because `__proto__` in an object literal sets the prototype. */
const oddNames = `{"__proto__":{"admin":true},"constructor":1,"then":"no","toJSON":"no","$set":{"a":1},"a.b":1,"":1,"length":7,"_id":1,"id":1}`

async function claimKept(store: SessionDataStore, session: SessionData): Promise<void> {
  const id = await storeSession(store, session)
  claimSame(await store.get(id), session, 'the session that was stored')
}

const kept = rules([], {
  'get: returns null for an unknown id': async (store) => {
    claim(!(await isThere(store, newId())), 'there is nothing under an id that was never stored')
  },

  'set and get: every kind of JSON is unchanged': async (store) => {
    const session = createSession(
      { usedAt: systemClock(), client: 'client tag', iss: 'https://idp.example.com/' },
      {
        user: { sub: 'test|kinds', email_verified: false, act: { sub: 'actor' }, ...json },
        accessTokens: [{ accessToken: 'a', expiresAt: 4_102_444_800, audience: 'https://api.example.com' }],
        connectionTokenSets: [{ accessToken: 'c', expiresAt: 4_102_444_800, connection: 'files' }],
        own: json,
      },
    )
    await claimKept(store, session)
  },

  'set and get: strings in any language are unchanged': async (store) => {
    await claimKept(store, createSession({ sub: texts.join(' ') }, { texts, [texts[1] ?? '']: 'as a name' }))
  },

  'set and get: U+0000 and unpaired surrogates in strings are unchanged': async (store) => {
    await claimKept(store, createSession({}, { texts: oddTexts }))
  },

  'set and get: properties are unchanged whatever their names mean elsewhere': async (store) => {
    await claimKept(store, createSession({}, { own: JSON.parse(oddNames) }))
    claim(!('admin' in {}), 'no member reaches the prototype of all objects')
  },

  'set and get: a session of 200 kB is unchanged': async (store) => {
    await claimKept(store, createSession({}, { large: Array.from({ length: 4700 }, () => newId()) }))
  },

  'set: a second write replaces the first completely': async (store) => {
    const first = createSession({}, { first: 'only here', nested: { first: true } })
    const id = await storeSession(store, first)
    const second = createSession({}, { nested: { second: true } })
    await store.set(id, second, later())
    claimSame(await store.get(id), second, 'the session after the second write')
  },

  'delete: the session is gone, and deleting nothing is no error': async (store) => {
    const [id, other] = [await storeSession(store), await storeSession(store)]
    await store.delete(id)
    claim(!(await isThere(store, id)), 'a deleted session is gone')
    await store.delete(id)
    await store.delete(newId())
    claim(await isThere(store, other), 'another session stays')
  },

  'every character of an id counts, its case too': async (store) => {
    const stem = newId().slice(0, 40)
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-'
    const pairs = [...alphabet].map((last) => [`${stem}-_${last}`, createSession()] as const)
    await Promise.all(pairs.map(([id, session]) => store.set(id, session, later())))
    for (const [id, session] of pairs) {
      claimSame(await store.get(id), session, `the session of the id that ends in ${id.slice(-3)}`)
    }
    const [[first] = ['']] = pairs
    await store.delete(first)
    const left = await Promise.all(pairs.map(([id]) => isThere(store, id)))
    claim(left.filter(Boolean).length === pairs.length - 1, 'a deletion reaches one of them')
  },

  'a hundred concurrent users are independent': async (store) => {
    const people = Array.from({ length: 100 }, () => ({ id: newId(), session: createSession() }))
    await Promise.all(people.map(({ id, session }) => store.set(id, session, later())))
    const found = await Promise.all(people.map(({ id }) => store.get(id)))
    for (const [index, { session }] of people.entries()) {
      claimSame(found[index], session, 'the session of one of a hundred users')
    }
    const [leaving, staying] = [people.slice(0, 50), people.slice(50)]
    await Promise.all(leaving.map(({ id }) => store.delete(id)))
    for (const { id } of leaving) claim(!(await isThere(store, id)), 'a deleted session is gone')
    for (const { id, session } of staying) claimSame(await store.get(id), session, 'a session that stays')
  },

  'callers have no reference into the store': async (store) => {
    const session = createSession({}, { list: [1] })
    const before = structuredClone(session)
    const id = await storeSession(store, session)
    session.user['role'] = 'admin'
    const first = await store.get(id)
    claimSame(first, before, 'the session after its writer changed the object')
    if (first) first.tokenSet.accessToken = 'changed'
    claimSame(await store.get(id), before, 'the session after a reader changed the object')
  },
})

const expiring = expiryRules([], {
  'an expired session is gone': async (store) => {
    const past = await storeSession(store, createSession(), over())
    const other = await storeSession(store)
    claim(!(await isThere(store, past)), 'a session that ended before it was stored is not there')
    await soonIsOver(store)
    claim(await isThere(store, other), 'one that ends later is still there')
  },

  'set: the second write changes the expiry': async (store) => {
    const longer = await storeSession(store, createSession(), soon())
    await store.set(longer, createSession(), later())
    const shorter = await storeSession(store)
    await store.set(shorter, createSession(), over())
    claim(!(await isThere(store, shorter)), 'a session whose end moved into the past is gone')
    await soonIsOver(store)
    claim(await isThere(store, longer), 'a session whose end moved on is still there')
  },
})

/** Cases for the three methods that every store has. */
export const records: readonly Rules[] = [kept, expiring]
