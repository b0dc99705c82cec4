import { monotonic } from './clock.ts'
import { pause } from './pause.ts'

export interface Backoff {
  /** Milliseconds before the first retry; each later one waits twice as long, up to `longest`. */
  readonly first: number
  readonly longest: number
  /** Milliseconds after which nothing is tried any more. The last wait ends with them. */
  readonly limit: number
}

/**
 * Waits and calls `attempt`, again and again, until it returns something. Returns undefined when the time is over. Rejects
 * with what `attempt` throws.
 */
export async function retry<T>(
  attempt: () => Promise<T | undefined>,
  { first, limit, longest }: Backoff,
): Promise<T | undefined> {
  const end = monotonic() + limit
  for (let next = first; monotonic() < end; next = Math.min(next * 2, longest)) {
    await pause(Math.min(next, end - monotonic()))
    const result = await attempt()
    if (result !== undefined) return result
  }
  return undefined
}
