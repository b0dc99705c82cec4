import type { Pause } from './pause.ts'

export interface Backoff {
  /** Milliseconds before the first retry; each later one waits twice as long, up to `longest`. */
  readonly first: number
  readonly longest: number
  /** Milliseconds from the first retry on after which nothing is tried any more. */
  readonly limit: number
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
}

/** Yields how long to wait before each retry, in milliseconds. The last wait ends with the limit. */
export function* backoff({ first, limit, longest, now }: Backoff): Generator<number, void> {
  const end = now() + limit
  for (let next = first; now() < end; next = Math.min(next * 2, longest)) yield Math.min(next, end - now())
}

/**
 * Waits and calls `attempt`, again and again, until it returns something. Returns undefined when `delays` (milliseconds)
 * are over. Rejects with what `attempt` throws.
 */
export async function retry<T>(
  attempt: () => Promise<T | undefined>,
  delays: Iterable<number>,
  pause: Pause,
): Promise<T | undefined> {
  for (const delay of delays) {
    await pause(delay)
    const result = await attempt()
    if (result !== undefined) return result
  }
  return undefined
}
