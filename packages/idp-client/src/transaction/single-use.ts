import { Lru } from '../lib/lru.ts'
import { shared } from '../lib/registry.ts'
import { sweeping } from '../lib/sweep.ts'

interface Flight {
  readonly request: string
  /** Resolves to the result, or rejects. No promise is kept afterwards: it would keep the first request reachable. */
  result: () => Promise<unknown>
  end?: {
    /** Seconds since the epoch after which the result is forgotten. */
    readonly until: number
    /** Milliseconds of the monotonic clock. */
    readonly at: number
  }
}

interface Memory {
  readonly flights: Lru<string, Flight>
  readonly used: Lru<string, true>
  /** Makes sure that results which nobody asks for are forgotten. */
  readonly forgetLater: () => void
}

/* A browser that asks twice does so within moments; results hold tokens and are forgotten soon after. */
const JOIN_SECONDS = 10
const FLIGHTS = 1000
const USED = 20_000

/** Forgets results that nobody asked for in time; returns whether any are left. */
function forgetOld(flights: Lru<string, Flight>): boolean {
  const end = performance.now() - JOIN_SECONDS * 1000
  for (const [key, flight] of flights.entries()) if (flight.end && flight.end.at <= end) flights.delete(key)
  return flights.size > 0
}

const memory = (): Memory =>
  shared('mark:callbacks/2', () => {
    const flights = new Lru<string, Flight>(FLIGHTS)
    const forgetLater = sweeping(JOIN_SECONDS * 1000, () => forgetOld(flights))
    return { flights, used: new Lru(USED), forgetLater }
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
  const { flights, forgetLater, used } = memory()
  const known = flights.get(key)
  if (known && known.request === request && (!known.end || now() < known.end.until)) {
    return { kind: 'result', result: (await known.result()) as T }
  }
  if (used.get(key)) return { kind: 'replayed' }
  used.set(key, true)
  const running = work()
  const flight: Flight = { request, result: () => running }
  flights.set(key, flight)
  const end = (result: Flight['result']): void => {
    flight.result = result
    flight.end = { until: now() + JOIN_SECONDS, at: performance.now() }
    forgetLater()
  }
  try {
    const result = await running
    end(resolved(result))
    return { kind: 'result', result }
  } catch (error) {
    end(rejected(error))
    throw error
  }
}
