import type { Diagnosis } from '../errors/diagnosis.ts'
import type { ProviderEndpoint } from '../errors/provider.ts'
import type { Remedy } from '../errors/remedies.ts'
import type { StoreOperation } from '../errors/session.ts'
import { Lru } from '../lib/lru.ts'
import { shared } from '../lib/registry.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

interface Event<Name extends string> {
  readonly level: LogLevel
  readonly code: Name
  /** Correlation id of the request, also shown on failure pages; absent for events without a request. */
  readonly id?: string
}

/** Effect of a failure on a request. */
interface OutcomeEvent extends Event<'LOGIN_FAILED' | 'CONNECT_FAILED' | 'REQUEST_FAILED'>, Diagnosis {}

export type OutcomeCode = OutcomeEvent['code']

interface ProviderFailure extends Event<'PROVIDER_FAILURE'>, Diagnosis {
  readonly endpoint: ProviderEndpoint
}

interface StoreFailureEvent extends Event<'SESSION_STORE_FAILED'>, Diagnosis {
  readonly operation: StoreOperation
}

/**
 * Events of the library. Every property is a name from a closed set, a driver's name for a failure, a number, or our
 * own text about options, so that no token, cookie, e-mail address or other input can get into a log.
 */
export type LogEvent =
  | (Event<'LOGIN_STARTED'> & {
      readonly method: 'redirect' | 'par'
      /** The redirect URI; it must be registered at the provider, which otherwise shows an error page of its own. */
      readonly redirectUri: string
    })
  | Event<'LOGIN_COMPLETED'>
  | OutcomeEvent
  | Event<'CONNECT_STARTED'>
  | Event<'CONNECT_COMPLETED'>
  | Event<'SESSION_ROLLED'>
  | (Event<'SESSION_SAVED'> & { readonly bytes: number; readonly cookies: number })
  /** A session was written without tokens that can be requested again, or exceeds its recommended size. */
  | (Event<'SESSION_AT_LIMIT'> & {
      readonly leftOut: readonly string[]
      /** Bytes in cookies; absent if the limit is a number of tokens. */
      readonly bytes?: number
      readonly limit: number
    })
  | StoreFailureEvent
  | (Event<'LOGOUT'> & { readonly strategy: 'oidc' | 'v2' | 'local' })
  | (Event<'BACKCHANNEL_LOGOUT'> & { readonly ended: 'session' | 'user' })
  | ProviderFailure
  /** A refreshed ID token was invalid: the other tokens were accepted, user and ID token are unchanged. */
  | (Event<'REFRESHED_ID_TOKEN_IGNORED'> & {
      readonly reason: 'keys' | 'time' | 'auth_time' | 'nonce'
    } & Pick<Diagnosis, 'detail' | 'remedy' | 'advice'>)
  | (Event<'CONFIGURATION' | 'NOTICE'> & { readonly message: string; readonly remedy?: Remedy })

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
  /** Logs a `NOTICE` once per process and message: for conditions that would repeat with every request. */
  once(message: string, remedy?: Remedy): void
  /**
   * Prints an exception of the application's own code unfiltered: only to the console, in development and tests, never
   * to a logger.
   */
  printException(thrown: unknown): void
}

/** Maximum number of notices to remember. The messages are our own, so the limit only guards against a bug. */
const rememberedNotices = 500

function toText(event: LogEvent): string {
  if ('advice' in event) return `${event.detail} ${event.advice}`.replace(/\s*\n\s*/g, ' ')
  return 'message' in event ? event.message : JSON.stringify(event)
}

/** Formats an event as one line: code, request, endpoint, cause, fix, and where to read more. */
export function formatEvent(event: LogEvent): string {
  const { code, id } = event
  const endpoint = 'endpoint' in event ? ` at ${event.endpoint}` : ''
  const more = 'remedy' in event && event.remedy ? ` (troubleshooting: ${event.remedy})` : ''
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
    Promise.resolve(logger(event)).catch(() => {})
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
    once(message, remedy) {
      const notices = shared('mark:notices/1', () => new Lru<string, true>(rememberedNotices))
      if (notices.get(message)) return
      notices.set(message, true)
      emit({ level: 'warn', code: 'NOTICE', message, ...(remedy ? { remedy } : {}) })
    },
    printException(thrown) {
      // biome-ignore lint/suspicious/noConsole: the developer's own exception, which no event may carry.
      if (development) console.error(thrown)
    },
  }
}
