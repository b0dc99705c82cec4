import { IdpError, isIdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { diagnose, listCauses } from '../errors/diagnosis.ts'
import { markReported } from '../errors/error-state.ts'
import type { FailureEvents, Log, LogEvent, LogLevel, OutcomeCode } from './log.ts'

/** Expected responses while the user has yet to act on another device. */
const PENDING: ReadonlySet<string | undefined> = new Set(['authorization_pending', 'slow_down'])

/** With a status of its own the error is a failure of the provider (429, 5xx), whatever it responds; without one a decision. */
function providerLevel({ code, status }: IdpError, providerError: string | undefined): LogLevel {
  if (status !== undefined) return 'error'
  if (code === 'MY_ACCOUNT_API_ERROR') return 'warn'
  if (code !== 'OAUTH_ERROR') return 'error'
  return providerError === 'mfa_required' ? 'info' : 'warn'
}

/**
 * Returns the event of a provider or store error, or `undefined` for any other error. Cause and fix are those of the
 * whole failure.
 */
function toEvent(error: IdpError, whole: IdpError, id: string | undefined): LogEvent | undefined {
  const diagnosis = { ...diagnose(whole), error: error.code }
  const { endpoint, operation, providerError } = diagnosis
  const request = id === undefined ? {} : { id }
  if (error.name === 'SessionStoreError' && operation)
    return { level: 'error', code: 'SESSION_STORE_FAILED', ...request, ...diagnosis, operation }
  const isProviderFailure = ['AccountApiError', 'DiscoveryError', 'OAuthError'].includes(error.name)
  if (!isProviderFailure || !endpoint || PENDING.has(providerError)) return undefined
  const level = providerLevel(error, providerError)
  return { level, code: 'PROVIDER_FAILURE', ...request, ...diagnosis, endpoint, outcome: whole.code }
}

/** Returns the event of the root cause of a failure, unless it was already logged, and marks the cause as logged. */
function takeUnreportedCause(error: IdpError, id?: string): Pick<FailureEvents, 'cause'> {
  for (const each of listCauses(error)) {
    const cause = toEvent(each, error, id)
    if (cause) return markReported(each) ? { cause } : {}
  }
  return {}
}

/** Returns the error as it is if this copy of the package has its code: another copy may be newer. */
export function asIdpError(thrown: unknown): IdpError {
  const isKnown = isIdpError(thrown) && Object.hasOwn(codes, thrown.code)
  return isKnown ? thrown : new IdpError('INTERNAL_ERROR', { cause: thrown })
}

/**
 * Logs a failure of the provider or the store, once for all operations that share it. For failures that are thrown to
 * the application, and for those that are handled.
 */
export function reportFailure(log: Log, thrown: unknown): void {
  if (isIdpError(thrown)) log.emitFailure(takeUnreportedCause(thrown))
}

/** Effect of a failure on a request. */
export interface Outcome {
  readonly level: LogLevel
  readonly code: OutcomeCode
  readonly id?: string
  /** A sentence to add to the detail. */
  readonly note?: string
}

/** Logs a failure and its effect on the request. */
export function reportOutcome(log: Log, error: IdpError, { code, id, level, note }: Outcome): void {
  const request = id === undefined ? {} : { id }
  const diagnosis = diagnose(error)
  const detail = note === undefined ? diagnosis.detail : `${diagnosis.detail} ${note}`
  const outcome: Extract<LogEvent, { readonly code: OutcomeCode }> = {
    level,
    code,
    ...request,
    ...diagnosis,
    detail,
  }
  log.emitFailure({ ...takeUnreportedCause(error, id), outcome })
  if (error.code === 'INTERNAL_ERROR') log.printException(error.cause)
}

/** Outcome codes of routes that belong to a login or a connection. */
const routeCodes: ReadonlyMap<string | undefined, OutcomeCode> = new Map([
  ['login', 'LOGIN_FAILED'],
  ['callback', 'LOGIN_FAILED'],
  ['connectAccount', 'CONNECT_FAILED'],
])

/** 401 and 403 are expected: log at info. Other 4xx are client errors: log at warn. */
function responseLevel(status: number): LogLevel {
  if (status === 401 || status === 403) return 'info'
  return status >= 400 && status < 500 ? 'warn' : 'error'
}

/** Logs a failure that a mounted route, or without `route` a guard, responded to. */
export function reportResponse(
  log: Log,
  error: IdpError,
  { id, route, status }: { readonly id: string; readonly route?: string; readonly status: number },
): void {
  const code = routeCodes.get(route) ?? 'REQUEST_FAILED'
  reportOutcome(log, error, { level: responseLevel(status), code, id })
}
