import { systemClock } from '../../lib/clock.ts'
import { claim, claimEqual } from '../adapter-contract/claim.ts'
import type { Rule } from './rule.ts'
import { claimSame, createSession, isThere, later, newId, rule, until } from './rule.ts'

/** Milliseconds; longer than any case runs. */
const LONG = 600_000

const locks = ['lock'] as const
const names = ['once'] as const

const exclusive = rule({ title: 'lock: one of twenty has the lease', needs: locks }, async (store) => {
  const id = newId()
  const asked = await Promise.all(Array.from({ length: 20 }, () => store.lock(id, LONG)))
  const given = asked.filter((lock) => lock !== null)
  claimEqual(given.length, 1, 'how many of twenty have the lease')
  claimEqual(await store.lock(id, LONG), null, 'a later caller')
  const other = await store.lock(newId(), LONG)
  claim(other !== null, 'the lease of another id is free')
  await Promise.all([...given, other].map((lock) => lock.release()))
})

const released = rule({ title: 'lock: a released lease is free again', needs: locks }, async (store) => {
  const id = newId()
  for (let round = 0; round < 3; round++) {
    const lock = await store.lock(id, LONG)
    claim(lock !== null, `the lease is free (round ${round + 1})`)
    claimEqual(await store.lock(id, LONG), null, 'a caller before it is released')
    await lock.release()
    if (round === 1) await lock.release()
  }
})

const ends = rule({ title: 'lock: a lease that nobody releases ends', needs: locks }, async (store) => {
  const id = newId()
  claim((await store.lock(id, 300)) !== null, 'the lease is free')
  await until(async () => (await store.lock(id, LONG)) !== null, 'a lease ends after its time')
})

const late = rule(
  { title: 'lock: a late release leaves the next lease alone', needs: locks },
  async (store) => {
    const id = newId()
    const first = await store.lock(id, 300)
    claim(first !== null, 'the lease is free')
    await until(async () => (await store.lock(id, LONG)) !== null, 'a lease ends after its time')
    await first.release()
    claimEqual(await store.lock(id, LONG), null, 'a caller after the late release')
  },
)

const apart = rule({ title: 'lock: changes no session, and needs none', needs: locks }, async (store) => {
  const [id, none] = [newId(), newId()]
  const session = createSession()
  await store.set(id, session, later())
  const lock = await store.lock(id, LONG)
  claim(lock !== null, 'the lease of a session is free')
  claimSame(await store.get(id), session, 'the session while the lease is taken')
  await store.set(id, { ...session, written: true }, later())
  await lock.release()
  claimSame(await store.get(id), { ...session, written: true }, 'the session after the release')
  const empty = await store.lock(none, LONG)
  claim(empty !== null, 'an id without session can be locked')
  claim(!(await isThere(store, none)), 'that makes no session')
  await empty.release()
})

const once = rule({ title: 'once: true the first time only', needs: names }, async (store) => {
  const [name, other] = [newId(), newId()]
  claimEqual(await store.once(name, later()), true, 'a new name')
  claimEqual(await store.once(name, later()), false, 'the same name again')
  claimEqual(await store.once(other, later()), true, 'another name')
  claimEqual(await store.once(name, later()), false, 'the first name after that')
})

const oneOfMany = rule({ title: 'once: true for one of twenty', needs: names }, async (store) => {
  const name = newId()
  const told = await Promise.all(Array.from({ length: 20 }, () => store.once(name, later())))
  claimEqual(told.filter((first) => first).length, 1, 'how many of twenty are told true')
})

const forgotten = rule({ title: 'once: a name is new again after its time', needs: names }, async (store) => {
  const name = newId()
  claimEqual(await store.once(name, { expiresAt: systemClock() + 1 }), true, 'a new name')
  await until(() => store.once(name, later()), 'a name is forgotten after its time')
  claimEqual(await store.once(name, later()), false, 'the same name, with a later end')
})

const anyName = rule({ title: 'once: every character of a name counts', needs: names }, async (store) => {
  const stem = newId()
  const ends = [
    '',
    ' ',
    'a',
    'A',
    '*',
    '?',
    '%',
    '_',
    '{}',
    '{a}',
    "'",
    '"',
    '\\',
    '\n',
    ':',
    '/',
    'é',
    'e\u0301',
    '👩‍👧',
  ]
  for (const end of ends) {
    claimEqual(await store.once(stem + end, later()), true, `a name that ends in ${JSON.stringify(end)}`)
  }
})

const noMixture = rule(
  {
    title: 'once and lock: a name, a lease and a session of the same text do not meet',
    needs: ['lock', 'once'],
  },
  async (store) => {
    const id = newId()
    const session = createSession()
    claimEqual(await store.once(id, later()), true, 'a new name')
    const lock = await store.lock(id, LONG)
    claim(lock !== null, 'the lease of that text is free')
    claim(!(await isThere(store, id)), 'no session has that id')
    await store.set(id, session, later())
    await lock.release()
    claimSame(await store.get(id), session, 'the session')
    await store.delete(id)
    claimEqual(await store.once(id, later()), false, 'the name after lease and session are gone')
  },
)

/** Cases for `lock` and `once`. */
export const leases: readonly Rule[] = [
  exclusive,
  released,
  ends,
  late,
  apart,
  once,
  oneOfMany,
  forgotten,
  anyName,
  noMixture,
]
