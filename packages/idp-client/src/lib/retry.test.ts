import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { pause } from './pause.ts'
import { retry } from './retry.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
})

afterEach(() => {
  vi.useRealTimers()
})

/** Returns an attempt that records how long the pause before each of its calls was. */
function recorded<T>(attempt: () => Promise<T | undefined>) {
  const slept: number[] = []
  let before = performance.now()
  const call = async (): Promise<T | undefined> => {
    slept.push(Math.round(performance.now() - before))
    const result = await attempt()
    before = performance.now()
    return result
  }
  return { call, slept }
}

async function settle<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {})
  await vi.runAllTimersAsync()
  return work
}

const minute = { first: 10, longest: 1000, limit: 60_000 }

test('tries until there is a result', async () => {
  const results = [undefined, undefined, 'there', 'never used']
  const { call, slept } = recorded(async () => results.shift())
  expect(await settle(retry(call, minute))).toBe('there')
  expect([slept, results]).toEqual([[10, 20, 40], ['never used']])
})

test('any value but undefined is a result', async () => {
  expect(await settle(retry<false | null>(async () => false, minute))).toBe(false)
  expect(await settle(retry<false | null>(async () => null, minute))).toBe(null)
})

test('stops after an exception', async () => {
  const { call, slept } = recorded(() => Promise.reject(new Error('no')))
  await expect(settle(retry(call, minute))).rejects.toThrow('no')
  expect(slept).toEqual([10])
})

test('delays double up to the maximum, and end at the limit', async () => {
  const { call, slept } = recorded(async () => undefined)
  expect(await settle(retry(call, { first: 50, longest: 400, limit: 2000 }))).toBeUndefined()
  expect(slept).toEqual([50, 100, 200, 400, 400, 400, 400, 50])
})

test('the limit includes the time of the attempts', async () => {
  const { call, slept } = recorded(async () => {
    await pause(960)
    return undefined
  })
  expect(await settle(retry(call, { first: 40, longest: 40, limit: 1000 }))).toBeUndefined()
  expect(slept).toEqual([40])
})
