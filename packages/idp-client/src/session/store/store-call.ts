import { isIdpError } from '../../errors/base.ts'
import type { Remedy } from '../../errors/remedy.ts'
import type { StoreFailure, StoreOperation } from '../../errors/session.ts'
import { SessionStoreError } from '../../errors/session.ts'

/* Codes of Node.js, SQLSTATE and names of classes. Matches neither record ids, which are longer, nor e-mail addresses. */
const NAME = /^[A-Za-z][A-Za-z_]{0,31}$|^[0-9A-Z]{5}$/

/** Returns the code or the class of a driver's error. Its message may contain the record. */
function toReason(cause: unknown): Pick<StoreFailure, 'reason'> {
  if (!(cause instanceof Error)) return {}
  const names: unknown[] = ['code' in cause ? cause.code : undefined, cause.constructor.name]
  const reason = names.find((name): name is string => typeof name === 'string' && NAME.test(name))
  return reason === undefined || reason === 'Error' ? {} : { reason }
}

const remedies: readonly (readonly [RegExp, Remedy])[] = [
  [/^(?:ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/, 'SESSION_STORE_UNREACHABLE'],
  [/^(?:42P01|42501|3D000|3F000|28P01|28000)$/, 'SESSION_STORE_NOT_SET_UP'],
  [/^(?:ClientClosedError|ClientOfflineError|SocketClosedUnexpectedlyError)$/, 'SESSION_STORE_NOT_CONNECTED'],
]

/** Calls the application's store. Throws its failures as `SESSION_STORE_FAILED`. */
export async function askStore<T>(operation: StoreOperation, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    // An error of this library has more details already.
    if (isIdpError(cause, 'SESSION_STORE_FAILED')) throw cause
    const { reason } = toReason(cause)
    const named = reason === undefined ? operation : `${operation}, ${reason}`
    const remedy = remedies.find(([pattern]) => reason !== undefined && pattern.test(reason))?.[1]
    throw new SessionStoreError('SESSION_STORE_FAILED', {
      cause,
      detail: `Operation: ${named}.`,
      operation,
      ...(reason === undefined ? {} : { reason }),
      ...(remedy ? { remedy } : {}),
    })
  }
}
