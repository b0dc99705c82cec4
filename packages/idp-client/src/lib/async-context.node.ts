import { AsyncLocalStorage } from 'node:async_hooks'
import type { AsyncContext } from './async-context.ts'

export function createAsyncContext<T>(): AsyncContext<T> {
  const storage = new AsyncLocalStorage<T>()
  return {
    run: (value, callback) => storage.run(value, callback),
    get: () => storage.getStore(),
  }
}
