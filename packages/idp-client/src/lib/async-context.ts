/** A value that follows one chain of asynchronous calls: the used part of `AsyncLocalStorage`. */
export interface AsyncContext<T> {
  run<R>(value: T, callback: () => R): R
  /** Undefined outside `run`, and everywhere in a runtime that offers no such context. */
  getStore(): T | undefined
}

/** Keeps the current request alive until `work` ends. */
export type WaitUntil = (work: Promise<unknown>) => void
