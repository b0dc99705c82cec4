import { monotonic } from '../lib/clock.ts'

/** Why a proxied request ended before its response did. */
export type EndReason = 'client' | 'idle' | 'over'

/**
 * Ends a proxied request when nothing moves, its time is over, the session ends, or its client leaves. `signal` aborts the request to
 * the API.
 */
export class Limits {
  readonly #controller = new AbortController()
  readonly #idle: number
  readonly #timers: ReturnType<typeof setTimeout>[] = []
  #movedAt = monotonic()
  #reason: EndReason | undefined

  /** Both in milliseconds. */
  constructor({ duration, idle }: { readonly duration: number; readonly idle: number }) {
    this.#idle = idle
    this.#watch(idle)
    this.#timers.push(setTimeout(() => this.end('over'), duration))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** Absent while it has not ended early. */
  get reason(): EndReason | undefined {
    return this.#reason
  }

  /* One timer, however many parts pass. */
  #watch(milliseconds: number): void {
    this.#timers[0] = setTimeout(() => {
      const left = this.#movedAt + this.#idle - monotonic()
      if (left <= 0) this.end('idle')
      else this.#watch(left)
    }, milliseconds)
  }

  /** Records that a part has passed. */
  moved(): void {
    this.#movedAt = monotonic()
  }

  end(reason: EndReason): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.close()
    this.#controller.abort()
  }

  /** Stops the timers. */
  close(): void {
    for (const timer of this.#timers) clearTimeout(timer)
  }
}
