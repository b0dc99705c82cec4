import type { Log } from './log.ts'

/**
 * Runs an operation of the application. What the provider or the store did to it is reported, since the application may
 * catch the error and say nothing. What it takes to report is loaded with the first failure.
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
