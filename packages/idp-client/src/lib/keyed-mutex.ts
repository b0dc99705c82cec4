import { atMost } from './pause.ts'

/**
 * How a task waits for those before it. When the promise resolves the task runs, also beside one that has not ended; when
 * it rejects, the task does not run.
 */
export type Patience = (before: Promise<void>) => Promise<unknown>

/** Waits until those before have ended. */
const untilEnd: Patience = (before) => before

/** Waits for those before, at most that many milliseconds. */
export function patience(milliseconds: number): Patience {
  return (before) => atMost(milliseconds, before)
}

const ignore = (): void => {}

/** The tasks of one key that run or wait. */
interface Queue {
  /** Resolves when the last of them has ended: the next one waits for this. */
  readonly last: Promise<void>
  /** Resolves when all have ended, also those that a later one did not wait for. */
  readonly all: Promise<void>
}

/** Runs tasks of one key one after the other, in the order in which they came. Tasks of different keys do not wait. */
export class KeyedMutex<K> {
  readonly #queues = new Map<K, Queue>()

  /** Runs `task` after those before it. Rejects with what the task or `wait` throws. */
  run<T>(key: K, task: () => Promise<T>, wait: Patience = untilEnd): Promise<T> {
    const before = this.#queues.get(key)
    const turn = before ? wait(before.last) : Promise.resolve()
    const result = turn.then(task)
    const last = turn.then(
      () => result.then(ignore, ignore),
      // After a task that gave up, later ones still wait for earlier ones.
      () => before?.last,
    )
    // A chain, not a list: of tasks that never end, nothing but the last promise is kept.
    const queue = { last, all: Promise.all([before?.all, last]).then(ignore) }
    this.#queues.set(key, queue)
    void queue.all.then(() => {
      if (this.#queues.get(key) === queue) this.#queues.delete(key)
    })
    return result
  }

  /** Waits until all tasks of all keys have ended, at most that many milliseconds. Returns false if there were none. */
  async idle(milliseconds: number): Promise<boolean> {
    const queues = [...this.#queues.values()]
    if (queues.length === 0) return false
    await atMost(milliseconds, Promise.all(queues.map(({ all }) => all)))
    return true
  }
}
