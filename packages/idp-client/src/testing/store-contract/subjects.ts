import type { SessionDataStore } from '../../config/options.ts'
import { systemClock } from '../../lib/clock.ts'
import type { SessionData, StoredInternalData } from '../../session/model/session-data.ts'
import { claim, claimEqual } from '../adapter-contract/claim.ts'
import type { Rules } from './rule.ts'
import {
  claimSame,
  createSession,
  ENDS,
  expiryRules,
  isThere,
  later,
  newId,
  over,
  rules,
  storeSession,
} from './rule.ts'

const stored = (
  store: SessionDataStore,
  internal: Partial<StoredInternalData>,
  members: Partial<SessionData> = {},
): Promise<string> => storeSession(store, createSession(internal, members))

/** Asserts which sessions remain: those whose names start with `stays`. */
async function claimLeft(store: SessionDataStore, sessions: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, id] of Object.entries(sessions)) {
    const left = await isThere(store, id)
    claimEqual(left, name.startsWith('stays'), `whether a session is left (${name})`)
  }
}

const tokens = rules(['deleteByLogoutToken'], {
  'deleteByLogoutToken: with sid, deletes that session': async (store) => {
    const [sub, sid] = [newId(), newId()]
    const sessions = {
      'ends: of this sid': await stored(store, { sub, sid }),
      'stays: of another sid of the user': await stored(store, { sub, sid: newId() }),
      'stays: without sid': await stored(store, { sub }),
      'stays: of another user': await stored(store, {}),
    }
    await store.deleteByLogoutToken({ sid, sub, iss: 'https://idp.example.com' })
    await claimLeft(store, sessions)
  },

  'deleteByLogoutToken: sid suffices without sub': async (store) => {
    const sid = newId()
    const sessions = {
      'ends: of this sid': await stored(store, { sid }),
      'stays: of another sid': await stored(store, { sid: newId() }),
    }
    await store.deleteByLogoutToken({ sid })
    await claimLeft(store, sessions)
  },

  'deleteByLogoutToken: without sid, deletes all sessions of the user': async (store) => {
    const [sub, other] = [newId(), newId()]
    const many = await Promise.all(Array.from({ length: 30 }, () => stored(store, { sub })))
    const sessions = {
      'ends: with a user that a hook renamed': await stored(store, { sub }, { user: { sub: other } }),
      'stays: of another user': await stored(store, { sub: other }),
      'stays: of a user whom a hook gave that name': await stored(store, {}, { user: { sub } }),
    }
    await store.deleteByLogoutToken({ sub })
    for (const id of many) claim(!(await isThere(store, id)), 'each of thirty sessions of the user ends')
    await claimLeft(store, sessions)
  },

  'deleteByLogoutToken: uses the sub of the user if internal has none': async (store) => {
    const { internal, ...session } = createSession()
    const { sub: _unset, ...without }: StoredInternalData = internal
    const id = await storeSession(store, { ...session, internal: without })
    await store.deleteByLogoutToken({ sub: session.user.sub })
    claim(!(await isThere(store, id)), 'the session ends')
  },

  'deleteByLogoutToken: keeps sessions that began after iat': async (store) => {
    const [sub, sid] = [newId(), newId()]
    const iat = systemClock() - 1000
    const sessions = {
      'ends: began before': await stored(store, { sub, createdAt: iat - 1 }),
      'ends: began within the minute by which clocks may differ': await stored(store, {
        sub,
        createdAt: iat + 60,
      }),
      'stays: began after that': await stored(store, { sub, createdAt: iat + 61 }),
      'ends: named by sid, whenever it began': await stored(store, { sid, createdAt: iat + 600 }),
    }
    await store.deleteByLogoutToken({ sub, iat })
    await store.deleteByLogoutToken({ sid, iat })
    await claimLeft(store, sessions)
    await store.deleteByLogoutToken({ sub })
    claim(!(await isThere(store, sessions['stays: began after that'])), 'without iat every session is meant')
  },

  'deleteByLogoutToken: keeps sessions of another issuer': async (store) => {
    const [one, two] = ['https://one.example.com', 'https://two.example.com']
    const [sub, sid] = [newId(), newId()]
    const sessions = {
      'ends: of this issuer': await stored(store, { sub, iss: one }),
      'ends: of an issuer that is not known': await stored(store, { sub }),
      'stays: of another issuer': await stored(store, { sub, iss: two }),
      'stays: of another issuer, with the sid': await stored(store, { sid, iss: two }),
    }
    await store.deleteByLogoutToken({ sub, iss: one })
    await store.deleteByLogoutToken({ sid, iss: one })
    await claimLeft(store, sessions)
    await store.deleteByLogoutToken({ sub })
    claim(!(await isThere(store, sessions['stays: of another issuer'])), 'without iss every issuer is meant')
  },

  'deleteByLogoutToken: does nothing, without an error, if no session matches': async (store) => {
    const sessions = {
      'stays: with sid': await stored(store, { sid: newId() }),
      'stays: without sid': await stored(store, {}),
    }
    await store.deleteByLogoutToken({ sid: newId() })
    await store.deleteByLogoutToken({ sub: newId() })
    await store.deleteByLogoutToken({ iss: 'https://idp.example.com' })
    await store.deleteByLogoutToken({})
    await claimLeft(store, sessions)
  },

  'deleteByLogoutToken: finds sessions that were written again': async (store) => {
    const [sub, sid] = [newId(), newId()]
    const id = newId()
    for (let round = 0; round < 3; round++)
      await store.set(id, createSession({ sub, sid }, { round }), later())
    await store.update?.(id, (current) => ({ ...current, updated: true }), later())
    await store.deleteByLogoutToken({ sid })
    claim(!(await isThere(store, id)), 'the session ends')
  },

  'deleteByLogoutToken: every character of sub and sid counts': async (store) => {
    const stem = newId()
    const people = await Promise.all(
      ENDS.map(async (end) => {
        const name = stem + end
        return { name, bySub: await stored(store, { sub: name }), bySid: await stored(store, { sid: name }) }
      }),
    )
    for (const [index, { name }] of people.entries()) {
      await store.deleteByLogoutToken({ sub: name })
      await store.deleteByLogoutToken({ sid: name })
      const left = await Promise.all(
        people.flatMap((user) => [isThere(store, user.bySub), isThere(store, user.bySid)]),
      )
      const expected = people.flatMap((_, at) => [at > index, at > index])
      claimEqual(left, expected, `what is left after the logout of ${JSON.stringify(ENDS[index])}`)
    }
  },
})

const lists = rules(['listBySubject'], {
  'listBySubject: returns the sessions of a user': async (store) => {
    const sub = newId()
    claimEqual(await store.listBySubject(sub), [], 'the sessions of a user who has none')
    const mine = Array.from({ length: 5 }, () => ({ id: newId(), session: createSession({ sub }) }))
    await Promise.all(mine.map(({ id, session }) => store.set(id, session, later())))
    await stored(store, {}, { user: { sub } })
    const [first, ...rest] = mine
    if (first) await store.delete(first.id)
    const found = [...(await store.listBySubject(sub))].sort((one, other) => (one.id < other.id ? -1 : 1))
    rest.sort((one, other) => (one.id < other.id ? -1 : 1))
    claimSame(found, rest, 'the sessions of a user')
  },
})

const expiring = expiryRules(['listBySubject'], {
  'listBySubject: leaves out expired sessions': async (store) => {
    const sub = newId()
    const id = await stored(store, { sub })
    await storeSession(store, createSession({ sub }), over())
    claimEqual(
      (await store.listBySubject(sub)).map((record) => record.id),
      [id],
      'the live sessions of a user',
    )
  },
})

const removal = rules(['deleteBySubject'], {
  'deleteBySubject: deletes and counts the sessions of a user': async (store) => {
    const sub = newId()
    claimEqual(await store.deleteBySubject(sub), 0, 'sessions of a user who has none')
    const mine = await Promise.all(Array.from({ length: 12 }, () => stored(store, { sub })))
    const sessions = {
      'stays: of another user': await stored(store, {}),
      'stays: of a user whom a hook gave that name': await stored(store, {}, { user: { sub } }),
    }
    claimEqual(await store.deleteBySubject(sub), 12, 'how many were deleted')
    for (const id of mine) claim(!(await isThere(store, id)), 'a deleted session is gone')
    await claimLeft(store, sessions)
    claimEqual(await store.deleteBySubject(sub), 0, 'the second time')
  },
})

const both = rules(['listBySubject', 'deleteBySubject'], {
  'deleteBySubject and listBySubject: every character counts': async (store) => {
    const stem = newId()
    const ids = await Promise.all(ENDS.map((end) => stored(store, { sub: stem + end })))
    for (const [index, end] of ENDS.entries()) {
      const found = await store.listBySubject(stem + end)
      claimEqual(
        found.map(({ id }) => id),
        [ids[index]],
        `the sessions of ${JSON.stringify(end)}`,
      )
      claimEqual(
        await store.deleteBySubject(stem + end),
        1,
        `how many of ${JSON.stringify(end)} were deleted`,
      )
    }
  },
})

/** Cases for the methods that find sessions by their owner. */
export const subjects: readonly Rules[] = [tokens, lists, expiring, removal, both]
