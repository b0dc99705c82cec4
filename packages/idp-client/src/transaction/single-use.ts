import { monotonic } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { processWide, toKey } from '../lib/registry.ts'
import { SingleFlight } from '../lib/single-flight.ts'
import { sweeping } from '../lib/sweep.ts'

/** The result of a callback. Not a promise: that would keep the first request reachable. */
interface Ended {
  /** Resolves to the result, or rejects. */
  readonly result: () => Promise<unknown>
  /** Seconds since the epoch after which the result is forgotten. */
  readonly until: number
  /** Milliseconds of the monotonic clock. */
  readonly at: number
}

interface Callbacks {
  readonly running: SingleFlight<unknown>
  readonly ended: Lru<string, Ended>
  readonly used: Lru<string, true>
  /** Schedules the deletion of unused results. */
  readonly forgetLater: () => void
}

/* A browser that asks twice does so within moments; results hold tokens and are forgotten soon after. */
const JOIN_SECONDS = 10
const RESULTS = 1000
const USED = 20_000

/** Deletes expired results. Returns whether any are left. */
function forgetOld(ended: Lru<string, Ended>): boolean {
  const end = monotonic() - JOIN_SECONDS * 1000
  for (const [key, { at }] of ended.entries()) if (at <= end) ended.delete(key)
  return ended.size > 0
}

const callbacks = (): Callbacks =>
  processWide('state:callbacks/3', () => {
    const ended = new Lru<string, Ended>(RESULTS)
    const forgetLater = sweeping(JOIN_SECONDS * 1000, () => forgetOld(ended))
    return { running: new SingleFlight(), ended, used: new Lru(USED), forgetLater }
  })

export type Joined<T> = { readonly kind: 'result'; readonly result: T } | { readonly kind: 'replayed' }

export interface SingleUse {
  /** The key that may be used once. It must contain a secret of one browser, or two users could share a result. */
  readonly key: string
  /** Tells an identical repetition from another use of the same key. */
  readonly request: string
  /** Seconds since the epoch. */
  readonly now: () => number
}

/* Out here, where nothing of the request is in scope. */
const resolved = (result: unknown) => async (): Promise<unknown> => result
const rejected = (error: unknown) => (): Promise<never> => Promise.reject(error)

/**
 * Runs `work` once per key in this process. The identical request again joins the first run, also shortly after it
 * ended; any other or later use of the key is told that it was used.
 */
export async function onlyOnce<T>(
  { key, request, now }: SingleUse,
  work: () => Promise<T>,
): Promise<Joined<T>> {
  const { ended, forgetLater, running, used } = callbacks()
  const name = toKey(key, request)
  const known = ended.get(name)
  if (known && now() < known.until) return { kind: 'result', result: (await known.result()) as T }
  const joined = running.join(name)
  if (joined) return { kind: 'result', result: (await joined) as T }
  if (used.get(key)) return { kind: 'replayed' }
  used.set(key, true)
  const keep = (result: Ended['result']): void => {
    ended.set(name, { result, until: now() + JOIN_SECONDS, at: monotonic() })
    forgetLater()
  }
  const result = await running.run(name, async () => {
    try {
      const made = await work()
      keep(resolved(made))
      return made
    } catch (error) {
      keep(rejected(error))
      throw error
    }
  })
  return { kind: 'result', result: result as T }
}
