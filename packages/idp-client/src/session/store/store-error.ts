import type { Remedy } from '../../errors/remedy.ts'
import type { StoreOperation } from '../../errors/session.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { defined } from '../../lib/objects.ts'

/* Codes of Node.js, SQLSTATE and names of classes. Matches neither record ids, which are longer, nor e-mail addresses. */
const NAME = /^[A-Za-z][A-Za-z_]{0,31}$|^[0-9A-Z]{5}$/

const remedies: readonly (readonly [RegExp, Remedy])[] = [
  [/^(?:ECONN|ENOTFOUND|EAI_|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)/, 'SESSION_STORE_UNREACHABLE'],
  [
    /^(?:MaxRetriesPerRequest|ClientOffline|SocketClosedUnexpectedly|RootNodesUnavailable|\w*Timeout)Error$/,
    'SESSION_STORE_UNREACHABLE',
  ],
  [/^(?:42P01|42501|3D000|3F000|28P01|28000|NOAUTH|NOPERM|WRONGPASS)$/, 'SESSION_STORE_NOT_SET_UP'],
  [/^ClientClosedError$/, 'SESSION_STORE_NOT_CONNECTED'],
]

/* Redis has no other name for its errors than the first word of the message. */
const REDIS_ERROR = /^(?:CLUSTERDOWN|LOADING|MASTERDOWN|MISCONF|NOAUTH|NOPERM|OOM|READONLY|WRONGPASS)(?= )/

/* Errors of ioredis without a name. */
const IOREDIS_OFFLINE =
  /^(?:Command timed out|Connection is closed\.|(?:Cluster isn't ready|Stream isn't writeable) and .*)$/

/** Returns the code or the class of a driver's error. Its message may contain the record. */
function toReason(cause: unknown): string | undefined {
  if (!(cause instanceof Error)) return undefined
  const names: unknown[] = [
    'code' in cause ? cause.code : undefined,
    REDIS_ERROR.exec(cause.message)?.[0],
    cause.constructor.name,
  ]
  const reason = names.find((name): name is string => typeof name === 'string' && NAME.test(name))
  return reason === 'Error' ? undefined : reason
}

function toRemedy(cause: unknown, reason: string | undefined): Remedy | undefined {
  if (reason !== undefined) return remedies.find(([pattern]) => pattern.test(reason))?.[1]
  return cause instanceof Error && IOREDIS_OFFLINE.test(cause.message)
    ? 'SESSION_STORE_UNREACHABLE'
    : undefined
}

/** Returns the error to throw for a failure of a store. */
export function toStoreError(operation: StoreOperation, cause: unknown): SessionStoreError {
  // An error of this library has more details already.
  if (cause instanceof SessionStoreError) return cause
  const reason = toReason(cause)
  return new SessionStoreError('SESSION_STORE_FAILED', {
    cause,
    detail: `Operation: ${reason === undefined ? operation : `${operation}, ${reason}`}.`,
    operation,
    ...defined({ reason, remedy: toRemedy(cause, reason) }),
  })
}
