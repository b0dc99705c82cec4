import { IdpError, isIdpError } from '../errors/base.ts'
import type { Diagnosis } from '../errors/diagnosis.ts'
import { diagnose, listCauses } from '../errors/diagnosis.ts'
import { shared } from '../lib/registry.ts'
import type { FailureEvents, Log, LogEvent, LogLevel, OutcomeCode } from './log.ts'

/** Parts of the protocol while the user has yet to do something on another device: no failure. */
const PENDING: ReadonlySet<string | undefined> = new Set(['authorization_pending', 'slow_down'])

function providerLevel({ error, providerError }: Diagnosis): LogLevel {
  if (error === 'MY_ACCOUNT_API_ERROR') return 'warn'
  if (error !== 'OAUTH_ERROR') return 'error'
  return providerError === 'mfa_required' ? 'info' : 'warn'
}

/**
 * The event about an error that itself says what the provider or the store did; undefined for every other. Reason and
 * remedy are those of the whole failure.
 */
function toEvent(error: IdpError, whole: IdpError, id: string | undefined): LogEvent | undefined {
  const told = { ...diagnose(whole), error: error.code }
  const { endpoint, operation, providerError } = told
  const request = id === undefined ? {} : { id }
  if (error.name === 'SessionStoreError' && operation)
    return { level: 'error', code: 'SESSION_STORE_FAILED', ...request, ...told, operation }
  const ofProvider = ['AccountApiError', 'DiscoveryError', 'OAuthError'].includes(error.name)
  if (!ofProvider || !endpoint || PENDING.has(providerError)) return undefined
  return { level: providerLevel(told), code: 'PROVIDER_FAILURE', ...request, ...told, endpoint }
}

/** Failures that are in the log: several requests may share one. */
const reported = (): WeakSet<IdpError> => shared('mark:reported-failures/1', () => new WeakSet())

/** The event about what lies at the bottom of a failure, unless it was reported already. */
function toCause(error: IdpError, id?: string): Pick<FailureEvents, 'cause'> {
  for (const each of listCauses(error)) {
    const cause = toEvent(each, error, id)
    if (!cause) continue
    if (reported().has(each)) return {}
    reported().add(each)
    return { cause }
  }
  return {}
}

export function asIdpError(thrown: unknown): IdpError {
  return isIdpError(thrown) ? thrown : new IdpError('INTERNAL_ERROR', { cause: thrown })
}

/**
 * Reports what the provider or the store did to an operation, once however many share it. For failures that are thrown
 * to the application, and for those that are overcome.
 */
export function reportFailure(log: Log, thrown: unknown): void {
  if (isIdpError(thrown)) log.emitFailure(toCause(thrown))
}

/** The effect of a failure on a request. */
export interface Outcome {
  readonly level: LogLevel
  readonly code: OutcomeCode
  readonly id?: string
}

/** Reports a failure with what it means for the request that it happened to. */
export function reportOutcome(log: Log, error: IdpError, { code, id, level }: Outcome): void {
  const request = id === undefined ? {} : { id }
  log.emitFailure({ ...toCause(error, id), outcome: { level, code, ...request, ...diagnose(error) } })
  if (error.code === 'INTERNAL_ERROR') log.printException(error.cause)
}

/** Routes whose failures are those of a login or a connection. */
const routeCodes: ReadonlyMap<string, OutcomeCode> = new Map([
  ['login', 'LOGIN_FAILED'],
  ['callback', 'LOGIN_FAILED'],
  ['connectAccount', 'CONNECT_FAILED'],
])

/** 401 and 403 are expected: log at info. Other 4xx are client errors: log at warn. */
function responseLevel(status: number): LogLevel {
  if (status === 401 || status === 403) return 'info'
  return status >= 400 && status < 500 ? 'warn' : 'error'
}

/** Reports a failure that a mounted route responded to. */
export function reportResponse(
  log: Log,
  error: IdpError,
  { id, route, status }: { readonly id: string; readonly route: string; readonly status: number },
): void {
  const code = routeCodes.get(route) ?? 'REQUEST_FAILED'
  reportOutcome(log, error, { level: responseLevel(status), code, id })
}
