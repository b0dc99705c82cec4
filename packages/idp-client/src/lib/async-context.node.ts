import { AsyncLocalStorage } from 'node:async_hooks'
import type { AsyncContext, WaitUntil } from './async-context.ts'

/** The runtime ends no work with its request. */
export const waitUntil: WaitUntil | undefined = undefined

export const createAsyncContext = <T>(): AsyncContext<T> => new AsyncLocalStorage<T>()
