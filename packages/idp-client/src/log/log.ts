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
  /** Correlation id of the request, also shown on failure pages; absent for what belongs to no request. */
  readonly id?: string
}

/** The effect of a failure on a request. */
interface OutcomeEvent extends Event<'LOGIN_FAILED' | 'CONNECT_FAILED' | 'REQUEST_FAILED'>, Diagnosis {}

export type OutcomeCode = OutcomeEvent['code']

interface ProviderFailure extends Event<'PROVIDER_FAILURE'>, Diagnosis {
  readonly endpoint: ProviderEndpoint
}

interface StoreFailureEvent extends Event<'SESSION_STORE_FAILED'>, Diagnosis {
  readonly operation: StoreOperation
}

/**
 * An event that the library reports. Every member is a name from a closed set, the name that a driver gave to a
 * failure, a number or our own text about options, so no token, cookie, e-mail or other input can get into a log.
 */
export type LogEvent =
  | (Event<'LOGIN_STARTED'> & {
      readonly method: 'redirect' | 'par'
      /** The redirect URI that must be registered at the provider, which shows an error page of its own for any other. */
      readonly redirectUri: string
    })
  | Event<'LOGIN_COMPLETED'>
  | OutcomeEvent
  | Event<'CONNECT_STARTED'>
  | Event<'CONNECT_COMPLETED'>
  | Event<'SESSION_ROLLED'>
  | (Event<'SESSION_SAVED'> & { readonly bytes: number; readonly cookies: number })
  /** A session was written without tokens that it can get again, or with more bytes than it should have. */
  | (Event<'SESSION_AT_LIMIT'> & {
      readonly leftOut: readonly string[]
      /** Bytes in cookies; absent where tokens are counted. */
      readonly bytes?: number
      readonly limit: number
    })
  | StoreFailureEvent
  | (Event<'LOGOUT'> & { readonly strategy: 'oidc' | 'v2' | 'local' })
  | (Event<'BACKCHANNEL_LOGOUT'> & { readonly ended: 'session' | 'user' })
  | ProviderFailure
  /** A refreshed ID token that could not be accepted: the tokens beside it were taken, user and ID token stay. */
  | (Event<'REFRESHED_ID_TOKEN_IGNORED'> & {
      readonly reason: 'keys' | 'time' | 'auth_time' | 'nonce'
    } & Pick<Diagnosis, 'detail' | 'remedy' | 'advice'>)
  | (Event<'CONFIGURATION' | 'NOTICE'> & { readonly message: string; readonly remedy?: Remedy })

/** Receives every event; must not throw (a throw is swallowed). Default: warnings and errors go to the console. */
export type Logger = (event: LogEvent) => void

/** One failure as two events: the error, and its effect on the request. */
export interface FailureEvents {
  readonly cause?: LogEvent
  readonly outcome?: LogEvent
}

export interface Log {
  emit(event: LogEvent): void
  /** A logger gets both events; the console gets one line, since both say the same. */
  emitFailure(events: FailureEvents): void
  /** Reports a `NOTICE` once per process and text: for conditions that every request would repeat. */
  once(message: string, remedy?: Remedy): void
  /**
   * Prints what the application's own code threw, whatever it says: to the console in development and tests, never to a
   * logger, and nowhere else.
   */
  printException(thrown: unknown): void
}

/** How many different notices a process remembers; texts are ours, so the bound only guards against a mistake of ours. */
const rememberedNotices = 500

function toText(event: LogEvent): string {
  if ('advice' in event) return `${event.detail} ${event.advice}`.replace(/\s*\n\s*/g, ' ')
  return 'message' in event ? event.message : JSON.stringify(event)
}

/** One line: what failed, for which request, at which endpoint; why; what helps, and where to read more. */
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
  // biome-ignore lint/suspicious/noConsole: the one place where events leave by default.
  if (isPrintable(event)) console[event.level](formatEvent(event))
}

/** A logger must never decide about a login: neither a throw nor a rejected promise gets out. */
function deliver(logger: (event: LogEvent) => unknown, event: LogEvent): void {
  try {
    Promise.resolve(logger(event)).catch(() => {})
  } catch {}
}

/**
 * The log of one client; without `logger` warnings and errors go to the console and the rest nowhere. `development` is
 * what `NODE_ENV` says.
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
      const told = shared('mark:notices/1', () => new Lru<string, true>(rememberedNotices))
      if (told.get(message)) return
      told.set(message, true)
      emit({ level: 'warn', code: 'NOTICE', message, ...(remedy ? { remedy } : {}) })
    },
    printException(thrown) {
      // biome-ignore lint/suspicious/noConsole: the developer's own exception, which no event may carry.
      if (development) console.error(thrown)
    },
  }
}
