import { describe, expect, test } from 'vitest'
import type { Renewal, TokenSender } from './provider.ts'
import { CachedDocument } from './provider.ts'

interface Bench {
  now: number
  loads: number
  fails: boolean
  /** Seconds that a load takes. */
  takes: number
  /** The reported failures of loads. */
  readonly reported: unknown[]
  read(): Promise<number>
  renew(seen: number, sender?: TokenSender): Promise<Renewal<number>>
}

/** A value that counts its loads. */
function bench(): Bench {
  const aged = new CachedDocument<number>()
  const source = {
    clock: () => self.now,
    patience: 1000,
    load: async () => {
      self.loads++
      await Promise.resolve()
      self.now += self.takes
      if (self.fails) throw new Error('down')
      return self.loads
    },
    report: (error: unknown) => void self.reported.push(error),
  }
  const self: Bench = {
    now: 1000,
    loads: 0,
    fails: false,
    takes: 0,
    reported: [],
    read: async () => aged.read(source),
    renew: (seen, sender = 'provider') => aged.renew(seen, source, sender),
  }
  return self
}

describe('read', () => {
  test('callers at the same time share one request, and the value is cached for 600 s', async () => {
    const it = bench()
    expect(await Promise.all([it.read(), it.read(), it.read()])).toEqual([1, 1, 1])
    it.now += 599
    expect(await it.read()).toBe(1)
    it.now += 1
    expect(await Promise.all([it.read(), it.read()])).toEqual([2, 2])
  })

  test('a failure without a cached value rejects every caller and is not cached', async () => {
    const it = bench()
    it.fails = true
    const outcomes = await Promise.allSettled([it.read(), it.read()])
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    it.fails = false
    expect(await it.read()).toBe(2)
  })

  test('a failure with a cached value returns it, and the next attempt is made after 30 s', async () => {
    const it = bench()
    await it.read()
    it.fails = true
    it.now += 600
    expect(await it.read()).toBe(1)
    it.now += 29
    expect(await it.read()).toBe(1)
    expect(it.loads).toBe(2)
    it.now += 1
    expect(await it.read()).toBe(1)
    expect(it.loads).toBe(3)
    expect(it.reported).toEqual([new Error('down'), new Error('down')])
    it.fails = false
    it.now += 30
    expect(await it.read()).toBe(4)
  })

  test('the pause before the next attempt begins when a slow one has failed', async () => {
    const it = bench()
    await it.read()
    it.fails = true
    it.takes = 60
    it.now += 600
    expect(await it.read()).toBe(1)
    expect(await it.read()).toBe(1)
    expect(it.loads).toBe(2)
  })

  test('[Q4] a clock that was set back does not extend the cache', async () => {
    const it = bench()
    await it.read()
    it.now -= 3600
    expect(await it.read()).toBe(2)
  })

  test('a loader that throws synchronously leaves no pending request', async () => {
    const aged = new CachedDocument<number>()
    let broken = true
    const source = {
      clock: () => 1,
      patience: 1000,
      load: () => {
        if (broken) throw new Error('at once')
        return Promise.resolve(7)
      },
      report: () => {},
    }
    await expect(aged.read(source)).rejects.toThrow('at once')
    broken = false
    expect(await aged.read(source)).toBe(7)
  })
})

describe('renew', () => {
  test('loads at once, then at most every 5 s for tokens of the provider', async () => {
    const it = bench()
    const seen = await it.read()
    it.now += 2
    expect(await it.renew(seen)).toEqual({ newer: 2, age: 0, pause: 5 })
    it.now += 4
    expect(await it.renew(2)).toEqual({ newer: null, age: 4, pause: 1 })
    it.now += 1
    expect(await it.renew(2)).toEqual({ newer: 3, age: 0, pause: 5 })
  })

  test('loads at once, then at most every 60 s for tokens that anyone can send', async () => {
    const it = bench()
    const seen = await it.read()
    expect((await it.renew(seen, 'anyone')).newer).toBe(2)
    it.now += 59
    expect(await it.renew(2, 'anyone')).toEqual({ newer: null, age: 59, pause: 1 })
    it.now += 1
    expect((await it.renew(2, 'anyone')).newer).toBe(3)
  })

  test('[K2] each sender has its own pause, and the result of a load is for all', async () => {
    const it = bench()
    const seen = await it.read()
    await it.renew(seen, 'anyone')
    expect((await it.renew(2, 'provider')).newer).toBe(3)
    expect((await it.renew(2, 'anyone')).newer).toBe(3)
    expect(it.loads).toBe(3)
  })

  test('[K2] after a failed load the pause is 5 s for both senders', async () => {
    for (const sender of ['provider', 'anyone'] as const) {
      const it = bench()
      const seen = await it.read()
      it.fails = true
      await expect(it.renew(seen, sender)).rejects.toThrow('down')
      it.fails = false
      it.now += 4
      expect(await it.renew(seen, sender)).toEqual({ newer: null, age: 4, pause: 1 })
      it.now += 1
      expect((await it.renew(seen, sender)).newer).toBe(3)
    }
  })

  test('[Q4] a clock that was set back does not extend the pause', async () => {
    const it = bench()
    const seen = await it.read()
    await it.renew(seen, 'anyone')
    it.now -= 20
    expect(await it.renew(2, 'anyone')).toEqual({ newer: null, age: 20, pause: 40 })
    it.now -= 40
    expect((await it.renew(2, 'anyone')).newer).toBe(3)
  })

  test('returns the current value without loading to a caller with an older one', async () => {
    const it = bench()
    const seen = await it.read()
    await it.renew(seen)
    expect((await it.renew(seen)).newer).toBe(2)
    expect(it.loads).toBe(2)
  })

  test('shares a pending load', async () => {
    const it = bench()
    const seen = await it.read()
    const renewals = await Promise.all([it.renew(seen), it.renew(seen, 'anyone')])
    expect(renewals.map(({ newer }) => newer)).toEqual([2, 2])
    expect(it.loads).toBe(2)
  })

  test('throws a failure, and keeps the cached value', async () => {
    const it = bench()
    const seen = await it.read()
    it.fails = true
    await expect(it.renew(seen)).rejects.toThrow('down')
    expect(await it.read()).toBe(1)
  })
})
