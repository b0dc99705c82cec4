import { Lru } from '../lib/lru.ts'
import { shared } from '../lib/registry.ts'

interface Flight {
  readonly request: string
  readonly result: Promise<unknown>
  /** Seconds since the epoch after which the result is forgotten; undefined while it is under way. */
  until?: number
}

interface Memory {
  readonly flights: Lru<string, Flight>
  readonly used: Lru<string, true>
}

/* A browser that asks twice does so within moments; results hold tokens and are forgotten soon after. */
const JOIN_SECONDS = 10
const FLIGHTS = 1000
const USED = 20_000

const memory = (): Memory => shared('callbacks.1', () => ({ flights: new Lru(FLIGHTS), used: new Lru(USED) }))

export type Joined<T> = { readonly kind: 'result'; readonly result: T } | { readonly kind: 'replayed' }

export interface SingleUse {
  /** What may be used once. It must contain what only one browser can know, or two users could meet in one result. */
  readonly key: string
  /** Tells an identical repetition from another use of the same key. */
  readonly request: string
  /** Seconds since the epoch. */
  readonly now: () => number
}

/**
 * Runs `work` once per key in this process. The identical request again joins the first run, also shortly after it
 * ended; any other or later use of the key is told that it was used.
 */
export async function onlyOnce<T>(
  { key, request, now }: SingleUse,
  work: () => Promise<T>,
): Promise<Joined<T>> {
  const { flights, used } = memory()
  const known = flights.get(key)
  if (known && known.request === request && (known.until === undefined || now() < known.until)) {
    return { kind: 'result', result: (await known.result) as T }
  }
  if (used.get(key)) return { kind: 'replayed' }
  used.set(key, true)
  const flight: Flight = { request, result: work() }
  flights.set(key, flight)
  try {
    return { kind: 'result', result: (await flight.result) as T }
  } finally {
    flight.until = now() + JOIN_SECONDS
    forgetLater(flights, key, flight)
  }
}

/** Frees the result even if nobody ever asks again; the timer keeps no process alive. */
function forgetLater(flights: Lru<string, Flight>, key: string, flight: Flight): void {
  const timer: unknown = setTimeout(() => {
    if (flights.get(key) === flight) flights.delete(key)
  }, JOIN_SECONDS * 1000)
  if (typeof timer === 'object' && timer !== null && 'unref' in timer) (timer as { unref(): void }).unref()
}
