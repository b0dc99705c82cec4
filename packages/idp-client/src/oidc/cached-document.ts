import type { MaybePromise } from '../lib/chain.ts'
import type { Clock } from '../lib/clock.ts'
import { SingleFlight } from '../lib/single-flight.ts'

/** Seconds for which a loaded value is used without another request. */
const LIFETIME = 600
/** Seconds between attempts while loading fails and the old value is used. */
const RETRY_PAUSE = 30
/** Seconds between reloads by `renew`: anyone can send a token with an unknown key id. */
const RENEW_PAUSE = 60

/* A document has one load at a time. */
const LOAD = 'load'

export interface DocumentSource<T> {
  readonly clock: Clock
  readonly load: () => Promise<T>
  /** Called for a failed load that was replaced by a stale value. */
  readonly report: (error: unknown) => void
}

interface Held<T> {
  readonly value: T
  readonly at: number
}

// Clients in one process may have different clocks (tests do), so the difference may be negative.
const within = (seconds: number, then: number | undefined, now: number): boolean =>
  then !== undefined && Math.abs(now - then) < seconds

/**
 * A cached document of the provider: loaded on demand, once for all concurrent callers, and again after 600 s. If
 * that fails, the cached value is returned; a failure is never cached.
 */
export class CachedDocument<T> {
  #held: Held<T> | undefined
  readonly #loads = new SingleFlight<T>()
  #failedAt: number | undefined
  #renewedAt: number | undefined

  read(source: DocumentSource<T>): MaybePromise<T> {
    const held = this.#held
    const now = source.clock()
    if (held && (within(LIFETIME, held.at, now) || within(RETRY_PAUSE, this.#failedAt, now)))
      return held.value
    return this.#loadOr(held, now, source)
  }

  async #loadOr(held: Held<T> | undefined, now: number, source: DocumentSource<T>): Promise<T> {
    try {
      return await this.#load(source)
    } catch (error) {
      if (!held) throw error
      source.report(error)
      this.#failedAt = now
      return held.value
    }
  }

  /**
   * Returns a newer value than `seen`, which was not sufficient; null if the last reload by `renew` is too recent. Throws
   * what `load` throws.
   */
  async renew(seen: T, source: DocumentSource<T>): Promise<T | null> {
    if (this.#held && this.#held.value !== seen) return this.#held.value
    const loading = this.#loads.join(LOAD)
    if (loading) return loading
    const now = source.clock()
    if (within(RENEW_PAUSE, this.#renewedAt, now)) return null
    this.#renewedAt = now
    return this.#load(source)
  }

  #load(source: DocumentSource<T>): Promise<T> {
    return this.#loads.run(LOAD, async () => {
      const at = source.clock()
      const value = await source.load()
      this.#held = { value, at }
      this.#failedAt = undefined
      return value
    })
  }
}
