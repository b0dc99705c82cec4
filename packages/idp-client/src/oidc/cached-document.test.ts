import { describe, expect, test } from 'vitest'
import { CachedDocument } from './cached-document.ts'

interface Bench {
  now: number
  loads: number
  fails: boolean
  /** The reported failures of loads. */
  readonly reported: unknown[]
  read(): Promise<number>
  renew(seen: number): Promise<number | null>
}

/** A value that counts its loads. */
function bench(): Bench {
  const aged = new CachedDocument<number>()
  const source = {
    clock: () => self.now,
    load: async () => {
      self.loads++
      await Promise.resolve()
      if (self.fails) throw new Error('down')
      return self.loads
    },
    report: (error: unknown) => void self.reported.push(error),
  }
  const self: Bench = {
    now: 1000,
    loads: 0,
    fails: false,
    reported: [],
    read: async () => aged.read(source),
    renew: (seen) => aged.renew(seen, source),
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

  test('a clock that was set back does not extend the cache', async () => {
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
  test('loads at the first call, then at most once per 60 s', async () => {
    const it = bench()
    const seen = await it.read()
    expect(await it.renew(seen)).toBe(2)
    expect(await it.renew(2)).toBeNull()
    it.now += 59
    expect(await it.renew(2)).toBeNull()
    it.now += 1
    expect(await it.renew(2)).toBe(3)
  })

  test('returns the current value without loading to a caller with an older one', async () => {
    const it = bench()
    const seen = await it.read()
    await it.renew(seen)
    expect(await it.renew(seen)).toBe(2)
    expect(it.loads).toBe(2)
  })

  test('shares a pending load', async () => {
    const it = bench()
    const seen = await it.read()
    expect(await Promise.all([it.renew(seen), it.renew(seen)])).toEqual([2, 2])
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
