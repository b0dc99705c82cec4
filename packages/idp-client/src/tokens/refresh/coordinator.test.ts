import { afterEach, expect, test, vi } from 'vitest'
import { Cookies, engineFor } from '../../../test/support/engine.ts'
import type { Setting } from '../../../test/support/redemptions.ts'
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
import { OAuthError } from '../../errors/provider.ts'
import { pause } from '../../lib/pause.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import type { Purpose } from './coordinator.ts'
import { redeemOnce } from './coordinator.ts'
import { endInProcess } from './ended.ts'
import type { TokenFamily } from './families.ts'
import { closeFamily, findFamily, isPending, makeRoomForPending, tokenKey } from './families.ts'
import type { RedemptionResult } from './state.ts'

afterEach(() => vi.useRealTimers())

test('the lock of a storage is held while the token is redeemed, once for all callers', async () => {
  const order: string[] = []
  const one = session()
  const parts = partsFor({
    store: {
      async lock() {
        order.push('locked')
        return { until: Number.POSITIVE_INFINITY, release: async () => void order.push('unlocked') }
      },
      read: async () => one,
      async persist(_found, changed) {
        order.push('written')
        return { session: changed, isWritten: true }
      },
    },
  })
  const given = purpose(one, {
    redeem: async (latest, token) => {
      order.push(`redeemed ${token === one.refreshToken}`)
      return renewed(latest, 'next')
    },
  })
  const results = await Promise.all([ask(given, parts), ask(given, parts), ask(given, parts)])
  expect(order).toEqual(['locked', 'redeemed true', 'written', 'unlocked'])
  expect(results.map(({ session: { data } }) => data.tokenSet.refreshToken)).toEqual(['next', 'next', 'next'])
})

test('the same refresh token with another session key, client or DPoP key shares nothing', async () => {
  const token = randomToken()
  const [alice, bob] = [session(token), session(token)]
  const subjects: string[] = []
  const keyOf = async (of: ReturnType<typeof session>, clientTag: string): Promise<string> => {
    const given = purpose(of, {
      redeem: async (latest) => {
        subjects.push(latest.sessionKey)
        return renewed(latest, randomToken())
      },
    })
    return (await ask(given, partsFor({ clientTag }))).session.sessionKey
  }
  expect(await keyOf(alice, 'client')).toBe(alice.sessionKey)
  expect(await keyOf(bob, 'client')).toBe(bob.sessionKey)
  expect(await keyOf(alice, 'other')).toBe(alice.sessionKey)
  expect(subjects).toEqual([alice.sessionKey, bob.sessionKey, alice.sessionKey])
})

test('a redemption that fails is not cached: the next one tries again', async () => {
  let tries = 0
  const failing = purpose(session(), {
    redeem: async (latest) => {
      if (++tries === 1) throw new Error('reset')
      return renewed(latest, 'next')
    },
  })
  await expect(ask(failing)).rejects.toThrow('reset')
  expect((await ask(failing)).session.data.tokenSet.accessToken).toBe('new')
})

test('redemptions that change nothing leave nothing in the process', async () => {
  const redeem: Purpose['redeem'] = async (latest) => ({ session: latest })
  for (let time = 0; time <= 1000; time++) await ask(purpose(session(), { redeem }))
  expect(makeRoomForPending(inCookies.config.clock())).toBe(true)
})

test('a token that does not rotate: a session from a shared store is not replaced by an older family', async () => {
  const one = session()
  const parts = partsFor({ store: {} })
  const keepsToken = async (latest: StoredSession): Promise<RedemptionResult> =>
    renewed(latest, one.refreshToken)
  await ask(purpose(one, { redeem: keepsToken }), parts)
  // Another process refreshed it again, and the user changed something.
  const theirs = renewed(
    { ...one, usedAt: 30, data: { ...one.data, theme: 'dark' } },
    one.refreshToken,
  ).session
  const tokenSet = { ...theirs.data.tokenSet, accessToken: 'newer' }
  const read = { ...one, ...theirs, data: { ...theirs.data, tokenSet } }
  const started: StoredSession[] = []
  const forced = purpose(read, {
    isSatisfiedBy: ({ data }) => data.tokenSet.accessToken !== 'newer',
    redeem: async (latest) => {
      started.push(latest)
      return keepsToken(latest)
    },
  })
  const { session: after } = await ask(forced, parts)
  expect(started).toEqual([read])
  expect(after.data).toMatchObject({ theme: 'dark', tokenSet: { accessToken: 'new' } })
})

test('a request that still has a token of another process gets the session that this one has redeemed it for', async () => {
  const one = session()
  const theirs = randomToken()
  // Expired already when this process reads it.
  const tokenSet = { ...one.data.tokenSet, refreshToken: theirs }
  const read = async (): Promise<StoredSession> => ({ ...one, data: { ...one.data, tokenSet } })
  const lock = async () => ({ until: Number.POSITIVE_INFINITY, release: async () => {} })
  const parts = partsFor({ store: { lock, read } })
  await ask(purpose(one, { redeem: async (latest) => renewed(latest, randomToken()) }), parts)
  const families = [one.refreshToken, theirs].map((refreshToken) => familyOf({ ...one, refreshToken }, parts))
  const [family, other] = await Promise.all(families)
  expect(family).toBeDefined()
  expect(other).toBe(family)
})

test('a session whose refresh token another process has removed sends nothing', async () => {
  const one = session()
  const { refreshToken: _rejected, ...tokenSet } = one.data.tokenSet
  const read = async (): Promise<StoredSession> => ({ ...one, data: { ...one.data, tokenSet } })
  const lock = async () => ({ until: Number.POSITIVE_INFINITY, release: async () => {} })
  const redeem = () => Promise.reject(new Error('a request'))
  const { session: after } = await ask(purpose(one, { redeem }), partsFor({ store: { lock, read } }))
  expect(after.data.tokenSet).toEqual(tokenSet)
})

test('[B11] a late response is awaited until the lock of the store has to be released', async () => {
  const granted: number[] = []
  for (const milliseconds of [600, 0, 60_000]) {
    const one = session()
    // The end of a lock is for the write.
    const until = performance.now() + milliseconds + 3000
    const lock = async () => ({ until, release: async () => {} })
    const redeem: Purpose['redeem'] = async (latest, _token, { onOverdue, onRequest }) => {
      onRequest()
      granted.push(onOverdue(new Error('late')))
      return renewed(latest, 'next')
    }
    await ask(purpose(one, { redeem }), partsFor({ store: { lock, read: async () => one } })).catch(() => {})
  }
  const [short = 0, none, long] = granted
  expect(short).toBeGreaterThan(0)
  expect(short).toBeLessThanOrEqual(600)
  expect(none).toBeLessThanOrEqual(0)
  expect(long).toBe(3000)
})

const late = new Error('late')

/** A redemption whose response is late from the beginning, and other requests of its session. */
async function lateResponse(changes: Partial<Purpose> = {}, setting: Setting = {}) {
  const parts = partsFor({ httpTimeout: 5000, ...setting })
  const one = session()
  const { open, opened } = gate()
  const granted: number[] = []
  const of = (key: string, more: Partial<Purpose> = {}): Purpose =>
    purpose(one, { key, isSatisfiedBy: () => false, ...more })
  const redemption = ask(
    of('a', {
      redeem: async (latest, _token, { onOverdue, onRequest }) => {
        onRequest()
        granted.push(onOverdue(late))
        await opened
        return renewed(latest, 'rotated')
      },
      ...changes,
    }),
    parts,
  )
  redemption.catch(() => {})
  await expect.poll(() => familyOf(one, parts)).toBeDefined()
  const family = (await familyOf(one, parts)) ?? expect.fail('there is a family')
  const asking = async (...given: Parameters<typeof of>): Promise<RedemptionResult> =>
    ask(of(...given), parts)
  return { asking, family, granted, one, open, parts, redemption, ended: family.turns[0]?.ended }
}

test.each([
  ['is kept', false, true],
  ['is not kept when the session has ended meanwhile', true, false],
])('[B11,I2] a late response %s', async (_title, isEnded, expected) => {
  const { ended, family, open, redemption } = await lateResponse()
  await expect(redemption).rejects.toThrow('late')
  if (isEnded) closeFamily(family)
  open()
  await ended
  expect(isPending(family)).toBe(expected)
  closeFamily(family)
})

test('tasks of the same purpose run once; the next one starts after the previous one has ended', async () => {
  const one = session()
  const order: string[] = []
  const gates = { a: gate(), b: gate() }
  const asking = (key: 'a' | 'b'): ReturnType<typeof redeemOnce> =>
    ask(
      purpose(one, {
        key,
        isSatisfiedBy: () => false,
        redeem: async (latest, token) => {
          order.push(`${key} ${token === one.refreshToken ? 'first' : token}`)
          await gates[key].opened
          return renewed(latest, `of ${key}`)
        },
      }),
    )
  const [first, second, third] = [asking('a'), asking('a'), asking('b')]
  await pause(0)
  expect(order).toEqual(['a first'])
  gates.a.open()
  expect(await first).toEqual(await second)
  gates.b.open()
  expect((await third).session.data.tokenSet.refreshToken).toBe('of b')
  expect(order).toEqual(['a first', 'b of a'])
  expect((await familyOf(one))?.turns).toEqual([])
})

test('[B11] callers in time get an error that the response is late, later ones get its result', async () => {
  const { asking, family, granted, open, redemption } = await lateResponse()
  await expect(redemption).rejects.toBe(late)
  expect(granted).toEqual([15_000])
  const joining = asking('a', { redeem: () => Promise.reject(new Error('a second redemption')) })
  const other = asking('b')
  await pause(0)
  open()
  expect((await joining).session.data.tokenSet.refreshToken).toBe('rotated')
  expect((await other).session.data.tokenSet.refreshToken).toBe('rotated+')
  expect(family.turns).toEqual([])
})

test('[B11] a later caller waits until its own deadline, and then its task does not run', async () => {
  const { asking, one, open, parts, redemption } = await lateResponse()
  await redemption.catch(() => {})
  let redeemed = 0
  const redeem: Purpose['redeem'] = async (current) => renewed(current, `${++redeemed}`)
  const impatient = { ...parts, config: { ...parts.config, httpTimeout: 1 } }
  for (const key of ['a', 'b']) {
    const given = purpose(one, { key, redeem, isSatisfiedBy: () => false })
    await expect(ask(given, impatient)).rejects.toMatchObject({ code: 'REQUEST_TIMEOUT' })
  }
  open()
  expect((await asking('b', { redeem })).session.data.tokenSet.refreshToken).toBe('1')
})

/** Lets work continue that waits for one turn of the event loop. */
async function soon<T>(work: Promise<T>): Promise<T> {
  await vi.advanceTimersByTimeAsync(0)
  return work
}

/** A redemption whose request ended: it never settles. `httpTimeout` is 1000 ms, so that it counts as lost after 2000 ms. */
async function lostRedemption(sent: string[]) {
  vi.useFakeTimers()
  const one = session()
  const lose: Purpose['redeem'] = (_latest, token, { onRequest }) => {
    onRequest()
    sent.push(token)
    return new Promise(() => {})
  }
  const redeemAtOnce: Purpose['redeem'] = async (latest, token, { onRequest }) => {
    onRequest()
    sent.push(token)
    return renewed(latest, 'next')
  }
  const asking = (changes: Partial<Purpose> = {}, parts = inCookies): Promise<string> =>
    ask(purpose(one, { redeem: redeemAtOnce, ...changes }), parts).then(
      ({ session: { data } }) => `${data.tokenSet.refreshToken}`,
      ({ code }) => code,
    )
  void asking({ redeem: lose })
  await vi.advanceTimersByTimeAsync(0)
  return { asking, lose, one }
}

test('[K1] before the deadline of a redemption, a caller whose patience ends sends nothing', async () => {
  const sent: string[] = []
  const { asking } = await lostRedemption(sent)
  const joining = [asking(), asking({ key: 'other' })]
  await vi.advanceTimersByTimeAsync(1000)
  expect(await Promise.all(joining)).toEqual(['REQUEST_TIMEOUT', 'REQUEST_TIMEOUT'])
  expect(sent).toHaveLength(1)
})

test('[K1] after the deadline one caller redeems, the others wait for it', async () => {
  const sent: string[] = []
  const { asking, one } = await lostRedemption(sent)
  await vi.advanceTimersByTimeAsync(1500)
  const joining = [asking(), asking(), asking(), asking({ key: 'other' })]
  await vi.advanceTimersByTimeAsync(500)
  expect(await Promise.all(joining)).toEqual(['next', 'next', 'next', 'next'])
  expect(sent).toEqual([one.refreshToken, one.refreshToken])
})

test('[K1] a redemption whose promises the platform rejects is taken over at once', async () => {
  const sent: string[] = []
  const { asking, one } = await lostRedemption(sent)
  const joining = [asking(), asking()]
  await vi.advanceTimersByTimeAsync(0)
  // Workers reject the promises of a request that has ended.
  const [turn] = (await familyOf(one))?.turns ?? []
  turn?.wake()
  expect(await Promise.all(joining)).toEqual(['next', 'next'])
  expect(sent).toHaveLength(2)
})

test('[K1] a redemption that is taken over reads the session from the store again', async () => {
  const sent: string[] = []
  const { asking, one } = await lostRedemption(sent)
  let reads = 0
  const read = async () => {
    reads++
    return one
  }
  const parts = partsFor({ store: { read } })
  await vi.advanceTimersByTimeAsync(2000)
  expect(await soon(asking({}, parts))).toBe('next')
  expect(reads).toBe(1)
  expect(await soon(asking({ key: 'other', isSatisfiedBy: () => false }, parts))).toBe('next')
  expect(reads).toBe(1)
})

test('[K1] a token whose responses were lost twice is not sent again', async () => {
  const sent: string[] = []
  const { asking, lose } = await lostRedemption(sent)
  await vi.advanceTimersByTimeAsync(2000)
  void asking({ redeem: lose })
  await vi.advanceTimersByTimeAsync(2000)
  for (const key of ['api', 'other', 'api']) expect(await soon(asking({ key }))).toBe('REQUEST_TIMEOUT')
  expect(sent).toHaveLength(2)
})

test('[K1] a redemption whose response has arrived is not taken over while hooks run', async () => {
  vi.useFakeTimers()
  const { open, opened } = gate()
  let redeemed = 0
  const slow = purpose(session(), {
    redeem: async (latest, _token, { onRequest, onResponse }) => {
      redeemed++
      onRequest()
      onResponse()
      await opened
      return renewed(latest, 'next')
    },
  })
  const redemption = ask(slow)
  await vi.advanceTimersByTimeAsync(3000)
  const joining = ask(slow)
  await vi.advanceTimersByTimeAsync(500)
  open()
  expect(await joining).toEqual(await redemption)
  expect(redeemed).toBe(1)
})

test('[B11] the failure of a late response is reported, and the next caller tries again', async () => {
  const reported: unknown[] = []
  const { asking, ended, redemption } = await lateResponse(
    {
      redeem: async (_latest, _token, { onOverdue, onRequest }) => {
        onRequest()
        onOverdue(late)
        await pause(0)
        throw Object.assign(new OAuthError('REQUEST_FAILED'), { endpoint: 'token' })
      },
    },
    { logger: (event) => void reported.push(event) },
  )
  await expect(redemption).rejects.toBe(late)
  await ended
  expect(reported).toHaveLength(1)
  expect((await asking('a')).session.data.tokenSet.accessToken).toBe('new')
})

test('[B11] a late response is awaited once, and at most a thousand are pending', async () => {
  const many = await Promise.all(Array.from({ length: 1001 }, () => lateResponse()))
  await pause(0)
  expect(many.filter(({ granted }) => granted[0] === 0)).toHaveLength(1)
  for (const { open } of many) open()
  await Promise.all(many.map(({ ended }) => ended))
  for (const { family } of many) closeFamily(family)
  const twice: number[] = []
  const next = await lateResponse({
    redeem: async (latest, _token, { onOverdue, onRequest }) => {
      onRequest()
      twice.push(onOverdue(late), onOverdue(late))
      return renewed(latest, 'rotated')
    },
  })
  await next.redemption.catch(() => {})
  expect(twice).toEqual([15_000, 0])
})

test('[I2] if a session ended while its token was redeemed, nothing is written or kept in the process', async () => {
  const { engine } = engineFor()
  const one = session()
  const exchange = new Cookies().exchange()
  const found: TokenFamily[] = []
  const ends = purpose(one, {
    async redeem(latest) {
      const family = findFamily(await tokenKey(engine, one.refreshToken), one, 0) ?? expect.fail('no family')
      closeFamily(family)
      found.push(family)
      return renewed(latest, 'next')
    },
  })
  await expect(redeemOnce(engine, exchange, ends)).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  expect(found.map(isPending)).toEqual([false])
  expect(exchange.cookies.pending()).toEqual([])
})

test('[K1] a redemption that takes over one which had sent nothing stays the only one of its family', async () => {
  vi.useFakeTimers()
  const one = session()
  const { open, opened } = gate()
  const tokens: string[] = []
  const asking = (key: string, redeem: Purpose['redeem']): ReturnType<typeof ask> =>
    ask(purpose(one, { key, redeem, isSatisfiedBy: () => false }))
  const slow: Purpose['redeem'] = async (latest, token, { onRequest }) => {
    onRequest()
    tokens.push(token)
    await opened
    return renewed(latest, `${token}+`)
  }
  asking('a', () => new Promise(() => {})).catch(() => {})
  await vi.advanceTimersByTimeAsync(1500)
  const second = asking('a', slow)
  await vi.advanceTimersByTimeAsync(500)
  const third = asking('b', slow)
  await vi.advanceTimersByTimeAsync(1)
  expect(tokens).toEqual([one.refreshToken])
  open()
  await Promise.all([second, third])
  expect(tokens).toEqual([one.refreshToken, `${one.refreshToken}+`])
})

test('[I2] a call that waits while its session ends sends nothing', async () => {
  const one = session()
  const sent: string[] = []
  const redeeming = (key: string): Purpose =>
    purpose(one, {
      key,
      async redeem(latest, token, { onRequest }) {
        onRequest()
        sent.push(token)
        await endInProcess(one, familyOf(one))
        return renewed(latest, 'next')
      },
    })
  const ended = [ask(redeeming('a')), ask(redeeming('b'))].map((asking) =>
    expect(asking).rejects.toMatchObject({ code: 'MISSING_SESSION' }),
  )
  await Promise.all(ended)
  expect(sent).toHaveLength(1)
})

test('[I2] a call whose session has ended leaves another one with the same refresh token its successor', async () => {
  const token = randomToken()
  const [ended, other] = [session(token), session(token)]
  await ask(purpose(other))
  const family = await familyOf(other)
  await endInProcess(ended)
  await expect(ask(purpose(ended))).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  expect(await familyOf(other)).toBe(family)
})

test('[I2] a session that ends just before its request to the provider sends nothing', async () => {
  const one = session()
  let isSent = false
  const asking = ask(
    purpose(one, {
      async redeem(latest, token, { onRequest }) {
        // While the metadata are loaded, for example.
        await endInProcess(one, familyOf(one))
        onRequest()
        isSent = true
        return renewed(latest, `${token}+`)
      },
    }),
  )
  await expect(asking).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  expect(isSent).toBe(false)
})

test('[B11] late responses of requests that the platform has ended do not count for ever', async () => {
  vi.useFakeTimers()
  const never = (): Promise<RedemptionResult> => new Promise(() => {})
  const lateForEver: Purpose['redeem'] = (_latest, _token, { onOverdue, onRequest }) => {
    onRequest()
    onOverdue(late)
    return never()
  }
  const ended = Array.from({ length: 1000 }, () => ask(purpose(session(), { redeem: lateForEver })))
  expect((await Promise.allSettled(ended)).every(({ status }) => status === 'rejected')).toBe(true)
  const granted: number[] = []
  const next = (): Promise<unknown> =>
    ask(
      purpose(session(), {
        redeem: async (latest, _token, { onOverdue, onRequest }) => {
          onRequest()
          granted.push(onOverdue(late))
          return renewed(latest, 'next')
        },
      }),
    ).catch(() => {})
  await next()
  await vi.advanceTimersByTimeAsync(5000)
  await next()
  expect(granted).toEqual([0, 3000])
})
