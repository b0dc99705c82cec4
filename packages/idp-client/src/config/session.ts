import { defined } from '../lib/objects.ts'
import type { SessionConfig, TransactionConfig } from './config.ts'
import type { CookieContext } from './cookies.ts'
import { isPlainHttp, readCookieName, resolveCookie } from './cookies.ts'
import type { NumberRow } from './option-rows.ts'
import type { SessionDataStore } from './options.ts'
import type { Field, Source } from './readers.ts'
import {
  getField,
  invalid,
  isPresent,
  notice,
  readFlag,
  readNumber,
  readText,
  toField,
  withRow,
} from './readers.ts'

const CLEAR_TEXT =
  'appBaseUrl (APP_BASE_URL) is http in production: the session cookie is sent in clear text, so that others on the network ' +
  'can use it. Serve https. If the network itself protects the connection, session.cookie.secure: false ' +
  '(IDP_COOKIE_SECURE=false) turns this notice off.'

export function resolveSession(source: Source, around: CookieContext): SessionConfig {
  const name = readCookieName(getField('session.cookie.name', source))
  const rolling = readFlag(getField('session.rolling', source))
  const inactivity: Field<NumberRow> = getField('session.inactivityDuration', source)
  const cookie = resolveCookie(
    {
      name,
      secure: getField('session.cookie.secure', source),
      sameSite: getField('session.cookie.sameSite', source),
      path: getField('session.cookie.path', source),
      domain: getField('session.cookie.domain', source),
    },
    around,
  )
  if (around.production && cookie.secure === 'from-base-url' && isPlainHttp(around.appBaseUrl))
    source.addIssue('notice', CLEAR_TEXT)
  return defined({
    rolling,
    absoluteDuration: readNumber(getField('session.absoluteDuration', source)),
    // Without rolling it does not count.
    inactivityDuration: readNumber(rolling ? inactivity : withRow(inactivity, { min: 0 })),
    expiryClaim: readText(getField('session.expiryClaim', source)),
    cookie: {
      ...cookie,
      name,
      transient: readFlag(getField('session.cookie.transient', source)),
      maxBytes: readNumber(getField('session.cookie.maxBytes', source)),
    },
  })
}

interface TransactionSurroundings extends CookieContext {
  readonly sessionCookieName: string
  /** The provider responds with a POST from its own site (`response_mode=form_post`). */
  readonly crossSitePost: boolean
}

export function resolveTransaction(source: Source, around: TransactionSurroundings): TransactionConfig {
  const prefixField = getField('transactionCookie.prefix', source)
  const prefix = readCookieName(prefixField)
  const { sessionCookieName } = around
  if (sessionCookieName.startsWith(prefix) || prefix.startsWith(`${sessionCookieName}__`)) {
    invalid(
      prefixField,
      'must not be what session.cookie.name begins with, nor begin with that and two underscores, since logout clears all such cookies',
    )
  }
  return {
    parallel: readFlag(getField('enableParallelTransactions', source)),
    cookie: {
      ...resolveCookie(
        {
          name: prefix,
          secure: getField('transactionCookie.secure', source),
          sameSite: getField('transactionCookie.sameSite', source),
          path: getField('transactionCookie.path', source),
          crossSitePost: around.crossSitePost,
        },
        around,
      ),
      prefix,
      maxAge: readNumber(getField('transactionCookie.maxAge', source)),
    },
  }
}

/** How long a session may be locked: not shorter than a refresh, or a second process would use its refresh token. */
export function resolveLockTimeout(source: Source, httpTimeout: number): number {
  const field: Field<NumberRow> = getField('sessionLockTimeout', source)
  // Two requests to the provider (one for a DPoP nonce), two waits for a store that is away, and a second of our own.
  const needed = 2 * httpTimeout + 5000
  const fallback = Math.max(field.row.default, needed)
  const timeout = readNumber(withRow(field, { default: fallback }))
  if (timeout < needed) {
    notice(
      field,
      `is too short: with this httpTimeout a refresh may take ${needed} ms, and when the lock ends before that, another ` +
        'process uses the same refresh token',
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
  'rememberEnd',
] as const

/** Returns a hint for a value that is not a store: one of our factory functions, or the client of a driver. */
function toHint(given: unknown): string {
  if (typeof given === 'function') return '; this is a function: call it, as in memoryStore()'
  if (typeof given !== 'object' || given === null) return ''
  if ('sendCommand' in given) return '; this is a client of a driver: pass redisStore(client)'
  return 'query' in given ? '; this is a client of a driver: pass postgresStore(pool)' : ''
}

/** Checks the shape only; a store is the application's object and is never copied or frozen. */
export function resolveSessionStore(source: Source): SessionDataStore | undefined {
  const store = source.options.sessionStore
  if (!isPresent(store) || store === undefined) return undefined
  const field = toField('sessionStore', store, source)
  if (typeof store !== 'object' || required.some((name) => typeof store[name] !== 'function')) {
    return invalid(field, `must be an object with the functions get, set and delete${toHint(store)}`)
  }
  const wrong = optional.find((name) => store[name] !== undefined && typeof store[name] !== 'function')
  return wrong ? invalid(field, `has a member ${wrong} that is no function`) : store
}
