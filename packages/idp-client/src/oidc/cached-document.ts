import type { Clock } from '../lib/clock.ts'
import { SingleFlight } from '../lib/single-flight.ts'

/** Seconds for which a loaded value is used without another request. */
const LIFETIME = 600
/** Seconds between attempts while loading fails and the old value is used. */
const RETRY_PAUSE = 30
/** Seconds between reloads by `renew` for tokens of the provider, and after a failed one. */
const RENEW_PAUSE = 5
/** Seconds between reloads by `renew` for tokens that anyone can send. */
const UNTRUSTED_RENEW_PAUSE = 60

/* A document has one load at a time. */
const LOAD = 'load'

/**
 * The sender of a token that the loaded keys do not verify: `provider`, in a response to this client, or `anyone`, since
 * any website can send a logout token. Each has its own pause, so that strangers cannot delay a reload for a login.
 */
export type TokenSender = 'provider' | 'anyone'

/** The result of `renew`. Both times are in seconds. */
export interface Renewal<T> {
  /** A value that is newer than the one that was not sufficient; null if the last reload is too recent. */
  readonly newer: T | null
  /** Time since the last successful load. */
  readonly age: number
  /** Time until the next reload is possible. */
  readonly pause: number
}

export interface DocumentSource<T> {
  readonly clock: Clock
  readonly load: () => Promise<T>
  /** How long a caller waits for the load of another one before it loads itself, in milliseconds. */
  readonly patience: number
  /** Called for a failed load that was replaced by a stale value. */
  readonly report: (error: unknown) => void
}

interface Held<T> {
  readonly value: T
  readonly at: number
}

/** A time span that begins at `at`. All times are in seconds. */
interface Pause {
  readonly at: number
  readonly seconds: number
}

// Clients in one process may have different clocks (tests do), so the difference may be negative.
const remaining = (pause: Pause | undefined, now: number): number =>
  pause ? Math.max(0, pause.seconds - Math.abs(now - pause.at)) : 0

/**
 * A cached document of the provider: loaded on demand, once for all concurrent callers, and again after 600 s. If
 * that fails, the cached value is returned; a failure is never cached.
 */
export class CachedDocument<T> {
  #held: Held<T> | undefined
  readonly #loads = new SingleFlight<T>()
  #retryPause: Pause | undefined
  readonly #renewPauses = new Map<TokenSender, Pause>()

  async read(source: DocumentSource<T>): Promise<T> {
    const held = this.#held
    const now = source.clock()
    const isUsable =
      held && (remaining({ at: held.at, seconds: LIFETIME }, now) > 0 || remaining(this.#retryPause, now) > 0)
    if (isUsable) return held.value
    try {
      return await this.#load(source)
    } catch (error) {
      if (!held) throw error
      source.report(error)
      this.#retryPause = { at: now, seconds: RETRY_PAUSE }
      return held.value
    }
  }

  /** Reloads the value if it is still `seen`, which was not sufficient for a token of this sender. Throws what `load` throws. */
  async renew(seen: T, source: DocumentSource<T>, sender: TokenSender): Promise<Renewal<T>> {
    const newer = await this.#newer(seen, source, sender)
    const now = source.clock()
    const age = Math.abs(now - (this.#held?.at ?? now))
    return { newer, age, pause: remaining(this.#renewPauses.get(sender), now) }
  }

  async #newer(seen: T, source: DocumentSource<T>, sender: TokenSender): Promise<T | null> {
    if (this.#held && this.#held.value !== seen) return this.#held.value
    if (this.#loads.get(LOAD)) return this.#load(source)
    const at = source.clock()
    if (remaining(this.#renewPauses.get(sender), at) > 0) return null
    // A failure says nothing about the keys, and the token may be repeated as soon as the endpoint works again.
    this.#renewPauses.set(sender, { at, seconds: RENEW_PAUSE })
    const value = await this.#load(source)
    if (sender === 'anyone') this.#renewPauses.set(sender, { at, seconds: UNTRUSTED_RENEW_PAUSE })
    return value
  }

  #load(source: DocumentSource<T>): Promise<T> {
    const task = async (): Promise<T> => {
      const at = source.clock()
      const value = await source.load()
      this.#held = { value, at }
      return value
    }
    return this.#loads.run(LOAD, task, source)
  }
}
