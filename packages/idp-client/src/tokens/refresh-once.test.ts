import { afterEach, expect, test, vi } from 'vitest'
import { Cookies, engineFor } from '../../test/support/engine.ts'
import { randomToken } from '../crypto/random.ts'
import { pause } from '../lib/pause.ts'
import { freshlyStored } from '../session/model/session.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { RefreshOnce } from './refresh-once.ts'
import { persist, refreshOnce } from './refresh-once.ts'
import type { Redemption } from './token-family.ts'
import { closeFamily, openFamily } from './token-family.ts'

afterEach(() => vi.useRealTimers())

function session(refreshToken = randomToken()): StoredSession & { refreshToken: string } {
  const tokenSet = { accessToken: 'old', expiresAt: 0, refreshToken }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: 0 } }
  return { data, sessionKey: randomToken(), usedAt: 0, refreshToken }
}

function request(of: ReturnType<typeof session>, changes: Partial<RefreshOnce> = {}): RefreshOnce {
  return {
    session: of,
    refreshToken: of.refreshToken,
    clientTag: 'client',
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

test('the lock of a storage is held while the token is redeemed, once for all callers', async () => {
  const order: string[] = []
  const one = session()
  const given = request(one, {
    distributed: {
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

test('the same refresh token with another session key, client or DPoP key shares nothing', async () => {
  const token = randomToken()
  const people = [session(token), session(token)]
  const subjects: string[] = []
  const ask = async (of: ReturnType<typeof session>, clientTag: string) => {
    const { redemption } = await refreshOnce(
      request(of, {
        clientTag,
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

test('a redemption that fails is not cached: the next one tries again', async () => {
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

test('a token that does not rotate: a session from a shared store is not replaced by an older family', async () => {
  const one = session()
  const keepsToken = async (latest: StoredSession): Promise<Redemption> => renewed(latest, one.refreshToken)
  const distributed: NonNullable<RefreshOnce['distributed']> = {
    exclusively: (current, work) => work(current),
    adopt: async () => {},
    currentId: async () => null,
  }
  await (await refreshOnce(request(one, { distributed, redeem: keepsToken }))).redemption
  // Another process refreshed it again, and the user changed something.
  const theirs = renewed(
    { ...one, usedAt: 30, data: { ...one.data, theme: 'dark' } },
    one.refreshToken,
  ).session
  const tokenSet = { ...theirs.data.tokenSet, accessToken: 'newer' }
  const read = { ...one, ...theirs, data: { ...theirs.data, tokenSet } }
  const started: StoredSession[] = []
  const forced = request(read, {
    distributed,
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

test('[B11] a late response is awaited until the lock of the store has to be released', async () => {
  const granted: number[] = []
  const lockedFor = (milliseconds: number): NonNullable<RefreshOnce['distributed']> => ({
    exclusively: (current, work) => work(current, performance.now() + milliseconds),
    adopt: async () => {},
    currentId: async () => null,
  })
  for (const milliseconds of [600, 0, 60_000]) {
    const redeem: RefreshOnce['redeem'] = async (latest, _token, { onOverdue }) => {
      granted.push(onOverdue(new Error('late')))
      return renewed(latest, 'next')
    }
    const given = request(session(), { distributed: lockedFor(milliseconds), redeem, patience: 1000 })
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
    redeem: async (latest, _token, { onOverdue }) => {
      onOverdue(new Error('late'))
      await landed
      return renewed(latest, 'next')
    },
    keepLate: (_line, late) => kept.push(late),
  })
  const { family, redemption } = await refreshOnce(given)
  await expect(redemption).rejects.toThrow('late')
  const response = family.flights?.get('api')?.join(60_000)
  if (isEnded) closeFamily(family)
  land()
  await response
  expect(kept).toHaveLength(expected)
})

function gate() {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

const late = new Error('late')

/** A redemption whose response is late from the beginning, and other requests of its session. */
async function lateResponse(changes: Partial<RefreshOnce> = {}) {
  const one = session()
  const { open, opened } = gate()
  const granted: number[] = []
  const of = (purpose: string, more: Partial<RefreshOnce> = {}): RefreshOnce =>
    request(one, { purpose, patience: 5000, isSatisfiedBy: () => false, ...more })
  const { family, redemption } = await refreshOnce(
    of('a', {
      redeem: async (latest, _token, { onOverdue }) => {
        granted.push(onOverdue(late))
        await opened
        return renewed(latest, 'rotated')
      },
      ...changes,
    }),
  )
  redemption.catch(() => {})
  const ask = async (...given: Parameters<typeof of>): Promise<Redemption> =>
    (await refreshOnce(of(...given))).redemption
  return { ask, family, granted, open, redemption }
}

test('tasks of the same purpose run once; the next one starts after the previous one has ended', async () => {
  const one = session()
  const order: string[] = []
  const gates = { a: gate(), b: gate() }
  const ask = (purpose: 'a' | 'b'): ReturnType<typeof refreshOnce> =>
    refreshOnce(
      request(one, {
        purpose,
        isSatisfiedBy: () => false,
        redeem: async (latest, token) => {
          order.push(`${purpose} ${token === one.refreshToken ? 'first' : token}`)
          await gates[purpose].opened
          return renewed(latest, `of ${purpose}`)
        },
      }),
    )
  const asked = await Promise.all([ask('a'), ask('a'), ask('b')])
  await pause(0)
  expect(order).toEqual(['a first'])
  gates.a.open()
  const [first, second] = await Promise.all(asked.slice(0, 2).map(({ redemption }) => redemption))
  expect(first).toBe(second)
  gates.b.open()
  expect((await asked[2]?.redemption)?.session.data.tokenSet.refreshToken).toBe('of b')
  expect(order).toEqual(['a first', 'b of a'])
  expect(asked[0]?.family.flights).toBeUndefined()
})

test('[B11] callers in time get an error that the response is late, later ones get its result', async () => {
  const kept: StoredSession[] = []
  const { ask, family, granted, open, redemption } = await lateResponse({
    keepLate: (_family, after) => kept.push(after),
  })
  await expect(redemption).rejects.toBe(late)
  expect(granted).toEqual([15_000])
  const joining = ask('a', { redeem: () => Promise.reject(new Error('a second redemption')) })
  const other = ask('b')
  await pause(0)
  open()
  expect((await joining).session.data.tokenSet.refreshToken).toBe('rotated')
  expect((await other).session.data.tokenSet.refreshToken).toBe('rotated+')
  expect(kept).toHaveLength(1)
  expect(family.flights).toBeUndefined()
})

test('[B11] a later caller waits until its own deadline, and then its task does not run', async () => {
  const { ask, open, redemption } = await lateResponse()
  await redemption.catch(() => {})
  let redeemed = 0
  const redeem: RefreshOnce['redeem'] = async (current) => renewed(current, `${++redeemed}`)
  for (const purpose of ['a', 'b'])
    await expect(ask(purpose, { patience: 1, redeem })).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
  open()
  expect((await ask('b', { redeem })).session.data.tokenSet.refreshToken).toBe('1')
})

/** A redemption whose request ended: it never settles. `patience` is 1000 ms, so that it counts as lost after 2000 ms. */
async function lostRedemption(sent: string[]) {
  vi.useFakeTimers()
  const one = session()
  const of = (changes: Partial<RefreshOnce> = {}): RefreshOnce =>
    request(one, {
      redeem: async (latest, token, { onRequest }) => {
        onRequest()
        sent.push(token)
        return renewed(latest, 'next')
      },
      ...changes,
    })
  const lose: RefreshOnce['redeem'] = (_latest, token, { onRequest }) => {
    onRequest()
    sent.push(token)
    return new Promise(() => {})
  }
  const ask = async (changes?: Partial<RefreshOnce>): Promise<string> => {
    const { redemption } = await refreshOnce(of(changes))
    return redemption.then(
      ({ session: { data } }) => `${data.tokenSet.refreshToken}`,
      ({ code }) => code,
    )
  }
  void ask({ redeem: lose })
  await vi.advanceTimersByTimeAsync(0)
  return { ask, lose, one }
}

test('[K1] before the deadline of a redemption, a caller whose patience ends sends nothing', async () => {
  const sent: string[] = []
  const { ask } = await lostRedemption(sent)
  const joining = [ask(), ask({ purpose: 'other' })]
  await vi.advanceTimersByTimeAsync(1000)
  expect(await Promise.all(joining)).toEqual(['REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'])
  expect(sent).toHaveLength(1)
})

test('[K1] after the deadline one caller redeems, the others wait for it', async () => {
  const sent: string[] = []
  const { ask, one } = await lostRedemption(sent)
  await vi.advanceTimersByTimeAsync(1500)
  const joining = [ask(), ask(), ask(), ask({ purpose: 'other' })]
  await vi.advanceTimersByTimeAsync(500)
  expect(await Promise.all(joining)).toEqual(['next', 'next', 'next', 'next'])
  expect(sent).toEqual([one.refreshToken, one.refreshToken])
})

test('[K1] a redemption that is taken over reads the session from the store again', async () => {
  const sent: string[] = []
  const reads: (boolean | undefined)[] = []
  const { ask } = await lostRedemption(sent)
  const distributed: NonNullable<RefreshOnce['distributed']> = {
    exclusively: (current, work, mayBeOld) => {
      reads.push(mayBeOld)
      return work(current)
    },
    adopt: async () => {},
    currentId: async () => null,
  }
  await vi.advanceTimersByTimeAsync(2000)
  expect(await ask({ distributed })).toBe('next')
  expect(await ask({ distributed, purpose: 'other', isSatisfiedBy: () => false })).toBe('next')
  expect(reads).toEqual([true, false])
})

test('[K1] a token whose responses were lost twice is not sent again', async () => {
  const sent: string[] = []
  const { ask, lose } = await lostRedemption(sent)
  await vi.advanceTimersByTimeAsync(2000)
  void ask({ redeem: lose })
  await vi.advanceTimersByTimeAsync(2000)
  for (const purpose of ['api', 'other', 'api']) expect(await ask({ purpose })).toBe('REQUEST_TIMEOUT')
  expect(sent).toHaveLength(2)
})

test('[K1] a redemption whose response has arrived is not taken over while hooks run', async () => {
  vi.useFakeTimers()
  const one = session()
  const { open, opened } = gate()
  let redeemed = 0
  const slow = request(one, {
    redeem: async (latest, _token, { onRequest, onResponse }) => {
      redeemed++
      onRequest()
      onResponse()
      await opened
      return renewed(latest, 'next')
    },
  })
  const { redemption } = await refreshOnce(slow)
  await vi.advanceTimersByTimeAsync(3000)
  const joining = refreshOnce(slow).then(({ redemption }) => redemption)
  await vi.advanceTimersByTimeAsync(500)
  open()
  expect(await joining).toEqual(await redemption)
  expect(redeemed).toBe(1)
})

test('[B11] the failure of a late response is reported, and the next caller tries again', async () => {
  const reported: unknown[] = []
  const failure = new Error('reset')
  const { ask, family, redemption } = await lateResponse({
    redeem: async (_latest, _token, { onOverdue }) => {
      onOverdue(late)
      await pause(0)
      throw failure
    },
    reportLate: (error) => void reported.push(error),
  })
  await expect(redemption).rejects.toBe(late)
  await family.flights?.get('a')?.join(60_000)
  expect(reported).toEqual([failure])
  expect((await ask('a')).session.data.tokenSet.accessToken).toBe('new')
})

test('[B11] a late response is awaited once, and at most a thousand are pending', async () => {
  const many = await Promise.all(Array.from({ length: 1001 }, () => lateResponse()))
  await pause(0)
  expect(many.filter(({ granted }) => granted[0] === 0)).toHaveLength(1)
  for (const { open } of many) open()
  await Promise.allSettled(
    many.map(({ family, redemption }) => family.flights?.get('a')?.join(60_000) ?? redemption),
  )
  const twice: number[] = []
  const next = await lateResponse({
    redeem: async (latest, _token, { onOverdue }) => {
      twice.push(onOverdue(late), onOverdue(late))
      return renewed(latest, 'rotated')
    },
  })
  await next.redemption.catch(() => {})
  expect(twice).toEqual([15_000, 0])
})

function refreshed() {
  const { clock, engine } = engineFor()
  const tokenSet = { accessToken: 'at', expiresAt: clock.now + 60, refreshToken: randomToken() }
  const data = { user: { sub: 'alice' }, tokenSet, internal: { createdAt: clock.now } }
  const session = freshlyStored(data, clock.now)
  return { engine, session, family: openFamily(randomToken(), session) }
}

test('the session of a refresh is written, and stays pending until a response carries it', async () => {
  const { engine, family, session } = refreshed()
  const exchange = new Cookies().exchange()
  await persist(engine, exchange, { family, session })
  expect(family.pending).toBe(true)
  expect(exchange.cookies.pending().map(({ name }) => name)).toEqual(['__session'])
})

test('[I2] if a session ended while its token was redeemed, nothing is written or kept in the process', async () => {
  const { engine, family, session } = refreshed()
  closeFamily(family)
  const exchange = new Cookies().exchange()
  await persist(engine, exchange, { family, session })
  expect(family.pending).toBe(false)
  expect(exchange.cookies.pending()).toEqual([])
})
