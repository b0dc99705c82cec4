import type { MaybePromise } from '../lib/chain.ts'
import { recover } from '../lib/chain.ts'
import type { Log } from './log.ts'

/**
 * Runs an operation of the application and logs failures of the provider or the store, because the application may
 * catch the error silently. The reporting code is loaded at the first failure.
 */
export function reporting<T>(log: Log, operation: () => MaybePromise<T>): MaybePromise<T> {
  return recover(operation, async (error) => {
    const { reportFailure } = await import('./failure.ts')
    reportFailure(log, error)
    throw error
  })
}
