import { AsyncLocalStorage } from 'node:async_hooks'
import type { AsyncContext, WaitUntil } from './async-context.ts'

/** The runtime ends no work with its request. */
export const waitUntil: WaitUntil | undefined = undefined

export function createAsyncContext<T>(): AsyncContext<T> {
  const storage = new AsyncLocalStorage<T>()
  return {
    run: (value, callback) => storage.run(value, callback),
    get: () => storage.getStore(),
  }
}
