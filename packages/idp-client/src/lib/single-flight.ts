import { SharedRun } from './shared-run.ts'

/** How a caller shares the run of another one. */
export interface Sharing {
  /** How long a caller waits for the run of another one, and how long its own may take, in milliseconds. */
  readonly patience: number
  /** Creates the error of a caller whose patience ends before the run is lost. Without it, the caller runs the task itself. */
  readonly overdue?: () => Error
}

/**
 * Runs a task once for all calls with its key while it runs. Results and errors are shared, never kept: the first call
 * after the end runs the task again. If a run is lost with its request, one of those that wait for it takes over.
 */
export class SingleFlight<T> {
  readonly #running = new Map<string, SharedRun<T>>()
  readonly #onIdle: (() => void) | undefined

  /** @param onIdle called when the last run has ended */
  constructor(onIdle?: () => void) {
    this.#onIdle = onIdle
  }

  /** Returns the run under way, or undefined without one. */
  get(key: string): SharedRun<T> | undefined {
    return this.#running.get(key)
  }

  /** Returns the runs under way. */
  all(): readonly SharedRun<T>[] {
    return [...this.#running.values()]
  }

  /** Joins the run under way, or starts one. */
  async run(key: string, task: (run: SharedRun<T>) => Promise<T>, sharing: Sharing): Promise<T> {
    const { overdue, patience } = sharing
    for (let running = this.get(key); running; running = this.get(key)) {
      const outcome = await running.join(patience)
      if (outcome) return outcome()
      if (overdue && !running.isLost) throw overdue()
      // The first caller that finds it lost starts the next run, which the others join.
      if (this.get(key) === running) break
    }
    return this.#start(key, task, patience)
  }

  #start(key: string, task: (run: SharedRun<T>) => Promise<T>, patience: number): Promise<T> {
    const run = new SharedRun(task, patience)
    this.#running.set(key, run)
    run.onEnd(() => {
      // Another one may have taken over.
      if (this.#running.get(key) !== run) return
      this.#running.delete(key)
      if (this.#running.size === 0) this.#onIdle?.()
    })
    return run.outcome
  }
}
