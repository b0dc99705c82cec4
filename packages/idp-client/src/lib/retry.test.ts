import { expect, test } from 'vitest'
import { backoff, retry } from './retry.ts'

/** A clock that only a sleep moves. */
function time() {
  let at = 0
  const slept: number[] = []
  return {
    now: () => at,
    pause: async (milliseconds: number): Promise<void> => {
      slept.push(milliseconds)
      at += milliseconds
    },
    slept,
  }
}

test('tries until there is a result', async () => {
  const { pause, slept } = time()
  const results = [undefined, undefined, 'there', 'never used']
  expect(await retry(async () => results.shift(), [10, 20, 30, 40], pause)).toBe('there')
  expect([slept, results]).toEqual([[10, 20, 30], ['never used']])
})

test('any value but undefined is a result', async () => {
  const { pause } = time()
  expect(await retry<false | null>(async () => false, [0], pause)).toBe(false)
  expect(await retry<false | null>(async () => null, [0], pause)).toBe(null)
})

test('stops after the last delay, and immediately after an exception', async () => {
  const { pause, slept } = time()
  expect(await retry(async () => undefined, [1, 2], pause)).toBeUndefined()
  await expect(retry(() => Promise.reject(new Error('no')), [3, 4], pause)).rejects.toThrow('no')
  expect(slept).toEqual([1, 2, 3])
})

test('delays double up to the maximum, and end at the limit', async () => {
  const { now, pause, slept } = time()
  const delays = backoff({ first: 50, longest: 400, limit: 2000, now })
  expect(await retry(async () => undefined, delays, pause)).toBeUndefined()
  expect(slept).toEqual([50, 100, 200, 400, 400, 400, 400, 50])
})

test('the limit starts at the first retry, and includes the time of the attempts', async () => {
  const { now, pause, slept } = time()
  const delays = backoff({ first: 40, longest: 40, limit: 1000, now })
  await pause(5000)
  expect(await retry(async () => void (await pause(960)), delays, pause)).toBeUndefined()
  expect(slept).toEqual([5000, 40, 960])
})
