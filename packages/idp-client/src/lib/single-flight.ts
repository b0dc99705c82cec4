import { atMost } from './pause.ts'

/** One run of a task. */
export interface Flight {
  /**
   * Rejects the promises of current callers. The task continues, and later callers wait for its outcome.
   * Returns false if that happened before.
   */
  dismiss(error: unknown): boolean
}

interface Running<T> {
  readonly outcome: Promise<T>
  /** The promise of callers that came before `dismiss`. */
  readonly early: Promise<T>
  readonly isDismissed: () => boolean
}

/**
 * Runs a task once for all calls with its key while it runs. Results and errors are shared, never kept: the first call
 * after the end runs the task again.
 */
export class SingleFlight<T> {
  readonly #running = new Map<string, Running<T>>()
  readonly #onIdle: (() => void) | undefined

  /** @param onIdle called when the last run has ended */
  constructor(onIdle?: () => void) {
    this.#onIdle = onIdle
  }

  /** Returns the outcome of the run under way, or undefined if there is none. */
  join(key: string): Promise<T> | undefined {
    const running = this.#running.get(key)
    return running && (running.isDismissed() ? running.outcome : running.early)
  }

  /** Whether there is a run whose first callers were dismissed. */
  isDismissed(key: string): boolean {
    return this.#running.get(key)?.isDismissed() ?? false
  }

  /** Joins the run under way, or starts one. It is shared until it ends, or for at most `limit` milliseconds. */
  run(key: string, task: (flight: Flight) => Promise<T>, limit?: number): Promise<T> {
    return this.join(key) ?? this.#start(key, task, limit)
  }

  #start(key: string, task: (flight: Flight) => Promise<T>, limit?: number): Promise<T> {
    let isDismissed = false
    let resolve: (value: T) => void = () => {}
    let reject: (error: unknown) => void = () => {}
    const early = new Promise<T>((onResult, onError) => {
      resolve = onResult
      reject = onError
    })
    const outcome = task({
      dismiss(error) {
        if (isDismissed) return false
        isDismissed = true
        reject(error)
        return true
      },
    })
    // Not `Promise.race`, which creates a promise for each of its arguments.
    outcome.then(resolve, reject)
    const running: Running<T> = { outcome, early, isDismissed: () => isDismissed }
    this.#running.set(key, running)
    const end = (): void => {
      if (this.#running.get(key) !== running) return
      this.#running.delete(key)
      if (this.#running.size === 0) this.#onIdle?.()
    }
    ;(limit === undefined ? outcome : atMost(limit, outcome)).then(end, end)
    // Callers may have left: a rejection must not be unhandled.
    early.catch(() => {})
    return early
  }
}
