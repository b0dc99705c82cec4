import { expect, test } from 'vitest'
import { engineFor } from '../../../test/support/engine.ts'
import { session } from '../../../test/support/redemptions.ts'
import { randomToken } from '../../crypto/random.ts'
import { toTokenRequest } from '../token-request.ts'
import { endInProcess, hasEnded, markEnded, wasJustReplaced } from './ended.ts'
import { advance, findFamily, isPending, keepUntilSent, openFamily } from './families.ts'
import { findToken, keepProcessToken } from './process-tokens.ts'

test('[I2] the end of a session closes its family and drops its tokens, before anything is awaited', async () => {
  const { config } = engineFor().engine
  const [from, to] = [randomToken(), randomToken()]
  const [before, after] = [session(), session()]
  const want = {
    ...toTokenRequest(config.authorization, { audience: 'a', mergeScopes: false }),
    processOnly: true,
  } as const
  keepProcessToken(config, before, want, { accessToken: 't', audience: 'a', expiresAt: config.clock() + 10 })
  expect(findToken(config, before, want)?.accessToken).toBe('t')
  void endInProcess(before, new Promise(() => {}))
  expect([hasEnded(before), hasEnded(after), findToken(config, before, want)]).toEqual([
    true,
    false,
    undefined,
  ])
  const family = openFamily(from, after)
  advance(family, after, [from, to], 1000)
  keepUntilSent(config, family, after)
  await endInProcess(after, family)
  expect([isPending(family), findFamily(from, after, 1001)]).toEqual([false, undefined])
})

test('only requests with a session that a login has replaced may still be underway', () => {
  const [ended, replaced] = [session(), session()]
  markEnded(ended.sessionKey)
  markEnded(replaced.sessionKey, 'replaced')
  expect([ended, replaced].map(hasEnded)).toEqual([true, true])
  expect([ended, replaced].map(wasJustReplaced)).toEqual([false, true])
})
