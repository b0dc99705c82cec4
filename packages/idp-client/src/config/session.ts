import type { SessionConfig, TransactionConfig } from './config.ts'
import type { CookieContext } from './cookies.ts'
import { isPlainHttp, readCookieName, resolveCookie } from './cookies.ts'
import type { Env } from './env.ts'
import type { NumberRow } from './option-rows.ts'
import type { IdpClientOptions, SessionDataStore } from './options.ts'
import type { AddIssue, Field } from './readers.ts'
import { getField, invalid, isPresent, readFlag, readNumber, toField, withRow } from './readers.ts'

const CLEAR_TEXT =
  'appBaseUrl (APP_BASE_URL) is http in production: the session cookie is sent in clear text, so that others on the network ' +
  'can use it. Serve https. If the network itself protects the connection, session.cookie.secure: false ' +
  '(IDP_COOKIE_SECURE=false) turns this notice off.'

export function resolveSession(
  options: IdpClientOptions,
  env: Env,
  around: CookieContext,
  addIssue: AddIssue,
): SessionConfig {
  const name = readCookieName(getField('session.cookie.name', options), addIssue)
  const rolling = readFlag(getField('session.rolling', options), addIssue)
  const inactivity: Field<NumberRow> = getField('session.inactivityDuration', options)
  const cookie = resolveCookie(
    {
      name,
      secure: getField('session.cookie.secure', options, env),
      sameSite: getField('session.cookie.sameSite', options, env),
      path: getField('session.cookie.path', options, env),
      domain: getField('session.cookie.domain', options, env),
    },
    around,
    addIssue,
  )
  if (around.production && cookie.secure === 'from-base-url' && isPlainHttp(around.appBaseUrl))
    addIssue('notice', CLEAR_TEXT)
  return {
    rolling,
    absoluteDuration: readNumber(getField('session.absoluteDuration', options), addIssue),
    // Without rolling it does not count.
    inactivityDuration: readNumber(rolling ? inactivity : withRow(inactivity, { min: 0 }), addIssue),
    cookie: {
      ...cookie,
      name,
      transient: readFlag(getField('session.cookie.transient', options, env), addIssue),
      maxBytes: readNumber(getField('session.cookie.maxBytes', options), addIssue),
    },
  }
}

interface TransactionSurroundings extends CookieContext {
  readonly sessionCookieName: string
  /** The provider responds with a POST from its own site (`response_mode=form_post`). */
  readonly crossSitePost: boolean
}

export function resolveTransaction(
  options: IdpClientOptions,
  around: TransactionSurroundings,
  addIssue: AddIssue,
): TransactionConfig {
  const prefixField = getField('transactionCookie.prefix', options)
  const prefix = readCookieName(prefixField, addIssue)
  const { sessionCookieName } = around
  if (sessionCookieName.startsWith(prefix) || prefix.startsWith(`${sessionCookieName}__`)) {
    invalid(
      prefixField,
      addIssue,
      'must not be what session.cookie.name begins with, nor begin with that and two underscores, since logout clears all such cookies',
    )
  }
  return {
    parallel: readFlag(getField('enableParallelTransactions', options), addIssue),
    cookie: {
      ...resolveCookie(
        {
          name: prefix,
          secure: getField('transactionCookie.secure', options),
          sameSite: getField('transactionCookie.sameSite', options),
          path: getField('transactionCookie.path', options),
          crossSitePost: around.crossSitePost,
        },
        around,
        addIssue,
      ),
      prefix,
      maxAge: readNumber(getField('transactionCookie.maxAge', options), addIssue),
    },
  }
}

/** Two requests to the provider (one for a DPoP nonce), two waits for a store that is away, and a second of our own. */
function longestRefresh(httpTimeout: number): number {
  return 2 * httpTimeout + 5000
}

/** How long a session may be locked: not shorter than a refresh, or a second process would use its refresh token. */
export function resolveLockTimeout(
  options: IdpClientOptions,
  httpTimeout: number,
  addIssue: AddIssue,
): number {
  const field: Field<NumberRow> = getField('sessionLockTimeout', options)
  const needed = longestRefresh(httpTimeout)
  const fallback = Math.max(field.row.default, needed)
  const timeout = readNumber(withRow(field, { default: fallback }), addIssue)
  if (timeout < needed) {
    addIssue(
      'notice',
      `sessionLockTimeout is too short: with this httpTimeout a refresh may take ${needed} ms, and when the lock ends ` +
        'before that, another process uses the same refresh token.',
    )
  }
  return timeout
}

const required = ['get', 'set', 'delete'] as const
const optional = [
  'deleteByLogoutToken',
  'update',
  'lock',
  'listBySubject',
  'deleteBySubject',
  'once',
  'endedAt',
] as const

/** Returns a hint for a value that is not a store: one of our factory functions, or the client of a driver. */
function toHint(given: unknown): string {
  if (typeof given === 'function') return '; this is a function: call it, as in memoryStore()'
  if (typeof given !== 'object' || given === null) return ''
  if ('sendCommand' in given) return '; this is a client of a driver: pass redisStore(client)'
  return 'query' in given ? '; this is a client of a driver: pass postgresStore(pool)' : ''
}

/** Checks the shape only; a store is the application's object and is never copied or frozen. */
export function resolveSessionStore(
  options: IdpClientOptions,
  addIssue: AddIssue,
): SessionDataStore | undefined {
  const store = options.sessionStore
  if (!isPresent(store) || store === undefined) return undefined
  const field = toField('sessionStore', store)
  if (typeof store !== 'object' || required.some((name) => typeof store[name] !== 'function')) {
    return invalid(
      field,
      addIssue,
      `must be an object with the functions get, set and delete${toHint(store)}`,
    )
  }
  const wrong = optional.find((name) => store[name] !== undefined && typeof store[name] !== 'function')
  return wrong ? invalid(field, addIssue, `has a member ${wrong} that is no function`) : store
}
