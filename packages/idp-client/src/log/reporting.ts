import type { Log } from './log.ts'

/**
 * Runs an operation of the application and logs failures of the provider or the store, because the application may
 * catch the error silently. The reporting code is loaded at the first failure.
 */
export async function reporting<T>(log: Log, operation: () => Promise<T>): Promise<T> {
  try {
    return await operation()
  } catch (error) {
    const { reportFailure } = await import('./failure.ts')
    reportFailure(log, error)
    throw error
  }
}
