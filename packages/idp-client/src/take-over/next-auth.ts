import { hashToken } from '../crypto/random.ts'
import { invalidAtStart } from '../errors/configuration.ts'
import type { FormerLibraryOptions } from './former-library.ts'
import { createTakeOver } from './former-library.ts'
import type { OpenedJwe } from './open-jwe.ts'
import { isUser, toEarliest, toNonEmptyString, toTime, toTokens } from './shape.ts'
import type { FormerSession, FormerTokens, TakeOver } from './take-over.ts'

/** The content of a session cookie of next-auth 4: the token that the `jwt` callback of the application returned, and its times. */
export interface NextAuthToken {
  sub?: string
  name?: string | null
  email?: string | null
  picture?: string | null
  /** When the session was last used, seconds since the epoch. */
  iat: number
  /** When the session ends, seconds since the epoch. */
  exp: number
  [property: string]: unknown
}

/**
 * A session as `map` returns it. `createdAt` may be absent, since next-auth does not keep the time of the login. The compiler does not
 * know the types of a token, so claims, tokens and `createdAt` may be unknown. Claims and tokens of another type count as absent. A
 * session is refused if `createdAt` is neither a number nor undefined.
 */
export type NextAuthSession = Omit<FormerSession, 'createdAt' | 'user' | 'sid' | 'idToken' | 'tokens'> & {
  /** The claims of the user. A session without `sub` is not taken over. */
  user: { readonly [claim: string]: unknown }
  createdAt?: unknown
  sid?: unknown
  idToken?: unknown
  tokens?: { readonly [Name in keyof FormerTokens]: unknown } | undefined
}

/** Options of `nextAuth`. */
export interface NextAuthTakeOver extends FormerLibraryOptions {
  /**
   * Returns the session of a token, or null to refuse it. A token contains what the `jwt` callback of the application put there, so
   * only the application knows its names. Without `createdAt` the time of the last use is the time of the login; without `createdAt` and `id`
   * the cookie itself identifies the session.
   */
  map(token: NextAuthToken): NextAuthSession | null | Promise<NextAuthSession | null>
}

const NAMES = ['__Secure-next-auth.session-token', 'next-auth.session-token']

/** Properties of `state`, `nonce` and PKCE cookies. Up to version 4.24.4 they are encrypted with the key of sessions. */
const TRANSACTION_CONTENT = new Set([
  'value',
  'provider',
  'state',
  'nonce',
  'code_verifier',
  'iat',
  'exp',
  'jti',
])

/**
 * Takes over the sessions of `next-auth`, version 4, of the strategy `jwt`. `secret` is the former `NEXTAUTH_SECRET`. The default of
 * `cookieName` is `__Secure-next-auth.session-token`, which next-auth uses on https, and `next-auth.session-token`.
 *
 * @throws InvalidConfigurationError if a secret is shorter than 32 characters, or `map` is not a function
 */
export function nextAuth(options: NextAuthTakeOver): TakeOver {
  const { map } = options
  if (typeof map !== 'function')
    throw invalidAtStart(
      'The property map of takeOver (next-auth) must be a function that returns the session of a token: { user, tokens, … }.',
    )
  const library = {
    name: 'next-auth',
    cookies: NAMES,
    separators: ['.'],
    info: 'NextAuth.js Generated Encryption Key',
    async toSession({ payload }: OpenedJwe, cookie: string): Promise<FormerSession | null> {
      const token = toToken(payload)
      const mapped = token && (await map(token))
      return mapped && complete(mapped, token, cookie)
    },
  }
  return createTakeOver(library, options)
}

function toToken(payload: OpenedJwe['payload']): NextAuthToken | null {
  const { iat: issued, exp: end } = payload
  const iat = toTime(issued)
  const exp = toTime(end)
  if (iat === undefined || exp === undefined) return null
  if (Object.keys(payload).every((name) => TRANSACTION_CONTENT.has(name))) return null
  return { ...payload, iat, exp }
}

async function complete(
  { user, ...session }: NextAuthSession,
  { iat, exp }: NextAuthToken,
  cookie: string,
): Promise<FormerSession | null> {
  if (!isUser(user)) return null
  const { createdAt = iat, expiresAt, idToken, sid, tokens, usedAt = iat } = session
  // Each use of the session changes iat, but not the cookie that a browser has until then.
  const id = session.id ?? (session.createdAt === undefined ? await hashToken(cookie, 32) : undefined)
  const known = {
    idToken: toNonEmptyString(idToken),
    sid: toNonEmptyString(sid),
    tokens: tokens && toTokens(tokens),
  }
  // `NaN` is refused, like every invalid time.
  const time = typeof createdAt === 'number' ? createdAt : Number.NaN
  return { ...session, ...known, user, createdAt: time, usedAt, id, expiresAt: toEarliest(exp, expiresAt) }
}
