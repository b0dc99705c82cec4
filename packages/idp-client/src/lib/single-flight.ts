import { SharedRun } from './shared-run.ts'

/** How a caller shares the run of another one. */
export interface Sharing {
  /**
   * How long a caller waits for the run of another one before it runs the task itself, and how long its own may take, in
   * milliseconds.
   */
  readonly patience: number
}

/**
 * Runs a task once for all calls with its key while it runs. Results and errors are shared, never kept: the first call
 * after the end runs the task again. If a run is lost with its request, one of those that wait for it takes over.
 */
export class SingleFlight<T> {
  readonly #running = new Map<string, SharedRun<T>>()

  /** Returns the run under way, or undefined without one. */
  get(key: string): SharedRun<T> | undefined {
    return this.#running.get(key)
  }

  /** Joins the run under way, or starts one. */
  async run(key: string, task: () => Promise<T>, { patience }: Sharing): Promise<T> {
    for (let running = this.get(key); running; running = this.get(key)) {
      const outcome = await running.join(patience)
      if (outcome) return outcome()
      // The first caller that has waited starts the next run, which the others join.
      if (this.get(key) === running) break
    }
    return this.#start(key, task, patience)
  }

  #start(key: string, task: () => Promise<T>, patience: number): Promise<T> {
    const run = new SharedRun(task, patience)
    this.#running.set(key, run)
    run.onEnd(() => {
      // Another one may have taken over.
      if (this.#running.get(key) === run) this.#running.delete(key)
    })
    return run.outcome
  }
}
