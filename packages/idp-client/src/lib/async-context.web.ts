import type { AsyncContext, WaitUntil } from './async-context.ts'

/** The runtime ends no work with its request. */
export const waitUntil: WaitUntil | undefined = undefined

interface StorageModule {
  readonly AsyncLocalStorage?: new <T>() => AsyncContext<T>
}

interface Runtime extends StorageModule {
  readonly process?: { getBuiltinModule?(name: string): StorageModule | undefined }
}

/**
 * Uses the `AsyncLocalStorage` of the runtime: the global one of edge runtimes, or that of its Node compatibility, which is
 * found without an import that other runtimes could not resolve. Without one, `getStore` returns undefined: pass the
 * request instead.
 */
export function createAsyncContext<T>(): AsyncContext<T> {
  const { AsyncLocalStorage: builtIn, process } = globalThis as Runtime
  const AsyncLocalStorage = builtIn ?? process?.getBuiltinModule?.('node:async_hooks')?.AsyncLocalStorage
  return AsyncLocalStorage
    ? new AsyncLocalStorage<T>()
    : { run: (_value, callback) => callback(), getStore: () => undefined }
}
