import { expect, test } from 'vitest'
import {
  ask,
  familyOf,
  gate,
  inCookies,
  partsFor,
  purpose,
  renewed,
  session,
} from '../../../test/support/redemptions.ts'
import { randomToken } from '../../crypto/random.ts'
import type { Purpose } from './coordinator.ts'
import { findFamily, isPending, NO_SESSION, tokenKey } from './families.ts'
import { redeemWithoutSession } from './without-session.ts'

const granted = (refreshToken: string) => ({
  accessToken: 'new',
  expiresAt: inCookies.config.clock() + 60,
  refreshToken,
  tokenType: 'Bearer',
})

test('a late response for the application takes no place of a session whose cookie is to be set', async () => {
  const refreshToken = randomToken()
  const late = new Error('late')
  const { open, opened } = gate()
  const redemption = redeemWithoutSession(inCookies, { refreshToken }, async ({ onOverdue, onRequest }) => {
    onRequest?.()
    onOverdue?.(late)
    await opened
    return granted(randomToken())
  })
  await expect(redemption).rejects.toBe(late)
  const key = await tokenKey(inCookies, refreshToken, NO_SESSION)
  const family =
    findFamily(key, { ...session(refreshToken), sessionKey: NO_SESSION }, 0) ??
    expect.fail('there is a family')
  open()
  await expect.poll(() => family.turns).toEqual([])
  expect(family.latest.data.tokenSet.accessToken).toBe('new')
  expect(isPending(family)).toBe(false)
})

test('a consumed refresh token does not get an access token that has expired since', async () => {
  const refreshToken = randomToken()
  const sent: string[] = []
  const send = async ({ refreshToken: token }: { refreshToken: string }) => {
    const isFirst = sent.push(token) === 1
    return { ...granted(`${token}+`), ...(isFirst ? { expiresAt: inCookies.config.clock() } : {}) }
  }
  await redeemWithoutSession(inCookies, { refreshToken }, send)
  const { expiresAt } = await redeemWithoutSession(inCookies, { refreshToken }, send)
  expect(expiresAt).toBeGreaterThan(inCookies.config.clock())
  expect(sent).toEqual([refreshToken, `${refreshToken}+`])
})

test('a call of the application that waits while a session takes over its token sends nothing', async () => {
  const refreshToken = randomToken()
  const [started, response] = [gate(), gate()]
  const sent: string[] = []
  const asking = (audience: string) =>
    redeemWithoutSession(inCookies, { refreshToken, audience }, async ({ refreshToken: token }) => {
      sent.push(token)
      started.open()
      await response.opened
      return granted(`${token}+`)
    })
  const first = asking('one')
  await started.opened
  const second = asking('other')
  const holder = { ...session(refreshToken), sessionKey: NO_SESSION }
  const key = await tokenKey(inCookies, refreshToken, NO_SESSION)
  const family = findFamily(key, holder, 0) ?? expect.fail('there is a family')
  await expect.poll(() => family.turns).toHaveLength(2)
  family.closed = true
  response.open()
  await expect(second).rejects.toMatchObject({ code: 'INVALID_ARGUMENTS' })
  expect((await first).accessToken).toBe('new')
  expect(sent).toEqual([refreshToken])
})

test('a session takes over the token that the application has redeemed: each token before it resolves to the session', async () => {
  const one = session()
  const [theirs, successor] = [randomToken(), randomToken()]
  // Another process has refreshed the session, and the application has redeemed the token of that.
  const tokenSet = { ...one.data.tokenSet, refreshToken: theirs }
  const read = async () => ({ ...one, data: { ...one.data, tokenSet } })
  const lock = async () => ({ until: Number.POSITIVE_INFINITY, release: async () => {} })
  const parts = partsFor({ store: { lock, read } })
  const send = async () => granted(successor)
  await redeemWithoutSession(parts, { refreshToken: theirs }, send)
  const redeemed: string[] = []
  const redeem: Purpose['redeem'] = async (latest, token) => {
    redeemed.push(token)
    return renewed(latest, randomToken())
  }
  await ask(purpose(one, { redeem }), parts)
  expect(redeemed).toEqual([successor])
  const tokens = [one.refreshToken, theirs, successor]
  const families = await Promise.all(tokens.map((refreshToken) => familyOf({ ...one, refreshToken }, parts)))
  expect(families[0]).toBeDefined()
  expect(new Set(families).size).toBe(1)
  await expect(redeemWithoutSession(parts, { refreshToken: successor }, send)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
  })
})
