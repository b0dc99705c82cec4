import type { SessionData } from '../../session/model/session-data.ts'
import { claim, claimEqual } from '../adapter-contract/claim.ts'
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

const counted = (session: SessionData): SessionData => ({
  ...session,
  count: Number(session['count'] ?? 0) + 1,
})

const changes = rules(['update'], {
  'update: fifty concurrent changes are all stored': async (store) => {
    const id = await storeSession(store, createSession({}, { count: 0 }))
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
  },

  'update: returns the stored session': async (store) => {
    const before = createSession({}, { dropped: true, kept: { a: [1] } })
    const id = await storeSession(store, before)
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
  },

  'update: writes nothing if nothing is stored': async (store) => {
    const deleted = await storeSession(store)
    await store.delete(deleted)
    for (const id of [newId(), deleted]) {
      claimEqual(await store.update(id, counted, later()), null, 'the update of a session that is gone')
      claim(!(await isThere(store, id)), 'it stays gone')
    }
  },

  'update: never restores a session that is deleted meanwhile': async (store) => {
    const all = await Promise.all(Array.from({ length: 20 }, () => storeSession(store)))
    const work = all.flatMap((id) => [
      store.update(id, counted, later()),
      store.delete(id),
      store.update(id, counted, later()),
    ])
    await Promise.all(work)
    for (const id of all) claim(!(await isThere(store, id)), 'a deleted session stays gone')
  },

  'update: rejects if the change throws, and leaves the session unchanged': async (store) => {
    const before = createSession()
    const id = await storeSession(store, before)
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

  'update: concurrent changes of many sessions are independent': async (store) => {
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
  },
})

const expiring = expiryRules(['update'], {
  'update: changes the expiry': async (store) => {
    const longer = await storeSession(store, createSession(), soon())
    const wasThere = await store.update(longer, counted, later())
    const shorter = await storeSession(store)
    await store.update(shorter, counted, over())
    claim(!(await isThere(store, shorter)), 'a session whose end moved into the past is gone')
    await soonIsOver(store)
    // On a busy machine the first expiry may have passed before the update.
    if (wasThere) claim(await isThere(store, longer), 'a session whose end moved on is still there')
  },

  'update: returns null for an expired session': async (store) => {
    const id = await storeSession(store, createSession(), over())
    claimEqual(await store.update(id, counted, later()), null, 'the update')
    claim(!(await isThere(store, id)), 'it stays gone')
  },
})

/** Cases for `update`. */
export const updates: readonly Rules[] = [changes, expiring]
