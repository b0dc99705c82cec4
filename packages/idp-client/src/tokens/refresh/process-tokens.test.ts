import { expect, test } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import { freshlyStored } from '../../session/model/session.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { toTokenRequest } from '../token-request.ts'
import { findToken, forgetProcessTokens, keepProcessToken } from './process-tokens.ts'

test('[C2] the access token of the account API is kept for one session, user, client, audience and scope until it ends', () => {
  const { clock, engine } = engineFor()
  const { config } = engine
  const tokenSet = { accessToken: 'main', expiresAt: clock.now + 60 }
  const of = (sub: string): StoredSession =>
    freshlyStored({ user: { sub }, tokenSet, internal: { createdAt: clock.now } }, clock.now)
  const session = of('alice')
  const want = {
    ...toTokenRequest(config.authorization, { audience: 'a', scope: 's', mergeScopes: false }),
    processOnly: true,
  } as const
  const token = { accessToken: 't', audience: 'a', scope: 's', expiresAt: clock.now + 10 }
  const kept = (...given: [StoredSession?, Partial<typeof want>?, string?]) => {
    const [of = session, changes = {}, clientId = config.clientId] = given
    return findToken({ ...config, clientId }, of, { ...want, ...changes })
  }
  keepProcessToken(config, session, want, token)
  expect(kept()).toEqual(token)
  expect([
    kept(of('alice')),
    kept({ ...session, data: { ...session.data, user: { sub: 'bob' } } }),
    kept(session, { audience: 'x' }),
    kept(session, { scope: 'x' }),
    kept(session, {}, 'another-client'),
  ]).toEqual(Array.from({ length: 5 }))
  keepProcessToken(config, session, { ...want, scope: 'x' }, { ...token, accessToken: 'x', scope: 'x' })
  expect([kept(), kept(session, { scope: 'x' })]).toMatchObject([{ accessToken: 't' }, { accessToken: 'x' }])
  clock.now += 10
  expect(kept()).toBeUndefined()
  clock.now -= 1
  expect(kept()).toEqual(token)
  keepProcessToken(config, session, want, { ...token, accessToken: 'newer' })
  expect([kept(), kept(session, { scope: 'x' })]).toMatchObject([
    { accessToken: 'newer' },
    { accessToken: 'x' },
  ])
  forgetProcessTokens(session.sessionKey)
  expect(kept()).toBeUndefined()
})
