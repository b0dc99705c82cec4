import { afterEach, expect, test, vi } from 'vitest'
import { SingleFlight } from './shared-run.ts'

afterEach(() => void vi.useRealTimers())

const patience = 60_000

function gate<T>() {
  let open: (value: T) => void = () => {}
  let fail: (error: unknown) => void = () => {}
  const promise = new Promise<T>((...settle) => {
    ;[open, fail] = settle
  })
  return { promise, open, fail }
}

/** A task of a request that ended: it never settles. */
const lost = (): Promise<never> => new Promise(() => {})

/** Runs that count. `patience` is 5000 ms, so that a run counts as lost after 6000 ms. */
function counting() {
  vi.useFakeTimers()
  const flights = new SingleFlight<string>()
  let runs = 0
  const call = (task: () => Promise<string> = async () => `run ${runs}`) =>
    flights.run(
      'a',
      () => {
        runs++
        return task()
      },
      5000,
    )
  const settled = (call: Promise<string>) => {
    const outcomes: string[] = []
    call.then(
      (value) => outcomes.push(value),
      (error) => outcomes.push(error.message),
    )
    return outcomes
  }
  return { flights, call, settled, runs: () => runs }
}

test('runs a task once for concurrent callers, and again for later ones', async () => {
  const flights = new SingleFlight<number>()
  const { open, promise } = gate<number>()
  let runs = 0
  const task = (): Promise<number> => {
    runs++
    return promise
  }
  const together = ['a', 'a', 'b'].map((key) => flights.run(key, task, patience))
  expect(runs).toBe(2)
  open(7)
  expect(await Promise.all(together)).toEqual([7, 7, 7])
  expect([flights.get('a'), flights.get('b')]).toEqual([undefined, undefined])
  await flights.run('a', task, patience)
  expect(runs).toBe(3)
})

test('shares an error and does not cache it', async () => {
  const flights = new SingleFlight<string>()
  const failing = async (): Promise<string> => {
    throw new Error('down')
  }
  const outcomes = await Promise.allSettled([1, 2].map(() => flights.run('a', failing, patience)))
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(await flights.run('a', async () => 'up', patience)).toBe('up')
})

test('a run that fails without callers causes no unhandled rejection', async () => {
  const flights = new SingleFlight<string>()
  const { fail, promise } = gate<string>()
  flights.run('a', () => promise, patience).catch(() => {})
  const unhandled: unknown[] = []
  const record = (reason: unknown): void => void unhandled.push(reason)
  process.on('unhandledRejection', record)
  fail(new Error('never came'))
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', record)
  expect([unhandled, flights.get('a')]).toEqual([[], undefined])
})

test('[K1] a caller whose patience is over runs the task itself, and the others join that run', async () => {
  const { call, flights, runs, settled } = counting()
  void call(lost)
  const { open, promise } = gate<string>()
  const joined = [1, 2, 3].map(() => settled(call(() => promise)))
  await vi.advanceTimersByTimeAsync(4999)
  expect([runs(), joined]).toEqual([1, [[], [], []]])
  await vi.advanceTimersByTimeAsync(1)
  expect(runs()).toBe(2)
  open('loaded')
  await vi.advanceTimersByTimeAsync(0)
  expect(joined).toEqual([['loaded'], ['loaded'], ['loaded']])
  expect(flights.get('a')).toBeUndefined()
})

test('[K1] the late end of a run that was taken over does not end the next one', async () => {
  const { call, flights, settled } = counting()
  const [first, second] = [gate<string>(), gate<string>()]
  const before = settled(call(() => first.promise))
  await vi.advanceTimersByTimeAsync(6000)
  const after = settled(call(() => second.promise))
  await vi.advanceTimersByTimeAsync(0)
  const next = flights.get('a')
  first.open('one')
  await vi.advanceTimersByTimeAsync(0)
  expect([before, flights.get('a') === next]).toEqual([['one'], true])
  second.open('two')
  await vi.advanceTimersByTimeAsync(0)
  expect(after).toEqual(['two'])
})

const PLATFORMS = ['@next/request-context', '@vercel/request-context']

test.each(PLATFORMS)('[Q4] a run is handed to the request that began it by %s', async (key) => {
  const kept: Promise<unknown>[] = []
  // A framework may know the request without a way to keep it.
  for (const name of PLATFORMS) Reflect.set(globalThis, Symbol.for(name), { get: () => ({}) })
  Reflect.set(globalThis, Symbol.for(key), {
    get: () => ({ waitUntil: (work: Promise<unknown>) => kept.push(work) }),
  })
  try {
    const flights = new SingleFlight<string>()
    const outcomes = [0, 1].map(() => flights.run('a', () => Promise.reject(new Error('down')), patience))
    expect(kept).toHaveLength(1)
    expect(await Promise.allSettled(outcomes)).toHaveLength(2)
    // Platforms report what is rejected.
    expect(await kept[0]).toBeUndefined()
  } finally {
    for (const name of PLATFORMS) Reflect.deleteProperty(globalThis, Symbol.for(name))
  }
})

test('a run that is lost does not count', async () => {
  vi.useFakeTimers()
  const flights = new SingleFlight<string>()
  void flights.run('a', () => new Promise(() => {}), patience)
  void flights.run('b', () => new Promise(() => {}), 2 * patience)
  expect(flights.size).toBe(2)
  await vi.advanceTimersByTimeAsync(patience + 1000)
  expect([flights.size, flights.get('a')]).toEqual([1, undefined])
})
