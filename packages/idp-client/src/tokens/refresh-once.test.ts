import { expect, test } from 'vitest'
import { randomToken } from '../crypto/random.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { Redemption, RefreshOnce } from './refresh-once.ts'
import { refreshOnce } from './refresh-once.ts'
import { closeFamily } from './token-family.ts'

function session(refreshToken = randomToken()): StoredSession & { refreshToken: string } {
  const tokenSet = { accessToken: 'old', expiresAt: 0, refreshToken }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: 0 } }
  return { data, sessionKey: randomToken(), usedAt: 0, refreshToken }
}

function request(of: ReturnType<typeof session>, changes: Partial<RefreshOnce> = {}): RefreshOnce {
  return {
    session: of,
    refreshToken: of.refreshToken,
    client: 'client',
    purpose: 'api',
    clock: () => 0,
    patience: 1000,
    isSatisfiedBy: ({ data }) => data.tokenSet.accessToken !== 'old',
    redeem: async (latest, token) => renewed(latest, `${token}+`),
    ...changes,
  }
}

function renewed(latest: StoredSession, refreshToken: string): Redemption {
  const tokenSet = { accessToken: 'new', expiresAt: 60, refreshToken }
  return { session: { ...latest, data: { ...latest.data, tokenSet } } }
}

test('the lock of a storage is held while the token is redeemed, once for all who wait', async () => {
  const order: string[] = []
  const one = session()
  const given = request(one, {
    shared: {
      exclusively: async (current, work) => {
        order.push('locked')
        try {
          return await work(current)
        } finally {
          order.push('unlocked')
        }
      },
      adopt: async () => {},
      currentId: async () => null,
    },
    redeem: async (latest, token) => {
      order.push(`redeemed ${token === one.refreshToken}`)
      return renewed(latest, 'next')
    },
  })
  const refreshing = await Promise.all([refreshOnce(given), refreshOnce(given), refreshOnce(given)])
  const results = await Promise.all(refreshing.map(({ redemption }) => redemption))
  expect(order).toEqual(['locked', 'redeemed true', 'unlocked'])
  expect(new Set(results).size).toBe(1)
})

test('the same refresh token under another handle, client or key shares nothing', async () => {
  const token = randomToken()
  const people = [session(token), session(token)]
  const subjects: string[] = []
  const ask = async (of: ReturnType<typeof session>, client: string) => {
    const { redemption } = await refreshOnce(
      request(of, {
        client,
        redeem: async (latest) => {
          subjects.push(latest.sessionKey)
          return renewed(latest, randomToken())
        },
      }),
    )
    return (await redemption).session.sessionKey
  }
  const [alice, bob] = people
  if (!alice || !bob) throw new Error('two sessions')
  expect(await ask(alice, 'client')).toBe(alice.sessionKey)
  expect(await ask(bob, 'client')).toBe(bob.sessionKey)
  expect(await ask(alice, 'other')).toBe(alice.sessionKey)
  expect(subjects).toEqual([alice.sessionKey, bob.sessionKey, alice.sessionKey])
})

test('a redemption that fails is forgotten: the next one tries again', async () => {
  const one = session()
  let tries = 0
  const failing = request(one, {
    redeem: async (latest) => {
      if (++tries === 1) throw new Error('reset')
      return renewed(latest, 'next')
    },
  })
  await expect((await refreshOnce(failing)).redemption).rejects.toThrow('reset')
  const { redemption } = await refreshOnce(failing)
  expect((await redemption).session.data.tokenSet.accessToken).toBe('new')
})

test('a token that does not rotate: what was read from a shared place is not taken back by an older line', async () => {
  const one = session()
  const keepsToken = async (latest: StoredSession): Promise<Redemption> => renewed(latest, one.refreshToken)
  const shared: NonNullable<RefreshOnce['shared']> = {
    exclusively: (current, work) => work(current),
    adopt: async () => {},
    currentId: async () => null,
  }
  await (await refreshOnce(request(one, { shared, redeem: keepsToken }))).redemption
  // Another process refreshed it again, and the user changed something.
  const theirs = renewed(
    { ...one, usedAt: 30, data: { ...one.data, theme: 'dark' } },
    one.refreshToken,
  ).session
  const tokenSet = { ...theirs.data.tokenSet, accessToken: 'newer' }
  const read = { ...one, ...theirs, data: { ...theirs.data, tokenSet } }
  const started: StoredSession[] = []
  const forced = request(read, {
    shared,
    isSatisfiedBy: ({ data }) => data.tokenSet.accessToken !== 'newer',
    redeem: async (latest) => {
      started.push(latest)
      return keepsToken(latest)
    },
  })
  const { session: after } = await (await refreshOnce(forced)).redemption
  expect(started).toEqual([read])
  expect(after.data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'new' } })
})

test('[B11] a late response is waited for until the lock of the store has to be given back', async () => {
  const granted: number[] = []
  const lockedFor = (milliseconds: number): NonNullable<RefreshOnce['shared']> => ({
    exclusively: (current, work) => work(current, performance.now() + milliseconds),
    adopt: async () => {},
    currentId: async () => null,
  })
  for (const milliseconds of [600, 0, 60_000]) {
    const redeem: RefreshOnce['redeem'] = async (latest, _token, onOverdue) => {
      granted.push(onOverdue(new Error('late')))
      return renewed(latest, 'next')
    }
    const given = request(session(), { shared: lockedFor(milliseconds), redeem, patience: 1000 })
    await (await refreshOnce(given)).redemption.catch(() => {})
  }
  const [short = 0, none, long] = granted
  expect(short).toBeGreaterThan(0)
  expect(short).toBeLessThanOrEqual(600)
  expect([none, long]).toEqual([0, 3000])
})

test.each([
  ['is kept', false, 1],
  ['is not kept when the session has ended meanwhile', true, 0],
])('[B11,I2] a late response %s', async (_title, isEnded, expected) => {
  let land = (): void => {}
  const landed = new Promise<void>((resolve) => {
    land = resolve
  })
  const kept: StoredSession[] = []
  const given = request(session(), {
    redeem: async (latest, _token, onOverdue) => {
      onOverdue(new Error('late'))
      await landed
      return renewed(latest, 'next')
    },
    keepLate: (_line, late) => kept.push(late),
  })
  const { family, redemption } = await refreshOnce(given)
  await expect(redemption).rejects.toThrow('late')
  const [flight] = [...(family.inFlight?.values() ?? [])]
  if (isEnded) closeFamily(family)
  land()
  await flight?.landing
  expect(kept).toHaveLength(expected)
})
