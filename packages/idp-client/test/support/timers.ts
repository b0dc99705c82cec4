import { vi } from 'vitest'

/**
 * Runs `work` to its end and lets every timer go off early: for waits of the library, such as retries and time limits.
 * `ready` is what has to happen before time may pass.
 */
export async function withoutWaiting<T>(
  work: () => Promise<T>,
  ready: Promise<void> = Promise.resolve(),
): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  try {
    const result = work()
    let isSettled = false
    const settled = result.then(
      () => (isSettled = true),
      () => (isSettled = true),
    )
    await Promise.race([ready, settled])
    while (!isSettled) await vi.advanceTimersByTimeAsync(500)
    return await result
  } finally {
    vi.useRealTimers()
  }
}
