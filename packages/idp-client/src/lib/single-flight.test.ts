import { afterEach, expect, test, vi } from 'vitest'
import type { Flight } from './single-flight.ts'
import { SingleFlight } from './single-flight.ts'

afterEach(() => vi.useRealTimers())

function gate<T>() {
  let open: (value: T) => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const promise = new Promise<T>((...settle) => {
    ;[open, fail] = settle
  })
  return { promise, open, fail }
}

test('runs a task once for concurrent callers, and again for later ones', async () => {
  const flights = new SingleFlight<number>()
  const { open, promise } = gate<number>()
  let runs = 0
  const task = (): Promise<number> => {
    runs++
    return promise
  }
  const together = [flights.run('a', task), flights.run('a', task), flights.run('b', task)]
  expect(runs).toBe(2)
  open(7)
  expect(await Promise.all(together)).toEqual([7, 7, 7])
  expect([flights.join('a'), flights.join('b')]).toEqual([undefined, undefined])
  await flights.run('a', task)
  expect(runs).toBe(3)
})

test('shares an error and does not cache it', async () => {
  const flights = new SingleFlight<string>()
  const failing = async (): Promise<string> => {
    throw new Error('down')
  }
  const outcomes = await Promise.allSettled([flights.run('a', failing), flights.run('a', failing)])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await flights.run('a', async () => 'up')).toBe('up')
})

test('dismissing a run rejects its waiting callers, and later callers get its result', async () => {
  const flights = new SingleFlight<string>()
  const { open, promise } = gate<string>()
  const flown: Flight[] = []
  const early = flights.run('a', (flight) => {
    flown.push(flight)
    return promise
  })
  const alsoEarly = flights.run('a', () => Promise.reject(new Error('a second run')))
  expect(flights.isDismissed('a')).toBe(false)
  const error = new Error('late')
  expect(flown.map(({ dismiss }) => [dismiss(error), dismiss(new Error('again'))])).toEqual([[true, false]])
  await expect(early).rejects.toBe(error)
  await expect(alsoEarly).rejects.toBe(error)
  expect(flights.isDismissed('a')).toBe(true)
  const later = flights.join('a')
  expect(later).toBeDefined()
  open('tokens')
  expect(await later).toBe('tokens')
  expect([flights.join('a'), flights.isDismissed('a')]).toEqual([undefined, false])
})

test('a run that fails without callers causes no unhandled rejection', async () => {
  const flights = new SingleFlight<string>()
  const { fail, promise } = gate<string>()
  void flights.run('a', ({ dismiss }) => {
    dismiss(new Error('late'))
    return promise
  })
  const unhandled: unknown[] = []
  const record = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', record)
  fail(new Error('never came'))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', record)
  expect([unhandled, flights.join('a')]).toEqual([[], undefined])
})

test('a run that does not end is shared for a limited time, and its end does not end the next one', async () => {
  vi.useFakeTimers()
  const flights = new SingleFlight<string>()
  const [first, second] = [gate<string>(), gate<string>()]
  const before = flights.run('a', () => first.promise, 700)
  await vi.advanceTimersByTimeAsync(699)
  expect(flights.join('a')).toBe(before)
  await vi.advanceTimersByTimeAsync(1)
  const after = flights.run('a', () => second.promise, 700)
  expect(after).not.toBe(before)
  first.open('one')
  expect(await before).toBe('one')
  expect(flights.join('a')).toBe(after)
  second.open('two')
  expect(await after).toBe('two')
})

test('reports the end of the last run before its callers continue', async () => {
  const events: string[] = []
  const flights = new SingleFlight<string>(() => events.push('idle'))
  const [first, second] = [gate<string>(), gate<string>()]
  const both = [first, second].map(({ promise }, index) =>
    flights.run(`${index}`, () => promise).then((name) => events.push(name)),
  )
  first.open('first')
  await both[0]
  second.open('second')
  await both[1]
  expect(events).toEqual(['first', 'idle', 'second'])
})
