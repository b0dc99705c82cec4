import { vi } from 'vitest'

const STEP = 500
const realNow = performance.now.bind(performance)
let skipped = 0

// Skipped time stays skipped: this clock never goes back.
performance.now = () => realNow() + skipped

/** Sets the monotonic clock forward by that many milliseconds; runs no timers. */
export function skipTime(milliseconds: number): void {
  skipped += milliseconds
}

/**
 * Runs `work` to its end and lets every timer go off early, so that no test waits for retries and time limits of the
 * library. No time passes before `ready` is settled.
 */
export async function withoutWaiting<T>(
  work: () => Promise<T>,
  ready: Promise<void> = Promise.resolve(),
): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  try {
    const result = work()
    let isSettled = false
    const settle = (): void => {
      isSettled = true
    }
    const settled = result.then(settle, settle)
    await Promise.race([ready, settled])
    while (!isSettled) {
      skipped += STEP
      await vi.advanceTimersByTimeAsync(STEP)
    }
    return await result
  } finally {
    vi.useRealTimers()
  }
}
