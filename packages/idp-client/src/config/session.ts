import type { SessionConfig, TransactionConfig } from './config.ts'
import type { CookieContext } from './cookies.ts'
import { readCookieName, resolveCookie } from './cookies.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions, SessionDataStore } from './options.ts'
import type { AddIssue, Field } from './readers.ts'
import { field, invalid, isPresent, longestTimer, readFlag, readGroup, readNumber } from './readers.ts'

/** Browsers keep no cookie longer than 400 days (RFC 6265bis section 5.5); more would be cut off in silence. */
const longestCookie = 400 * 24 * 60 * 60

function readLifetime(setting: Field, fallback: number, addIssue: AddIssue, min = 1): number {
  return readNumber(setting, { min, max: longestCookie, unit: 'seconds' }, addIssue) ?? fallback
}

export function resolveSession(
  options: IdpClientOptions,
  env: Env,
  around: CookieContext,
  addIssue: AddIssue,
): SessionConfig {
  const given = readGroup('session', options.session, addIssue)
  const cookie = readGroup('session.cookie', given.cookie, addIssue)
  const name = readCookieName(field('session.cookie.name', cookie.name), '__session', addIssue)
  const bytes = field('session.cookie.maxBytes', cookie.maxBytes)
  const rolling = readFlag(field('session.rolling', given.rolling), addIssue) ?? true
  return {
    rolling,
    absoluteDuration: readLifetime(
      field('session.absoluteDuration', given.absoluteDuration),
      259_200,
      addIssue,
    ),
    inactivityDuration: readLifetime(
      field('session.inactivityDuration', given.inactivityDuration),
      86_400,
      addIssue,
      // Without rolling it does not count.
      rolling ? 1 : 0,
    ),
    cookie: {
      ...resolveCookie(
        {
          name,
          secure: field('session.cookie.secure', cookie.secure, env, 'IDP_COOKIE_SECURE'),
          sameSite: field('session.cookie.sameSite', cookie.sameSite, env, 'IDP_COOKIE_SAME_SITE'),
          path: field('session.cookie.path', cookie.path, env, 'IDP_COOKIE_PATH'),
          domain: field('session.cookie.domain', cookie.domain, env, 'IDP_COOKIE_DOMAIN'),
        },
        around,
        addIssue,
      ),
      name,
      transient:
        readFlag(
          field('session.cookie.transient', cookie.transient, env, 'IDP_COOKIE_TRANSIENT'),
          addIssue,
        ) ?? false,
      maxBytes: readNumber(bytes, { min: 1, max: 1_000_000, unit: 'bytes' }, addIssue) ?? 7000,
    },
  }
}

interface TransactionSurroundings extends CookieContext {
  readonly sessionCookieName: string
  /** The provider answers by a POST from its own site (`response_mode=form_post`). */
  readonly crossSitePost: boolean
}

export function resolveTransaction(
  options: IdpClientOptions,
  around: TransactionSurroundings,
  addIssue: AddIssue,
): TransactionConfig {
  const given = readGroup('transactionCookie', options.transactionCookie, addIssue)
  const prefixField = field('transactionCookie.prefix', given.prefix)
  const prefix = readCookieName(prefixField, '__txn_', addIssue)
  const { sessionCookieName } = around
  if (sessionCookieName.startsWith(prefix) || prefix.startsWith(`${sessionCookieName}__`)) {
    invalid(
      prefixField,
      addIssue,
      'must not be what session.cookie.name begins with, nor begin with that and two underscores, since logout clears all such cookies',
    )
  }
  const parallel = field('enableParallelTransactions', options.enableParallelTransactions)
  return {
    parallel: readFlag(parallel, addIssue) ?? true,
    cookie: {
      ...resolveCookie(
        {
          name: prefix,
          secure: field('transactionCookie.secure', given.secure),
          sameSite: field('transactionCookie.sameSite', given.sameSite),
          path: field('transactionCookie.path', given.path),
          crossSitePost: around.crossSitePost,
        },
        around,
        addIssue,
      ),
      prefix,
      maxAge: readLifetime(field('transactionCookie.maxAge', given.maxAge), 3600, addIssue),
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
  const setting = field('sessionLockTimeout', options.sessionLockTimeout)
  const given = readNumber(setting, { min: 1, max: longestTimer, unit: 'milliseconds' }, addIssue)
  const needed = longestRefresh(httpTimeout)
  const timeout = given ?? Math.max(longestRefresh(5000), needed)
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

/** What it may be instead of a store: one of our functions that make one, or the client of a driver. */
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
  const setting = field('sessionStore', store)
  if (typeof store !== 'object' || required.some((name) => typeof store[name] !== 'function')) {
    return invalid(
      setting,
      addIssue,
      `must be an object with the functions get, set and delete${toHint(store)}`,
    )
  }
  const wrong = optional.find((name) => store[name] !== undefined && typeof store[name] !== 'function')
  return wrong ? invalid(setting, addIssue, `has a member ${wrong} that is no function`) : store
}
