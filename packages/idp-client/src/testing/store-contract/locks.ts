import { systemClock } from '../../lib/clock.ts'
import { claim, claimEqual } from '../adapter-contract/claim.ts'
import type { Rules } from './rule.ts'
import { claimSame, createSession, ENDS, isThere, later, newId, rules, storeSession, until } from './rule.ts'

/** Milliseconds; longer than any case runs. */
const LONG = 600_000

const exclusion = rules(['lock'], {
  'lock: one of twenty concurrent calls gets the lock': async (store) => {
    const id = newId()
    const results = await Promise.all(Array.from({ length: 20 }, () => store.lock(id, LONG)))
    const acquired = results.filter((lock) => lock !== null)
    claimEqual(acquired.length, 1, 'how many of twenty get the lock')
    claimEqual(await store.lock(id, LONG), null, 'a later caller')
    const other = await store.lock(newId(), LONG)
    claim(other !== null, 'the lock of another id is free')
    await Promise.all([...acquired, other].map((lock) => lock.release()))
  },

  'lock: a released lock can be acquired again': async (store) => {
    const id = newId()
    for (let round = 0; round < 3; round++) {
      const lock = await store.lock(id, LONG)
      claim(lock !== null, `the lock is free (round ${round + 1})`)
      claimEqual(await store.lock(id, LONG), null, 'a caller before it is released')
      await lock.release()
      if (round === 1) await lock.release()
    }
  },

  'lock: a lock that is not released expires': async (store) => {
    const id = newId()
    claim((await store.lock(id, 300)) !== null, 'the lock is free')
    await until(async () => (await store.lock(id, LONG)) !== null, 'a lock expires')
  },

  'lock: a late release does not affect the next lock': async (store) => {
    const id = newId()
    const first = await store.lock(id, 300)
    claim(first !== null, 'the lock is free')
    await until(async () => (await store.lock(id, LONG)) !== null, 'a lock expires')
    await first.release()
    claimEqual(await store.lock(id, LONG), null, 'a caller after the late release')
  },

  'lock: neither changes nor needs a session': async (store) => {
    const none = newId()
    const session = createSession()
    const id = await storeSession(store, session)
    const lock = await store.lock(id, LONG)
    claim(lock !== null, 'the lock of a session is free')
    claimSame(await store.get(id), session, 'the session while the lock is held')
    await store.set(id, { ...session, written: true }, later())
    await lock.release()
    claimSame(await store.get(id), { ...session, written: true }, 'the session after the release')
    const empty = await store.lock(none, LONG)
    claim(empty !== null, 'an id without session can be locked')
    claim(!(await isThere(store, none)), 'that makes no session')
    await empty.release()
  },
})

const uniqueness = rules(['once'], {
  'once: returns true only the first time': async (store) => {
    const [name, other] = [newId(), newId()]
    claimEqual(await store.once(name, later()), true, 'a new name')
    claimEqual(await store.once(name, later()), false, 'the same name again')
    claimEqual(await store.once(other, later()), true, 'another name')
    claimEqual(await store.once(name, later()), false, 'the first name after that')
  },

  'once: returns true for one of twenty concurrent calls': async (store) => {
    const name = newId()
    const results = await Promise.all(Array.from({ length: 20 }, () => store.once(name, later())))
    claimEqual(results.filter((first) => first).length, 1, 'how many of twenty get true')
  },

  'once: a name can be used again after it expires': async (store) => {
    const name = newId()
    claimEqual(await store.once(name, { expiresAt: systemClock() + 1 }), true, 'a new name')
    await until(() => store.once(name, later()), 'a name is forgotten after its time')
    claimEqual(await store.once(name, later()), false, 'the same name, with a later end')
  },

  'once: every character of a name counts': async (store) => {
    const stem = newId()
    for (const end of ENDS) {
      claimEqual(await store.once(stem + end, later()), true, `a name that ends in ${JSON.stringify(end)}`)
    }
  },
})

const both = rules(['lock', 'once'], {
  'once and lock: a name, a lock and a session with the same string are independent': async (store) => {
    const id = newId()
    const session = createSession()
    claimEqual(await store.once(id, later()), true, 'a new name')
    const lock = await store.lock(id, LONG)
    claim(lock !== null, 'the lock of that string is free')
    claim(!(await isThere(store, id)), 'no session has that id')
    await store.set(id, session, later())
    await lock.release()
    claimSame(await store.get(id), session, 'the session')
    await store.delete(id)
    claimEqual(await store.once(id, later()), false, 'the name after lock and session are deleted')
  },
})

/** Cases for `lock` and `once`. */
export const locks: readonly Rules[] = [exclusion, uniqueness, both]
