import { SharedRun } from './shared-run.ts'

/** The tasks of one key. */
interface Queue {
  /** The one that came last: the next one waits for it. */
  last?: SharedRun<unknown>
  /** Those that have not ended, also if a later one did not wait for them. */
  readonly open: Set<SharedRun<unknown>>
}

/**
 * Runs tasks of one key one after the other, in the order in which they came. Tasks of different keys do not wait. A task
 * waits for a limited time: then it runs beside the one before it.
 */
export class KeyedMutex<K> {
  readonly #queues = new Map<K, Queue>()

  /**
   * Runs `task` after those before it. Rejects with what the task throws.
   *
   * @param patience how long it waits for the one before it, and how long it may take itself, in milliseconds
   */
  run<T>(key: K, task: () => Promise<T>, patience: number): Promise<T> {
    const queue: Queue = this.#queues.get(key) ?? { open: new Set() }
    const { last: before, open } = queue
    for (const run of open) if (run.isLost) open.delete(run)
    const run = new SharedRun<T>(async (self) => {
      await before?.join(patience)
      self.extend(patience)
      return task()
    }, patience)
    queue.last = run
    open.add(run)
    this.#queues.set(key, queue)
    run.onEnd(() => {
      open.delete(run)
      if (open.size === 0 && this.#queues.get(key) === queue) this.#queues.delete(key)
    })
    return run.outcome
  }

  /** Waits until all tasks of all keys have ended, at most that many milliseconds. Returns false if there were none. */
  async idle(milliseconds: number): Promise<boolean> {
    const runs = [...this.#queues.values()].flatMap(({ open }) => [...open]).filter((run) => !run.isLost)
    await Promise.all(runs.map((run) => run.join(milliseconds)))
    return runs.length > 0
  }
}
