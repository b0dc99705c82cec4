import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { SessionDataStore } from '../../src/config/options.ts'
import type { SessionData } from '../../src/session/model/session-data.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { ContractViolation, storeContract } from '../../src/testing/index.ts'

type Store = Required<SessionDataStore>
type Fault = (store: Store) => Partial<Store>

const someone: SessionData = {
  user: { sub: 'somebody' },
  tokenSet: { accessToken: 'token', expiresAt: 4_102_444_800 },
  internal: { createdAt: 1_735_689_600 },
}

const mangled = (store: Store, replace: (text: string) => string): Partial<Store> => ({
  set: (id, session, expiry) => store.set(id, JSON.parse(replace(JSON.stringify(session))), expiry),
})

/** The same store with every id or name changed before it is used. */
const renamed = (store: Store, name: (id: string) => string): Store => ({
  ...store,
  get: (id) => store.get(name(id)),
  set: (id, session, expiry) => store.set(name(id), session, expiry),
  delete: (id) => store.delete(name(id)),
  update: (id, change, expiry) => store.update(name(id), change, expiry),
  lock: (id, milliseconds) => store.lock(name(id), milliseconds),
  once: (id, expiry) => store.once(name(id), expiry),
})

const never = { expiresAt: 99_999_999_999 }

/** Faults of a store. The contract detects each, and each of its cases detects one. */
const faults: Readonly<Record<string, Fault>> = {
  'returns a session for an unknown id': (store) => ({ get: async (id) => (await store.get(id)) ?? someone }),
  'rounds numbers': (store) => mangled(store, (text) => text.replace(/0\.1/g, '0')),
  'stores only ASCII': (store) => mangled(store, (text) => text.replace(/[^ -~]/g, '?')),
  'drops characters that its encoding lacks': (store) =>
    mangled(store, (text) => text.replace(/\\u[0d]\d*/g, '')),
  'drops properties named like a prototype': (store) =>
    mangled(store, (text) => text.replace('__proto__', 'p')),
  'truncates long sessions': (store) => ({
    set: async (id, session, expiry) => {
      if (JSON.stringify(session).length < 100_000) await store.set(id, session, expiry)
    },
  }),
  'merges the second write into the first': (store) => ({
    set: async (id, session, expiry) => store.set(id, { ...(await store.get(id)), ...session }, expiry),
  }),
  'deletes nothing': () => ({ delete: async () => {} }),
  'rejects deleting an unknown id': (store) => ({
    delete: async (id) => {
      if (!(await store.get(id))) throw new ContractViolation('nothing to delete')
      await store.delete(id)
    },
  }),
  'ignores case': (store) => renamed(store, (id) => id.toLowerCase()),
  'stores one session for all ids': (store) => renamed(store, () => 'the only one'),
  'keeps references': () => {
    const sessions = new Map<string, SessionData>()
    return {
      get: async (id) => sessions.get(id) ?? null,
      set: async (id, session) => {
        sessions.set(id, session)
      },
    }
  },
  'never expires sessions': (store) => ({ set: (id, session) => store.set(id, session, never) }),
  'keeps the first expiry': (store) => {
    const ends = new Map<string, { expiresAt: number }>()
    return {
      set: async (id, session, expiry) => {
        ends.set(id, ends.get(id) ?? expiry)
        await store.set(id, session, ends.get(id) ?? expiry)
      },
      update: (id, change, expiry) => store.update(id, change, ends.get(id) ?? expiry),
    }
  },
  'updates in two steps': (store) => ({
    update: async (id, change, expiry) => {
      const current = await store.get(id)
      if (!current) return null
      const next = change(current)
      await store.set(id, next, expiry)
      return next
    },
  }),
  'returns the session from before the update': (store) => ({
    update: async (id, change, expiry) => {
      const before = await store.get(id)
      await store.update(id, change, expiry)
      return before
    },
  }),
  'updates missing sessions': (store) => ({
    update: async (id, change, expiry) => {
      const next = change((await store.get(id)) ?? structuredClone(someone))
      await store.set(id, next, expiry)
      return next
    },
  }),
  'ignores an exception of the change': (store) => ({
    update: (id, change, expiry) => store.update(id, change, expiry).catch(() => null),
  }),
  'gives the lock to every caller': () => ({ lock: async () => ({ release: async () => {} }) }),
  'gives the lock to no caller': () => ({ lock: async () => null }),
  'ignores the release of a lock': (store) => ({
    lock: async (id, milliseconds) => (await store.lock(id, milliseconds)) && { release: async () => {} },
  }),
  'has locks that never expire': (store) => ({ lock: (id) => store.lock(id, 2 ** 31) }),
  'frees the lock of another process': (store) => {
    let epoch = 0
    return {
      lock: async (id, milliseconds) =>
        (await store.lock(`${id} ${epoch}`, milliseconds)) && {
          release: async () => {
            epoch += 1
          },
        },
    }
  },
  'locks by a record': (store) => ({
    lock: async (id, milliseconds) => {
      const lock = await store.lock(id, milliseconds)
      if (lock) await store.set(id, someone, never)
      return lock
    },
  }),
  'ignores when a session began': (store) => ({
    deleteByLogoutToken: ({ iat: _iat, ...token }) => store.deleteByLogoutToken(token),
  }),
  'remembers the last logout token instead of the latest': (store) => {
    const ended = new Map<string, number>()
    return {
      async deleteByLogoutToken(token) {
        if (token.sid && token.iat) ended.set(`${token.iss} ${token.sid}`, token.iat)
        await store.deleteByLogoutToken(token)
      },
      endedAt: async ({ iss, sid }) => ended.get(`${iss} ${sid}`) ?? null,
    }
  },
  'forgets logout tokens without sid': (store) => ({
    endedAt: ({ sub: _sub, ...session }) => store.endedAt(session),
  }),
  'ends every session of a user with a logout token of one': (store) => ({
    async deleteByLogoutToken({ sub, ...token }) {
      await store.deleteByLogoutToken(sub === undefined ? token : { ...token, sub })
      if (sub !== undefined)
        await store.deleteByLogoutToken({ sub: `user ${sub}`, ...token, sid: `user ${sub}` })
    },
    endedAt: ({ iss, sid, sub }) => store.endedAt({ ...(iss ? { iss } : {}), sid: sid ?? `user ${sub}` }),
  }),
  'finds every name new': () => ({ once: async () => true }),
  'finds every name used': () => ({ once: async () => false }),
  'never expires a name': (store) => ({ once: (name) => store.once(name, never) }),
  'checks and stores a name in two steps': () => {
    const names = new Set<string>()
    return {
      once: async (name) => {
        const known = names.has(name)
        await Promise.resolve()
        names.add(name)
        return !known
      },
    }
  },
  'deletes a name with the session of that id': (store) => ({
    once: async (name, { expiresAt }) => {
      const known = await store.get(name)
      await store.set(name, someone, { expiresAt })
      return known === null
    },
  }),
  'mixes up names and locks': (store) => ({
    once: async (name, { expiresAt }) => (await store.lock(name, expiresAt)) !== null,
  }),
  'ignores logout tokens': () => ({ deleteByLogoutToken: async () => {} }),
  'uses sub only': (store) => ({
    deleteByLogoutToken: ({ sid: _sid, ...rest }) => store.deleteByLogoutToken(rest),
  }),
  'uses sid only': (store) => ({
    deleteByLogoutToken: async ({ sid }) => {
      if (sid !== undefined) await store.deleteByLogoutToken({ sid })
    },
  }),
  'requires both sid and sub': (store) => ({
    deleteByLogoutToken: async (token) => {
      if (token.sub !== undefined) await store.deleteByLogoutToken(token)
    },
  }),
  'ends one session of a user': (store) => ({
    deleteByLogoutToken: async (token) => {
      if (token.sub === undefined) return store.deleteByLogoutToken(token)
      const [first] = await store.listBySubject(token.sub)
      if (first) await store.delete(first.id)
    },
  }),
  'uses the claims of the user': (store) => ({
    set: (id, session, expiry) =>
      store.set(
        id,
        { ...session, internal: { ...session.internal, sub: session.user.sub } as never },
        expiry,
      ),
  }),
  'uses internal only': (store) => ({
    set: (id, session, expiry) =>
      store.set(id, { ...session, internal: { sub: 'unknown', ...session.internal } as never }, expiry),
  }),
  'ignores the issuer': (store) => ({
    deleteByLogoutToken: ({ iss: _iss, ...rest }) => store.deleteByLogoutToken(rest),
  }),
  'rejects unknown sessions': (store) => ({
    deleteByLogoutToken: async ({ sub, ...rest }) => {
      if (sub !== undefined && (await store.deleteBySubject(sub)) === 0)
        throw new ContractViolation('unknown')
      await store.deleteByLogoutToken({ ...rest })
    },
  }),
  'ends all sessions for a token without names': (store) => {
    const ids = new Set<string>()
    return {
      set: (id, session, expiry) => store.set(ids.add(id) && id, session, expiry),
      deleteByLogoutToken: async (token) => {
        if (token.sid === undefined && token.sub === undefined) for (const id of ids) await store.delete(id)
        else await store.deleteByLogoutToken(token)
      },
    }
  },
  'loses sessions that were written twice': (store) => {
    const ids = new Set<string>()
    const unnamed = ({ internal, user, ...session }: SessionData): SessionData => ({
      ...session,
      user: { ...user, sub: 'lost' },
      internal: { createdAt: internal.createdAt },
    })
    return {
      set: async (id, session, expiry) => {
        await store.set(id, ids.has(id) ? unnamed(session) : session, expiry)
        ids.add(id)
      },
    }
  },
  'truncates subjects at the first space': (store) => {
    const cut = (sub: string): string => sub.split(' ', 1)[0] ?? ''
    return {
      set: (id, session, expiry) => {
        const internal = { ...session.internal, sub: cut(session.user.sub) }
        return store.set(id, { ...session, internal }, expiry)
      },
      deleteByLogoutToken: ({ sub, ...rest }) =>
        store.deleteByLogoutToken(sub === undefined ? rest : { ...rest, sub: cut(sub) }),
      listBySubject: (sub) => store.listBySubject(cut(sub)),
      deleteBySubject: (sub) => store.deleteBySubject(cut(sub)),
    }
  },
  'lists nothing': () => ({ listBySubject: async () => [] }),
  'lists expired sessions': (store) => {
    const over: string[] = []
    return {
      set: async (id, session, expiry) => {
        await store.set(id, session, expiry)
        if (expiry.expiresAt < Date.now() / 1000) over.push(id)
      },
      listBySubject: async (sub) => [
        ...(await store.listBySubject(sub)),
        ...over.map((id) => ({ id, session: someone })),
      ],
    }
  },
  'counts one session per user': (store) => ({
    deleteBySubject: async (sub) => Math.min(1, await store.deleteBySubject(sub)),
  }),
}

/** Titles of the cases that a store does not keep, with time passing as fast as it can. */
async function brokenCases(store: SessionDataStore): Promise<string[]> {
  const cases = storeContract(store)
  let isOver = false
  const over = Promise.allSettled(cases.map(({ run }) => run())).finally(() => {
    isOver = true
  })
  // A case that polls runs through many timers while a busy machine does what it waits for.
  while (!isOver) await vi.advanceTimersToNextTimerAsync()
  const results = await over
  return cases.flatMap(({ title }, index) => {
    const result = results[index]
    if (result?.status !== 'rejected') return []
    expect(result.reason, title).toBeInstanceOf(ContractViolation)
    return [title]
  })
}

let stores = 0

function faulty(fault: string): Store {
  stores += 1
  const whole = memoryStore({ name: `faulty ${stores}` })
  return { ...whole, ...faults[fault]?.(whole) }
}

describe('the store contract', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })

  afterEach(() => {
    vi.useRealTimers()
  })

  test('is met by a correct store', async () => {
    expect(await brokenCases(memoryStore({ name: 'without fault' }))).toEqual([])
  })

  test.each(Object.keys(faults))('detects a store that %s', async (fault) => {
    expect(await brokenCases(faulty(fault))).not.toEqual([])
  })

  test('has no case that every store passes', async () => {
    const noticed = new Set<string>()
    for (const fault of Object.keys(faults)) {
      for (const title of await brokenCases(faulty(fault))) noticed.add(title)
    }
    const titles = storeContract(memoryStore({ name: 'titles' })).map(({ title }) => title)
    expect(titles.filter((title) => !noticed.has(title))).toEqual([])
    expect(new Set(titles).size).toBe(titles.length)
  })

  test('calls only methods that a store has', () => {
    const { get, set, delete: remove } = memoryStore({ name: 'three members' })
    const titles = storeContract({ get, set, delete: remove }).map(({ title }) => title)
    expect(titles.length).toBeGreaterThan(8)
    expect(titles.filter((title) => /^(update|lock|once|\w+LogoutToken|\w+BySubject)\b/.test(title))).toEqual(
      [],
    )
    const kept = storeContract({ get, set, delete: remove }, { expires: false }).map(({ title }) => title)
    expect(titles.filter((title) => !kept.includes(title))).toEqual([
      'an expired session is gone',
      'set: the second write changes the expiry',
    ])
  })
})

/** The smallest possible store: three methods, and no expiry. */
function mapStore(): SessionDataStore {
  const sessions = new Map<string, string>()
  return {
    get: async (id) => JSON.parse(sessions.get(id) ?? 'null'),
    set: async (id, session) => {
      sessions.set(id, JSON.stringify(session))
    },
    delete: async (id) => {
      sessions.delete(id)
    },
  }
}

describe('[S016, S017, S018, S020] a store of three methods meets the contract', () => {
  test.each(storeContract(mapStore(), { expires: false }))('$title', ({ run }) => run())
})
