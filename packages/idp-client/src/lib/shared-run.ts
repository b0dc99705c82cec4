import { monotonic } from './clock.ts'
import { atMost } from './pause.ts'
import { outliveRequest } from './request-scope.ts'

/** How much longer than its own time limits a run may take before others do its work, in milliseconds. */
const SLACK = 1000

/** Returns the result of a run, or throws its error. */
type Outcome<T> = () => T

/**
 * Work that one request starts and others wait for. On Workers, I/O, timers and promises belong to the request that
 * created them: if that request ends early, its promises never settle, or are rejected by the platform. Therefore a
 * caller waits with a timer of its own request, the result is stored as a value, and a run has a deadline, after which it
 * counts as ended.
 */
export class SharedRun<T> {
  /** The result for the request that started it. */
  readonly outcome: Promise<T>
  #result: Outcome<T> | undefined
  #deadline = 0
  #isAbandoned = false

  /** Starts `task`, which may take that many milliseconds. */
  constructor(task: (run: SharedRun<T>) => Promise<T>, milliseconds: number) {
    this.extend(milliseconds)
    this.outcome = this.#start(task)
    // Callers may have left: a rejection must not be unhandled.
    this.outcome.catch(() => {})
    outliveRequest(this.outcome)
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

  /** Calls `callback` when it has a result, before those that wait for it continue. */
  onEnd(callback: () => void): void {
    this.outcome.then(callback, callback)
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
      const isSettled = await atMost(Math.ceil(left), this.outcome)
      // Workers reject the pending promises of a request that has ended.
      if (isSettled && !this.#result) this.#isAbandoned = true
    }
    return this.#result
  }
}

/**
 * Runs a task once for all calls with its key while it runs. Results and errors are shared, never kept: the first call
 * after the end runs the task again. If a run is lost with its request, one of those that wait for it takes over.
 */
export class SingleFlight<T> {
  readonly #running = new Map<string, SharedRun<T>>()

  /** Number of runs under way. Forgets those that are lost. */
  get size(): number {
    for (const [key, run] of this.#running) if (run.isLost) this.#running.delete(key)
    return this.#running.size
  }

  /** Returns the run under way, or undefined without one. */
  get(key: string): SharedRun<T> | undefined {
    return this.#running.get(key)
  }

  /**
   * Joins the run under way, or starts one.
   *
   * @param patience how long a caller waits for the run of another one before it runs the task itself, and how long its own
   * may take, in milliseconds
   */
  async run(key: string, task: () => Promise<T>, patience: number): Promise<T> {
    for (let running = this.get(key); running; running = this.get(key)) {
      const outcome = await running.join(patience)
      if (outcome) return outcome()
      // The first caller that has waited starts the next run, which the others join.
      if (this.get(key) === running) break
    }
    const run = new SharedRun(task, patience)
    this.#running.set(key, run)
    run.onEnd(() => {
      // Another one may have taken over.
      if (this.#running.get(key) === run) this.#running.delete(key)
    })
    return run.outcome
  }
}

/** The tasks of one key. */
interface Queue {
  /** The one that came last: the next one waits for it. */
  last?: SharedRun<unknown>
  /** Those that have not ended, also if a later one did not wait for them. */
  readonly open: Set<SharedRun<unknown>>
}

/**
 * The key of tasks that run beside no task of another key: they wait for those before them of every other key, and later ones of every
 * other key wait for them. They do not wait for one another.
 */
export const ALL_KEYS: unique symbol = Symbol('all keys')

/**
 * Runs tasks of one key one after the other, in the order in which they came. Tasks of different keys do not wait for one another,
 * only for those of `ALL_KEYS`. A task waits for a limited time: then it runs beside those before it.
 */
export class KeyedMutex<K> {
  readonly #queues = new Map<K | typeof ALL_KEYS, Queue>()

  /**
   * Runs `task` after those before it. Rejects with what the task throws.
   *
   * @param patience how long it waits for those before it, and how long it may take itself, in milliseconds
   */
  run<T>(key: K | typeof ALL_KEYS, task: () => Promise<T>, patience: number): Promise<T> {
    const queues = this.#queues
    const queue: Queue = queues.get(key) ?? { open: new Set() }
    const { last, open } = queue
    for (const run of open) if (run.isLost) open.delete(run)
    const before =
      key === ALL_KEYS
        ? [...queues].flatMap(([other, tasks]) => (other === ALL_KEYS ? [] : [...tasks.open]))
        : [last, ...(queues.get(ALL_KEYS)?.open ?? [])]
    const run = new SharedRun<T>(async (self) => {
      await Promise.all(before.map((one) => one?.join(patience)))
      self.extend(patience)
      return task()
    }, patience)
    queue.last = run
    open.add(run)
    queues.set(key, queue)
    run.onEnd(() => {
      open.delete(run)
      if (open.size === 0 && queues.get(key) === queue) queues.delete(key)
    })
    return run.outcome
  }
}
