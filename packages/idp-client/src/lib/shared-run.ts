import { monotonic } from './clock.ts'
import { atMost } from './pause.ts'
import { outliveRequest } from './request-scope.ts'

/** How much longer than its own time limits a run may take before others do its work, in milliseconds. */
const SLACK = 1000

/** Returns the result of a run, or throws its error. */
export type Outcome<T> = () => T

/**
 * Work that one request starts and others wait for. On Workers, I/O, timers and promises belong to the request that
 * created them: if that request ends early, its promises never settle, or are rejected by the platform. Therefore a
 * caller waits with a timer of its own request, the result is stored as a value, and a run has a deadline, after which it
 * counts as ended.
 */
export class SharedRun<T> {
  readonly #work: Promise<T>
  #result: Outcome<T> | undefined
  #deadline = 0
  #isAbandoned = false

  /** Starts `task`, which may take that many milliseconds. */
  constructor(task: (run: SharedRun<T>) => Promise<T>, milliseconds: number) {
    this.extend(milliseconds)
    this.#work = this.#start(task)
    // Callers may have left: a rejection must not be unhandled.
    this.#work.catch(() => {})
    outliveRequest(this.#work)
  }

  async #start(task: (run: SharedRun<T>) => Promise<T>): Promise<T> {
    try {
      const value = await task(this)
      this.#result = () => value
      return value
    } catch (error) {
      this.#result = () => {
        throw error
      }
      throw error
    }
  }

  /** The result for the request that started it. */
  get outcome(): Promise<T> {
    return this.#work
  }

  /** Calls `callback` when it has a result, before those that wait for it continue. */
  onEnd(callback: () => void): void {
    this.#work.then(callback, callback)
  }

  /** Whether it has no result and will have none: its request has ended, or its deadline is over. */
  get isLost(): boolean {
    return !this.#result && (this.#isAbandoned || monotonic() >= this.#deadline)
  }

  /** Sets the deadline to that many milliseconds from now. */
  extend(milliseconds: number): void {
    this.#deadline = monotonic() + milliseconds + SLACK
  }

  /**
   * Waits with a timer of the calling request, at most that many milliseconds. Returns undefined if there is no result; see
   * `isLost`.
   */
  async join(milliseconds: number): Promise<Outcome<T> | undefined> {
    const end = monotonic() + milliseconds
    while (!this.#result && !this.isLost) {
      const left = Math.min(end, this.#deadline) - monotonic()
      if (left <= 0) break
      const isSettled = await atMost(Math.ceil(left), this.#work)
      // Workers reject the pending promises of a request that has ended.
      if (isSettled && !this.#result) this.#isAbandoned = true
    }
    return this.#result
  }
}
