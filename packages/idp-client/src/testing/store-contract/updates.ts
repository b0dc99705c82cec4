import { systemClock } from '../../lib/clock.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import { claim, claimEqual } from '../adapter-contract/claim.ts'
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

const needs = ['update'] as const

const counted = (session: SessionData): SessionData => ({
  ...session,
  count: Number(session['count'] ?? 0) + 1,
})

const parallel = rule('update: fifty concurrent changes are all stored', needs, async (store) => {
  const id = newId()
  await store.set(id, createSession({}, { count: 0 }), later())
  const work = Array.from({ length: 50 }, async (_, index) => {
    const mark = (current: SessionData): SessionData => ({ ...counted(current), [`change ${index}`]: true })
    return store.update(id, mark, later())
  })
  const stored = await Promise.all(work)
  const found = await store.get(id)
  claimEqual(found?.['count'], 50, 'what fifty increments came to')
  const marks = Object.keys(found ?? {}).filter((name) => name.startsWith('change '))
  claimEqual(marks.length, 50, 'members that fifty changes added')
  const counts = stored.map((session) => Number(session?.['count'])).sort((one, other) => one - other)
  claimEqual(
    counts,
    Array.from(counts.keys(), (index) => index + 1),
    'what the fifty calls returned was stored',
  )
})

const result = rule('update: returns the stored session', needs, async (store) => {
  const id = newId()
  const before = createSession({}, { dropped: true, kept: { a: [1] } })
  await store.set(id, before, later())
  const received: unknown[] = []
  const change = (current: SessionData): SessionData => {
    received.push(structuredClone(current))
    const { dropped: _dropped, ...rest } = current
    return { ...rest, added: 'yes' }
  }
  const stored = await store.update(id, change, later())
  claim(received.length > 0, 'the change is called')
  for (const current of received) claimSame(current, before, 'the argument of the change')
  const { dropped: _dropped, ...rest } = before
  claimSame(stored, { ...rest, added: 'yes' }, 'what the update gives')
  claimSame(await store.get(id), stored, 'what is stored')
})

const gone = rule('update: writes nothing if nothing is stored', needs, async (store) => {
  const [never, deleted] = [newId(), newId()]
  await store.set(deleted, createSession(), later())
  await store.delete(deleted)
  for (const id of [never, deleted]) {
    claimEqual(await store.update(id, counted, later()), null, 'the update of a session that is gone')
    claim(!(await isThere(store, id)), 'it stays gone')
  }
})

const race = rule('update: never restores a session that is deleted meanwhile', needs, async (store) => {
  const all = Array.from({ length: 20 }, newId)
  await Promise.all(all.map((id) => store.set(id, createSession(), later())))
  const work = all.flatMap((id) => [
    store.update(id, counted, later()),
    store.delete(id),
    store.update(id, counted, later()),
  ])
  await Promise.all(work)
  for (const id of all) claim(!(await isThere(store, id)), 'a deleted session stays gone')
})

const thrown = rule(
  'update: rejects if the change throws, and leaves the session unchanged',
  needs,
  async (store) => {
    const id = newId()
    const before = createSession()
    await store.set(id, before, later())
    const fails = (current: SessionData): SessionData => {
      current.user.sub = 'changed before it throws'
      throw new Error('thrown by the change')
    }
    const outcome = await store.update(id, fails, later()).then(
      () => 'resolved',
      () => 'rejected',
    )
    claimEqual(outcome, 'rejected', 'the update')
    claimSame(await store.get(id), before, 'the session after a change that threw')
    claim((await store.update(id, counted, later())) !== null, 'the next update succeeds')
  },
)

const others = rule('update: concurrent changes of many sessions are independent', needs, async (store) => {
  const people = Array.from({ length: 50 }, () => ({ id: newId(), session: createSession() }))
  await Promise.all(people.map(({ id, session }) => store.set(id, session, later())))
  const change =
    (sub: string) =>
    (current: SessionData): SessionData => ({ ...current, seen: [current.user.sub, sub] })
  await Promise.all(people.map(({ id, session }) => store.update(id, change(session.user.sub), later())))
  for (const { id, session } of people) {
    const { sub } = session.user
    claimSame(await store.get(id), { ...session, seen: [sub, sub] }, 'the session of one of many users')
  }
})

const moved = expiryRule('update: changes the expiry', needs, async (store) => {
  const [longer, shorter] = [newId(), newId()]
  await store.set(longer, createSession(), soon())
  const wasThere = await store.update(longer, counted, later())
  await store.set(shorter, createSession(), later())
  await store.update(shorter, counted, { expiresAt: systemClock() - 10 })
  claim(!(await isThere(store, shorter)), 'a session whose end moved into the past is gone')
  await soonIsOver(store)
  // On a busy machine the first expiry may have passed before the update.
  if (wasThere) claim(await isThere(store, longer), 'a session whose end moved on is still there')
})

const over = expiryRule('update: returns null for an expired session', needs, async (store) => {
  const id = newId()
  await store.set(id, createSession(), { expiresAt: systemClock() - 10 })
  claimEqual(await store.update(id, counted, later()), null, 'the update')
  claim(!(await isThere(store, id)), 'it stays gone')
})

/** Cases for `update`. */
export const updates: readonly Rule[] = [parallel, result, gone, race, thrown, others, moved, over]
