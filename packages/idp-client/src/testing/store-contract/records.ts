import { systemClock } from '../../lib/clock.ts'
import { claim } from '../adapter-contract/claim.ts'
import type { Rule } from './rule.ts'
import {
  claimSame,
  createSession,
  expiryRule,
  isThere,
  later,
  newId,
  rule,
  soon,
  soonIsOver,
} from './rule.ts'

const unknown = rule('get: returns null for an unknown id', [], async (store) => {
  claim(!(await isThere(store, newId())), 'there is nothing under an id that was never stored')
})

const json = {
  texts: ['', ' ', 'plain', '"quoted" \\ \' ` / <b>&amp;', 'null', '0', "'; drop table sessions; --"],
  numbers: [
    0,
    1,
    -1,
    0.1,
    -1.5e-7,
    1e21,
    Number.MAX_SAFE_INTEGER,
    Number.MIN_SAFE_INTEGER,
    1.7976931348623157e308,
  ],
  others: [true, false, null, [], {}, [[]], [null, [{ a: [{}] }]]],
  deep: { a: { b: { c: { d: { e: { f: [{ g: 'bottom' }] } } } } } },
}

const everyKind = rule('set and get: every kind of JSON is unchanged', [], async (store) => {
  const id = newId()
  const session = createSession(
    { usedAt: systemClock(), client: 'client tag', iss: 'https://idp.example.com/' },
    {
      user: { sub: 'test|kinds', email_verified: false, act: { sub: 'actor' }, ...json },
      accessTokens: [{ accessToken: 'a', expiresAt: 4_102_444_800, audience: 'https://api.example.com' }],
      connectionTokenSets: [{ accessToken: 'c', expiresAt: 4_102_444_800, connection: 'files' }],
      own: json,
    },
  )
  await store.set(id, session, later())
  claimSame(await store.get(id), session, 'the session that was stored')
})

const texts = [
  'Grüße aus Köln, Ελλάδα, 日本語, العربية',
  '👩‍👩‍👧‍👦 𝒳 🏳️‍🌈',
  'e\u0301 is not \u00e9',
  'line\nbreak\r\n\ttab \u2028 \u2029 \ufeff',
]

const unicode = rule('set and get: strings in any language are unchanged', [], async (store) => {
  const id = newId()
  const session = createSession({ sub: texts.join(' ') }, { texts, [texts[1] ?? '']: 'as a name' })
  await store.set(id, session, later())
  claimSame(await store.get(id), session, 'the session that was stored')
})

/* A claim may contain either; some databases reject the first, some encodings lose the second. */
const oddTexts = ['\u0000', 'a\u0000b', '\ud800', 'a\udc00b', '\u0001\u001f\u007f\u0080']

const oddUnicode = rule(
  'set and get: U+0000 and unpaired surrogates in strings are unchanged',
  [],
  async (store) => {
    const id = newId()
    const session = createSession({}, { texts: oddTexts })
    await store.set(id, session, later())
    claimSame(await store.get(id), session, 'the session that was stored')
  },
)

/* As a string, because `__proto__` in an object literal sets the prototype. */
const oddNames = `{"__proto__":{"admin":true},"constructor":1,"then":"no","toJSON":"no","$set":{"a":1},"a.b":1,"":1,"length":7,"_id":1,"id":1}`

const names = rule(
  'set and get: properties are unchanged whatever their names mean elsewhere',
  [],
  async (store) => {
    const id = newId()
    const session = createSession({}, { own: JSON.parse(oddNames) })
    await store.set(id, session, later())
    const found = await store.get(id)
    claimSame(found, session, 'the session that was stored')
    claim(!('admin' in {}), 'no member reaches the prototype of all objects')
  },
)

const large = rule('set and get: a session of 200 kB is unchanged', [], async (store) => {
  const id = newId()
  const session = createSession({}, { large: Array.from({ length: 4700 }, () => newId()) })
  await store.set(id, session, later())
  claimSame(await store.get(id), session, 'the session that was stored')
})

const replaced = rule('set: a second write replaces the first completely', [], async (store) => {
  const id = newId()
  await store.set(id, createSession({}, { first: 'only here', nested: { first: true } }), later())
  const second = createSession({}, { nested: { second: true } })
  await store.set(id, second, later())
  claimSame(await store.get(id), second, 'the session after the second write')
})

const deleted = rule('delete: the session is gone, and deleting nothing is no error', [], async (store) => {
  const [id, other] = [newId(), newId()]
  await store.set(id, createSession(), later())
  await store.set(other, createSession(), later())
  await store.delete(id)
  claim(!(await isThere(store, id)), 'a deleted session is gone')
  await store.delete(id)
  await store.delete(newId())
  claim(await isThere(store, other), 'another session stays')
})

const ids = rule('every character of an id counts, its case too', [], async (store) => {
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
})

const crowd = rule('a hundred concurrent users are independent', [], async (store) => {
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
})

const copies = rule('callers have no reference into the store', [], async (store) => {
  const id = newId()
  const session = createSession({}, { list: [1] })
  const before = structuredClone(session)
  await store.set(id, session, later())
  session.user['role'] = 'admin'
  const first = await store.get(id)
  claimSame(first, before, 'the session after its writer changed the object')
  if (first) first.tokenSet.accessToken = 'changed'
  claimSame(await store.get(id), before, 'the session after a reader changed the object')
})

const over = expiryRule('an expired session is gone', [], async (store) => {
  const [past, other] = [newId(), newId()]
  await store.set(past, createSession(), { expiresAt: systemClock() - 10 })
  await store.set(other, createSession(), later())
  claim(!(await isThere(store, past)), 'a session that ended before it was stored is not there')
  await soonIsOver(store)
  claim(await isThere(store, other), 'one that ends later is still there')
})

const moved = expiryRule('set: the second write changes the expiry', [], async (store) => {
  const [longer, shorter] = [newId(), newId()]
  await store.set(longer, createSession(), soon())
  await store.set(longer, createSession(), later())
  await store.set(shorter, createSession(), later())
  await store.set(shorter, createSession(), { expiresAt: systemClock() - 10 })
  claim(!(await isThere(store, shorter)), 'a session whose end moved into the past is gone')
  await soonIsOver(store)
  claim(await isThere(store, longer), 'a session whose end moved on is still there')
})

/** Cases for the three methods that every store has. */
export const records: readonly Rule[] = [
  unknown,
  everyKind,
  unicode,
  oddUnicode,
  names,
  large,
  replaced,
  deleted,
  ids,
  crowd,
  copies,
  over,
  moved,
]
