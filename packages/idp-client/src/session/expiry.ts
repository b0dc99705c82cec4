import type { Config } from '../config/config.ts'
import { toAdvice } from '../errors/advice.ts'
import { CallbackError } from '../errors/callback.ts'
import { OAuthError } from '../errors/provider.ts'
import { decodeClaims } from './model/claims.ts'
import type { StoredSession } from './model/stored-session.ts'

const DETAIL = 'The claim of session.expiryClaim is not an integer.'
const REMEDY = 'SESSION_EXPIRY_CLAIM'

/**
 * Reads the claim of `session.expiryClaim`. Returns the end of the session by our clock, in seconds since the epoch; `undefined`
 * without such a claim, `null` for any value but an integer.
 */
function readExpiry({ dpop, session }: Config, claims: object): number | null | undefined {
  const { expiryClaim = '' } = session
  if (!Object.hasOwn(claims, expiryClaim)) return undefined
  const value: unknown = Reflect.get(claims, expiryClaim)
  return typeof value === 'number' && Number.isSafeInteger(value)
    ? Math.max(0, Math.floor(value - dpop.clockSkew))
    : null
}

/**
 * Returns the end that the ID token of a login sets, if it sets one. Throws `CallbackError`: `SESSION_EXPIRED` if that is not in
 * the future, `AUTHORIZATION_CODE_GRANT_ERROR` if it is not an integer.
 */
export function readLoginExpiry(config: Config, idToken: string): number | undefined {
  const expiry = readExpiry(config, decodeClaims(idToken) ?? {})
  if (expiry === null) {
    const cause = new OAuthError('ID_TOKEN_INVALID', { detail: DETAIL, endpoint: 'token', remedy: REMEDY })
    throw new CallbackError('AUTHORIZATION_CODE_GRANT_ERROR', { cause })
  }
  if (expiry !== undefined && expiry <= config.clock()) throw new CallbackError('SESSION_EXPIRED')
  return expiry
}

/**
 * Returns the session with the end that a later ID token sets, if that is earlier; it may be past. Without such a claim the end
 * stays. It also stays if the claim is not an integer, which is logged.
 */
export function withExpiry(
  config: Config,
  session: StoredSession,
  claims: object | undefined = {},
): StoredSession {
  const expiry = readExpiry(config, claims)
  if (expiry === null) {
    const details = { detail: DETAIL, ...toAdvice(REMEDY, undefined) }
    config.log.emit({ level: 'warn', code: 'SESSION_EXPIRY_IGNORED', ...details })
  }
  if (typeof expiry !== 'number') return session
  const { internal } = session.data
  const sessionExpiresAt = Math.min(expiry, internal.sessionExpiresAt ?? expiry)
  return { ...session, data: { ...session.data, internal: { ...internal, sessionExpiresAt } } }
}
