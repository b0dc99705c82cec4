import { systemClock } from '../../lib/clock.ts'
import { claimEqual } from '../adapter-contract/claim.ts'
import type { Rule } from './rule.ts'
import { newId, rule } from './rule.ts'

const needs = ['deleteByLogoutToken', 'endedAt'] as const

const remembered = rule(
  { title: 'endedAt: returns the latest iat of the logout tokens of a sid', needs },
  async (store) => {
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
)

const rememberedUser = rule(
  { title: 'endedAt: a logout token without sid counts for every session of its sub', needs },
  async (store) => {
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
)

/** Cases for the method that tells whether the provider has ended a session. */
export const endings: readonly Rule[] = [remembered, rememberedUser]
