import type { AsyncContext } from './async-context.ts'

interface Storage<T> {
  run<R>(value: T, callback: () => R): R
  getStore(): T | undefined
}

type StorageClass = new <T>() => Storage<T>

/** Uses the global `AsyncLocalStorage` of edge runtimes. Without one, `get` returns undefined: pass the request instead. */
export function createAsyncContext<T>(): AsyncContext<T> {
  const { AsyncLocalStorage } = globalThis as { AsyncLocalStorage?: StorageClass }
  if (!AsyncLocalStorage) return { run: (_value, callback) => callback(), get: () => undefined }
  const storage = new AsyncLocalStorage<T>()
  return {
    run: (value, callback) => storage.run(value, callback),
    get: () => storage.getStore(),
  }
}
