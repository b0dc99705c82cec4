import { monotonic } from '../lib/clock.ts'

/** Why a proxied request ended before its response did. */
export type EndReason = 'client' | 'idle' | 'over' | 'session'

/**
 * Ends a proxied request when nothing moves, its time is over, the session ends, or its client leaves. `signal` aborts the request to
 * the API.
 */
export class Limits {
  readonly #controller = new AbortController()
  readonly #idle: number
  #overAt: number
  /* One timer, however many parts pass. */
  #timer: ReturnType<typeof setTimeout> | undefined
  #movedAt = monotonic()
  #reason: EndReason | undefined

  /** Both in milliseconds. */
  constructor({ duration, idle }: { readonly duration: number; readonly idle: number }) {
    this.#idle = idle
    this.#overAt = this.#movedAt + duration
    this.#watch(Math.min(idle, duration))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Absent while it has not ended early. */
  get reason(): EndReason | undefined {
    return this.#reason
  }

  #watch(milliseconds: number): void {
    this.#timer = setTimeout(() => {
      // It has ended, but another request could not abort it.
      if (this.#reason !== undefined) return this.#controller.abort()
      const now = monotonic()
      const idleLeft = this.#movedAt + this.#idle - now
      const left = this.#overAt - now
      if (left <= 0) this.end('over')
      else if (idleLeft <= 0) this.end('idle')
      else this.#watch(Math.min(idleLeft, left))
    }, milliseconds)
  }

  /** Ends it after that many milliseconds at the latest. */
  shorten(milliseconds: number): void {
    const overAt = monotonic() + Math.max(0, milliseconds)
    if (overAt >= this.#overAt || this.#reason !== undefined) return
    this.#overAt = overAt
    this.close()
    this.#watch(Math.max(0, Math.min(this.#movedAt + this.#idle, overAt) - monotonic()))
  }

  /** Records that a part has passed. */
  moved(): void {
    this.#movedAt = monotonic()
  }

  /** On Workers it throws in another request than the one that it ends, which then ends with its next part, or when nothing moves. */
  end(reason: EndReason): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#controller.abort()
    this.close()
  }

  /** Stops the timer. */
  close(): void {
    clearTimeout(this.#timer)
  }
}
