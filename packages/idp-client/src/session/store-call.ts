import { SessionStoreError } from '../errors/session.ts'
import type { Log, LogEvent } from '../log/log.ts'

type StoreFailed = Extract<LogEvent, { code: 'SESSION_STORE_FAILED' }>

export type StoreOperation = StoreFailed['operation']

/* Codes of Node.js, SQLSTATE and names of classes: too short for the id of a session, and no e-mail address. */
const NAME = /^[A-Za-z][A-Za-z_]{0,31}$|^[0-9A-Z]{5}$/

/** What went wrong, as the driver names it. Its text is left out: that may hold what was to be stored. */
function reasonOf(cause: unknown): Pick<StoreFailed, 'reason'> {
  if (!(cause instanceof Error)) return {}
  const names: unknown[] = ['code' in cause ? cause.code : undefined, cause.constructor.name]
  const reason = names.find((name): name is string => typeof name === 'string' && NAME.test(name))
  return reason === undefined || reason === 'Error' ? {} : { reason }
}

/** Asks the application's store. What goes wrong there is told to the log and thrown as `SESSION_STORE_FAILED`. */
export async function askStore<T>(log: Log, operation: StoreOperation, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    log.emit({ level: 'error', code: 'SESSION_STORE_FAILED', operation, ...reasonOf(cause) })
    throw new SessionStoreError('SESSION_STORE_FAILED', { cause })
  }
}
