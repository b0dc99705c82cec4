import { systemClock } from '../../lib/clock.ts'
import { claimEqual } from '../adapter-contract/claim.ts'
import type { Rules } from './rule.ts'
import { createSession, expiryRules, isThere, later, newId, rules, soon, until } from './rule.ts'

const tokens = rules(['deleteByLogoutToken', 'endedAt'], {
  'endedAt: returns the latest iat of the logout tokens of a sid': async (store) => {
    const [one, two] = ['https://one.example.com', 'https://two.example.com']
    const sid = newId()
    const iat = systemClock() - 30
    claimEqual(await store.endedAt({ sid, iss: one }), null, 'a session that nobody ended')
    await store.deleteByLogoutToken({ sid, iss: one, iat })
    await store.deleteByLogoutToken({ sid, iss: one, iat: iat - 10 })
    claimEqual(await store.endedAt({ sid, iss: one }), iat, 'an older token changes nothing')
    await store.deleteByLogoutToken({ sid, iss: one, iat: iat + 10 })
    claimEqual(await store.endedAt({ sid, iss: one }), iat + 10, 'a newer token counts')
    claimEqual(await store.endedAt({ sid, iss: two }), null, 'the same sid of another issuer')
    claimEqual(await store.endedAt({ sid: newId(), iss: one }), null, 'another sid')
    claimEqual(await store.endedAt({ iss: one }), null, 'neither sid nor sub')
    const odd = `${newId()}\u0000'"\\ \ud800`
    await store.deleteByLogoutToken({ sid: odd, iat })
    claimEqual(await store.endedAt({ sid: odd }), iat, 'a sid of any characters, without issuer')
  },

  'endedAt: a logout token without sid counts for every session of its sub': async (store) => {
    const [one, two] = ['https://one.example.com', 'https://two.example.com']
    const [sub, sid] = [newId(), newId()]
    const iat = systemClock() - 30
    await store.deleteByLogoutToken({ sub, sid, iss: one, iat })
    claimEqual(
      await store.endedAt({ sub, iss: one }),
      null,
      'a token with sid names no other session of the user',
    )
    await store.deleteByLogoutToken({ sub, iss: one, iat: iat + 10 })
    await store.deleteByLogoutToken({ sub, iss: one, iat: iat + 5 })
    claimEqual(await store.endedAt({ sub, iss: one }), iat + 10, 'a session without sid')
    claimEqual(await store.endedAt({ sub, sid, iss: one }), iat + 10, 'the later one of both tokens')
    claimEqual(await store.endedAt({ sid, iss: one }), iat, 'the token that named the sid')
    claimEqual(await store.endedAt({ sub, sid: newId(), iss: one }), iat + 10, 'another session of the user')
    claimEqual(await store.endedAt({ sub, iss: two }), null, 'the same sub of another issuer')
    claimEqual(await store.endedAt({ sid: sub, iss: one }), null, 'a sid that equals the sub')
    claimEqual(await store.endedAt({ sub: sid, iss: one }), null, 'a sub that equals the sid')
    await store.deleteByLogoutToken({ sid, iss: one, iat: iat + 20 })
    claimEqual(await store.endedAt({ sub, sid, iss: one }), iat + 20, 'the later one in the other order')
  },
})

const remembered = rules(['deleteByLogoutToken', 'endedAt', 'rememberEnd'], {
  'rememberEnd: endedAt returns it until the given time, whatever logout tokens arrive meanwhile, and nothing is deleted':
    async (store) => {
      const iss = 'https://one.example.com'
      const [sid, sub, id] = [newId(), newId(), newId()]
      const now = systemClock()
      const { expiresAt } = later()
      await store.set(id, createSession({ sid, sub, iss }), { expiresAt })
      await store.rememberEnd({ sid, iss, iat: now - 30 }, { expiresAt })
      await store.rememberEnd({ sub, iss, iat: now - 20 }, { expiresAt })
      claimEqual(await store.endedAt({ sid, iss }), now - 30, 'the end of a session')
      claimEqual(await store.endedAt({ sub, iss }), now - 20, 'the end of every session of a user')
      claimEqual(await store.endedAt({ sid, sub, iss }), now - 20, 'the later one of both')
      claimEqual(await isThere(store, id), true, 'the session stays')
      await store.rememberEnd({ sid, iss, iat: now - 40 }, { expiresAt: expiresAt - 10 })
      claimEqual(await store.endedAt({ sid, iss }), now - 30, 'an earlier end changes nothing')
      await store.deleteByLogoutToken({ sid, iss, iat: now })
      claimEqual(await store.endedAt({ sid, iss }), now, 'a logout token that arrives later')
      claimEqual(await store.endedAt({ sid, iss: 'https://two.example.com' }), null, 'another issuer')
    },
})

const expiring = expiryRules(['endedAt', 'rememberEnd'], {
  'rememberEnd: what is remembered for longer stays so': async (store) => {
    const iss = 'https://one.example.com'
    const [longer, shorter] = [newId(), newId()]
    const iat = systemClock() - 30
    await store.rememberEnd({ sid: longer, iss, iat }, later())
    await store.rememberEnd({ sid: longer, iss, iat }, soon())
    await store.rememberEnd({ sid: shorter, iss, iat }, soon())
    await until(async () => (await store.endedAt({ sid: shorter, iss })) === null, 'an end is forgotten')
    claimEqual(await store.endedAt({ sid: longer, iss }), iat, 'an end that is remembered for longer')
  },
})

/** Cases for the methods that tell whether a session has ended elsewhere. */
export const endings: readonly Rules[] = [tokens, remembered, expiring]
