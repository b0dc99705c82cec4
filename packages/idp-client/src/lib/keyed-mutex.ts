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

/** Runs tasks of one key one after the other, in the order in which they came. Tasks of different keys do not wait. */
export class KeyedMutex<K> {
  /* By key, when the last of its tasks has ended; no entry if none is running or waiting. */
  readonly #ends = new Map<K, Promise<void>>()

  /** Runs `task` after those before it. Rejects with what the task or `wait` throws. */
  run<T>(key: K, task: () => Promise<T>, wait: Patience = untilEnd): Promise<T> {
    const before = this.#ends.get(key)
    const turn = before ? wait(before) : Promise.resolve()
    const result = turn.then(task)
    // After a task that gave up, later ones still wait for earlier ones.
    const end = turn.then(
      () => result.then(ignore, ignore),
      () => before,
    )
    this.#ends.set(key, end)
    end.then(() => {
      if (this.#ends.get(key) === end) this.#ends.delete(key)
    })
    return result
  }

  /** Waits for the tasks of all keys, at most that many milliseconds. Returns false if there were none. */
  async idle(milliseconds: number): Promise<boolean> {
    const ends = [...this.#ends.values()]
    if (ends.length === 0) return false
    await atMost(milliseconds, Promise.all(ends))
    return true
  }
}
