import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { randomToken } from '../crypto/random.ts'
import { onlyOnce } from './single-use.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')
setFlagsFromString('--no-expose-gc')

function counter() {
  let runs = 0
  return { work: async () => ++runs, runs: () => runs }
}

test('an identical request shares the first run, also shortly after it ended', async () => {
  const { work, runs } = counter()
  const use = { key: randomToken(), request: 'r', patience: 60_000 }
  const both = await Promise.all([onlyOnce(use, work), onlyOnce(use, work)])
  expect(both).toEqual([1, 1].map((result) => ({ kind: 'result', result })))
  vi.advanceTimersByTime(9999)
  expect(await onlyOnce(use, work)).toEqual({ kind: 'result', result: 1 })
  expect(runs()).toBe(1)
})

test('any other or later use is a replay, and runs nothing', async () => {
  const { work, runs } = counter()
  const use = { key: randomToken(), request: 'r', patience: 60_000 }
  await onlyOnce(use, work)
  expect(await onlyOnce({ ...use, request: 'other' }, work)).toEqual({ kind: 'replayed' })
  vi.advanceTimersByTime(10_000)
  expect(await onlyOnce(use, work)).toEqual({ kind: 'replayed' })
  expect(runs()).toBe(1)
})

test('[K1] identical requests whose patience ends are replays, and run nothing, while the first runs and when it is lost', async () => {
  vi.useFakeTimers()
  const use = { key: randomToken(), request: 'r', patience: 60_000 }
  let [runs, end] = [0, (_result: string) => {}]
  const work = () => {
    runs++
    return new Promise<string>((resolve) => {
      end = resolve
    })
  }
  const outcomes: unknown[] = []
  const call = () => void onlyOnce(use, work).then((outcome) => outcomes.push(outcome))
  for (let caller = 0; caller < 3; caller++) call()
  await vi.advanceTimersByTimeAsync(60_000)
  expect(outcomes).toEqual([{ kind: 'replayed' }, { kind: 'replayed' }])
  await vi.advanceTimersByTimeAsync(60_000)
  call()
  await vi.advanceTimersByTimeAsync(0)
  expect([outcomes.length, runs]).toEqual([3, 1])
  end('session')
  await vi.advanceTimersByTimeAsync(0)
  call()
  await vi.advanceTimersByTimeAsync(0)
  const result = { kind: 'result', result: 'session' }
  expect([outcomes.slice(2), runs]).toEqual([[{ kind: 'replayed' }, result, result], 1])
})

test('different keys are independent', async () => {
  const users = Array.from({ length: 200 }, (_, index) => ({ key: randomToken(), index }))
  const results = await Promise.all(
    users.map(({ key, index }) => onlyOnce({ key, request: 'same', patience: 60_000 }, async () => index)),
  )
  expect(results).toEqual(users.map(({ index }) => ({ kind: 'result', result: index })))
})

test('a run that fails is used up as well, and both callers get the failure', async () => {
  const use = { key: randomToken(), request: 'r', patience: 60_000 }
  const fail = () => Promise.reject(new Error('lost response'))
  const both = await Promise.allSettled([onlyOnce(use, fail), onlyOnce(use, fail)])
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  await expect(onlyOnce(use, fail)).rejects.toThrow('lost response')
  vi.advanceTimersByTime(60_000)
  expect(await onlyOnce(use, fail)).toEqual({ kind: 'replayed' })
})

test('results, which contain tokens, are not reachable for long after they were shared for ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] })
  // A timer of an earlier test counts as lost.
  vi.advanceTimersByTime(86_400_000)
  const run = async () => {
    const result = { token: randomToken() }
    await onlyOnce({ key: randomToken(), request: 'r', patience: 60_000 }, async () => result)
    return new WeakRef(result)
  }
  const first = await run()
  vi.advanceTimersByTime(5000)
  const results = [first, await run()]
  const reachableAfter = async (milliseconds: number): Promise<boolean[]> => {
    vi.advanceTimersByTime(milliseconds)
    // Collections find more once callbacks of the one before have run.
    for (let round = 0; round < 5; round++) {
      await new Promise((resolve) => setImmediate(resolve))
      collectGarbage()
    }
    return results.map((result) => result.deref() !== undefined)
  }
  expect(await reachableAfter(4999)).toEqual([true, true])
  expect(await reachableAfter(1)).toEqual([false, true])
  expect(await reachableAfter(10_000)).toEqual([false, false])
})
