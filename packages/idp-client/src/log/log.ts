import { toGuideUrl } from '../errors/advice.ts'
import type { Code } from '../errors/code.ts'
import type { Diagnosis } from '../errors/diagnosis.ts'
import type { ProviderEndpoint } from '../errors/provider.ts'
import type { Remedy } from '../errors/remedy.ts'
import type { StoreOperation } from '../errors/session.ts'
import { Lru } from '../lib/lru.ts'
import { defined } from '../lib/objects.ts'
import { processWide } from '../lib/registry.ts'

/**
 * Why a former session was not taken over. `unreadable`: its cookies contain none, for example because the secret differs;
 * `reader`: `read` threw, took too long, or returned no session; `expired`; `ended`: by a logout; `other-client`: of another client
 * or provider; `organization`: not of the configured one; `keys`: metadata or keys of the provider could not be loaded, so the next
 * request tries again; `hook`: `beforeSessionSaved` threw or took too long.
 */
export type FormerRefusal =
  | 'ended'
  | 'expired'
  | 'hook'
  | 'keys'
  | 'organization'
  | 'other-client'
  | 'reader'
  | 'unreadable'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

/** The properties of each event beside `level`, `code` and `id`, by its code. */
export interface LogEventDetails {
  readonly LOGIN_STARTED: {
    readonly method: 'redirect' | 'par'
    /** The redirect URI; it must be registered at the provider, which otherwise shows an error page of its own. */
    readonly redirectUri: string
  }
  readonly LOGIN_COMPLETED: object
  readonly LOGIN_FAILED: Diagnosis
  readonly CONNECT_STARTED: object
  readonly CONNECT_COMPLETED: object
  readonly CONNECT_FAILED: Diagnosis
  /** Any other request that failed. */
  readonly REQUEST_FAILED: Diagnosis
  readonly PROVIDER_FAILURE: Diagnosis & {
    readonly endpoint: ProviderEndpoint
    /** The error of the operation that failed, such as `FAILED_TO_REFRESH_TOKEN`; `error` is that of its cause. */
    readonly outcome: Code
  }
  readonly SESSION_STORE_FAILED: Diagnosis & { readonly operation: StoreOperation }
  readonly SESSION_ROLLED: object
  readonly SESSION_SAVED: { readonly bytes: number; readonly cookies: number }
  /** A session was written without tokens that can be requested again, or exceeds its recommended size. */
  readonly SESSION_AT_LIMIT: {
    readonly leftOut: readonly string[]
    /** Bytes in cookies; absent if the limit is a number of tokens. */
    readonly bytes?: number
    readonly limit: number
  }
  /** The granted `authorization_details` of an access token are too large for a session in cookies, which is written without them. */
  readonly AUTHORIZATION_DETAILS_LEFT_OUT: {
    /** Bytes of the JSON. */
    readonly bytes: number
    /** That of the details of one token, or `session.cookie.maxBytes` if the whole session exceeds that. */
    readonly limit: number
    /** The audience of the token; absent for the main one. */
    readonly audience?: string
  }
  readonly LOGOUT: { readonly strategy: 'oidc' | 'v2' | 'local' }
  readonly BACKCHANNEL_LOGOUT: { readonly ended: 'session' | 'user' }
  /** A front-channel logout was processed, whether there was such a session or not. */
  readonly FRONTCHANNEL_LOGOUT: object
  /** A session of the former library was taken over (`takeOver`). */
  readonly SESSION_TAKEN_OVER: { readonly library: string }
  /** A former session was not taken over: at most one event per reason and minute; `more` were refused since the last one. */
  readonly SESSION_NOT_TAKEN_OVER: {
    readonly library: string
    readonly reason: FormerRefusal
    readonly more: number
  }
  /** A refreshed ID token was invalid: the other tokens were accepted, user and ID token are unchanged. */
  readonly REFRESHED_ID_TOKEN_IGNORED: Pick<Diagnosis, 'detail' | 'remedy' | 'advice'> & {
    readonly reason: 'keys' | 'time' | 'auth_time' | 'nonce' | 'organization'
  }
  /** A refreshed ID token has a `session.expiryClaim` that is not an integer: the session keeps its end. */
  readonly SESSION_EXPIRY_IGNORED: {
    readonly detail: string
    readonly remedy: Remedy
    readonly advice: string
  }
  readonly CONFIGURATION: { readonly message: string; readonly remedy?: Remedy }
  readonly NOTICE: { readonly message: string; readonly remedy?: Remedy }
}

/**
 * Events of the library. Every property is a name from a closed set, a driver's name for a failure, a number, or a
 * text of the library about options, so that no token, cookie, e-mail address or other input can get into a log.
 */
export type LogEvent = {
  readonly [EventCode in keyof LogEventDetails]: LogEventDetails[EventCode] & {
    readonly level: LogLevel
    readonly code: EventCode
    /** Correlation id of the request, also shown on failure pages; absent for events without a request. */
    readonly id?: string
  }
}[keyof LogEventDetails]

/** Codes of the events that report the effect of a failure on a request. */
export type OutcomeCode = 'LOGIN_FAILED' | 'CONNECT_FAILED' | 'REQUEST_FAILED'

/** Receives every event; must not throw (exceptions are ignored). Default: warnings and errors go to the console. */
export type Logger = (event: LogEvent) => void

/** One failure as two events: its cause, and its effect on the request. */
export interface FailureEvents {
  readonly cause?: LogEvent
  readonly outcome?: LogEvent
}

export interface Log {
  emit(event: LogEvent): void
  /** Passes both events to a logger; prints one line to the console, because both have the same text. */
  emitFailure(events: FailureEvents): void
  /**
   * Logs a `NOTICE` once per process and `subject`, by default the message: for conditions that would repeat with every
   * request.
   */
  once(message: string, remedy?: Remedy, subject?: string): void
  /**
   * Prints an exception of the application's own code unfiltered: only to the console, in development and tests, never
   * to a logger.
   */
  printException(thrown: unknown): void
}

/** Maximum number of notices to remember. The messages are our own, so the limit only guards against a bug. */
const MAX_NOTICES = 500

function toText(event: LogEvent): string {
  if ('advice' in event) return `${event.detail} ${event.advice}`.replace(/\s*\n\s*/g, ' ')
  return 'message' in event ? event.message : JSON.stringify(event)
}

/** Formats an event as one line: code, request, endpoint, cause, fix, and where to read more. */
export function formatEvent(event: LogEvent): string {
  const { code, id } = event
  const endpoint = 'endpoint' in event ? ` at ${event.endpoint}` : ''
  const more = 'remedy' in event && event.remedy ? ` See ${toGuideUrl(event.remedy)}` : ''
  return `idp-client: ${code}${id === undefined ? '' : ` [${id}]`}${endpoint}: ${toText(event)}${more}`
}

function isPrintable(event: LogEvent): event is LogEvent & { readonly level: 'warn' | 'error' } {
  return event.level === 'warn' || event.level === 'error'
}

function toConsole(event: LogEvent): void {
  // biome-ignore lint/suspicious/noConsole: the default output of events.
  if (isPrintable(event)) console[event.level](formatEvent(event))
}

/** Calls a logger and ignores exceptions and rejected promises: a logger must never affect a login. */
function deliver(logger: (event: LogEvent) => unknown, event: LogEvent): void {
  try {
    const result = logger(event)
    if (typeof result === 'object' && result !== null) Promise.resolve(result).catch(() => {})
  } catch {}
}

/**
 * Creates the log of one client. Without `logger`, warnings and errors go to the console, other events are dropped.
 * `development` follows `NODE_ENV`.
 */
export function createLog(logger?: Logger, development = false): Log {
  const emit = (event: LogEvent): void => deliver(logger ?? toConsole, event)
  return {
    emit,
    emitFailure({ cause, outcome }) {
      const isPrinted = outcome && isPrintable(outcome)
      if (cause && (logger || !isPrinted)) emit(cause)
      if (outcome) emit(outcome)
    },
    once(message, remedy, subject = message) {
      const notices = processWide('mark:notices/1', () => new Lru<string, true>(MAX_NOTICES))
      if (notices.get(subject)) return
      notices.set(subject, true)
      emit(defined({ level: 'warn', code: 'NOTICE', message, remedy }))
    },
    printException(thrown) {
      // biome-ignore lint/suspicious/noConsole: the developer's own exception, which no event may carry.
      if (development) console.error(thrown)
    },
  }
}
