import { DevProviderError } from '../error.ts'

interface Waiter {
  readonly predicate: () => boolean
  resolve(): void
  reject(error: unknown): void
}

/** Promises for conditions, which are checked after each change. */
export interface Waiters {
  until(predicate: () => boolean): Promise<void>
  check(): void
  /** Rejects all promises that are pending. */
  stop(): void
}

/** Returns whether a waiter is done: its condition is true, or has thrown. */
function isDone({ predicate, resolve, reject }: Waiter): boolean {
  try {
    if (!predicate()) return false
    resolve()
  } catch (error) {
    reject(error)
  }
  return true
}

export function createWaiters(): Waiters {
  let waiters: Waiter[] = []
  return {
    until: (predicate) =>
      new Promise((resolve, reject) => {
        const waiter = { predicate, resolve, reject }
        if (!isDone(waiter)) waiters.push(waiter)
      }),
    check: () => {
      waiters = waiters.filter((waiter) => !isDone(waiter))
    },
    stop: () => {
      const error = new DevProviderError('The API was closed before a condition of until() was true.')
      for (const { reject } of waiters) reject(error)
      waiters = []
    },
  }
}
