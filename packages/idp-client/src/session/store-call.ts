import { SessionStoreError } from '../errors/session.ts'
import type { Log, LogEvent } from '../log/log.ts'

export type StoreOperation = Extract<LogEvent, { code: 'SESSION_STORE_FAILED' }>['operation']

/** Asks the application's store. What goes wrong there is told to the log and thrown as `SESSION_STORE_FAILED`. */
export async function askStore<T>(log: Log, operation: StoreOperation, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    log.emit({ level: 'error', code: 'SESSION_STORE_FAILED', operation })
    throw new SessionStoreError('SESSION_STORE_FAILED', { cause })
  }
}
