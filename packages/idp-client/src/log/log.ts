import type { Code } from '../errors/codes.ts'
import { Lru } from '../lib/lru.ts'
import { shared } from '../lib/registry.ts'

export type LogLevel = 'debug' | 'info' | 'warn' | 'error'

interface Event<Name extends string> {
  readonly level: LogLevel
  readonly code: Name
  /** Correlation id of the request, also shown on failure pages; absent for what belongs to no request. */
  readonly id?: string
}

/** Which of the provider's endpoints a failure concerns. */
export type ProviderEndpoint =
  | 'discovery'
  | 'jwks'
  | 'par'
  | 'token'
  | 'userinfo'
  | 'revocation'
  | 'backchannel_authentication'
  | 'mfa_authenticators'
  | 'mfa_challenge'
  | 'mfa_associate'
  | 'end_session'
  | 'account'

/**
 * What the library reports. Every member is a name from a closed set, the name that a driver gave to a failure, a number
 * or our own text about options, so no token, cookie, e-mail or other input can get into a log.
 */
export type LogEvent =
  | (Event<'LOGIN_STARTED'> & { readonly method: 'redirect' | 'par' })
  | Event<'LOGIN_COMPLETED'>
  | (Event<'LOGIN_FAILED'> & { readonly error: Code; readonly providerError?: string })
  | Event<'CONNECT_STARTED'>
  | Event<'CONNECT_COMPLETED'>
  | (Event<'CONNECT_FAILED'> & { readonly error: Code; readonly providerError?: string })
  | Event<'SESSION_ROLLED'>
  | (Event<'SESSION_SAVED'> & { readonly bytes: number; readonly cookies: number })
  | (Event<'SESSION_STORE_FAILED'> & {
      readonly operation: 'get' | 'set' | 'delete' | 'update' | 'lock' | 'list' | 'logout' | 'once'
      /** What the driver calls its failure: a code as `ECONNREFUSED` or `42P01`, else the class of the error. */
      readonly reason?: string
    })
  | (Event<'LOGOUT'> & { readonly strategy: 'oidc' | 'v2' | 'local' })
  | (Event<'BACKCHANNEL_LOGOUT'> & { readonly ended: 'session' | 'user' })
  | (Event<'PROVIDER_FAILURE'> & {
      readonly endpoint: ProviderEndpoint
      readonly error: Code
      readonly status?: number
    })
  /** A refreshed ID token that could not be accepted: the tokens beside it were taken, user and ID token stay. */
  | (Event<'REFRESHED_ID_TOKEN_IGNORED'> & {
      readonly reason: 'keys' | 'time' | 'auth_time' | 'nonce'
      readonly detail: string
    })
  | (Event<'REQUEST_FAILED'> & { readonly error: Code })
  | (Event<'CONFIGURATION'> & { readonly message: string })
  | (Event<'NOTICE'> & { readonly message: string })

/** Receives every event; must not throw (a throw is swallowed). Default: warnings and errors go to the console. */
export type Logger = (event: LogEvent) => void

export interface Log {
  emit(event: LogEvent): void
  /** Reports a `NOTICE` once per process and text: for conditions that every request would repeat. */
  once(message: string): void
}

/** How many different notices a process remembers; texts are ours, so the bound only guards against a mistake of ours. */
const rememberedNotices = 500

function toConsole(event: LogEvent): void {
  if (event.level !== 'warn' && event.level !== 'error') return
  const { level, code, id, ...rest } = event
  const details = 'message' in rest ? rest.message : JSON.stringify(rest)
  const text = `idp-client: ${code}${id === undefined ? '' : ` [${id}]`}${details === '{}' ? '' : `: ${details}`}`
  // biome-ignore lint/suspicious/noConsole: the one place where events leave by default.
  console[level](text)
}

/** A logger must never decide about a login: neither a throw nor a rejected promise gets out. */
function deliver(logger: (event: LogEvent) => unknown, event: LogEvent): void {
  try {
    Promise.resolve(logger(event)).catch(() => {})
  } catch {}
}

/** The log of one client; without `logger` warnings and errors go to the console and the rest nowhere. */
export function createLog(logger: Logger = toConsole): Log {
  const emit = (event: LogEvent): void => deliver(logger, event)
  return {
    emit,
    once(message) {
      const told = shared('notices', () => new Lru<string, true>(rememberedNotices))
      if (told.get(message)) return
      told.set(message, true)
      emit({ level: 'warn', code: 'NOTICE', message })
    },
  }
}
