import { LogoutTokenError } from '../errors/logout-token.ts'
import type { Remedy } from '../errors/remedies.ts'
import type { JsonObject } from './json.ts'
import { isObject } from './json.ts'
import type { Provider } from './provider.ts'
import type { Assert, TokenKind } from './signed-token.ts'
import { checkTimes, createAssert, openToken, toVerificationClock } from './signed-token.ts'

/** What a verified logout token says. */
export interface LogoutNotice {
  /** The provider's issuer. */
  readonly iss: string
  /** The user; at least one of `sub` and `sid` is there. */
  readonly sub?: string
  /** The provider's session. */
  readonly sid?: string
  /** The token's own name: one that was obeyed counts no more. */
  readonly jti: string
  /** When it was issued, seconds since the epoch by our clock. */
  readonly iat: number
  /** When its age alone will refuse it, seconds since the epoch by our clock. */
  readonly endsAt: number
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** Seconds after which a logout token is too old, beside the tolerance; `exp` may end it before. */
const LONGEST_AGE = 600

const WITHOUT_END = `The provider's logout tokens have no exp, which OpenID Connect Back-Channel Logout 1.0 requires: they are accepted until ${LONGEST_AGE} s after their iat.`

/** Before tokens had types (RFC 8725 section 3.11) providers sent none, or `JWT`. */
const TYPES: readonly unknown[] = ['logout+jwt', 'application/logout+jwt', 'jwt', undefined]

function refuse(detail: string, remedy?: Remedy): never {
  // The others speak of ID tokens.
  const clocks = remedy === 'CLOCKS_DIFFER' ? { remedy } : {}
  throw new LogoutTokenError('BACKCHANNEL_LOGOUT_ERROR', { detail, ...clocks })
}

const assert: Assert = createAssert(refuse)

const kind: TokenKind = {
  refuse,
  accepts: (typ) => TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ),
}

function optionalText(claims: JsonObject, name: 'sub' | 'sid'): string | undefined {
  const value = claims[name]
  assert(value === undefined || (typeof value === 'string' && value !== ''), `${name} is not a string.`)
  return value
}

/** Seconds since the epoch, by our clock: when the token was issued, and from when on it is too old. */
function checkAge(provider: Provider, claims: JsonObject): Pick<LogoutNotice, 'endsAt' | 'iat'> {
  const moment = toVerificationClock(provider)
  const iat = checkTimes(claims, moment, assert)
  const lastAt = iat + LONGEST_AGE + moment.tolerance
  assert(lastAt >= moment.now, 'iat is too long ago: compare the clocks of both servers.', 'CLOCKS_DIFFER')
  if (claims['exp'] === undefined) provider.config.log.once(WITHOUT_END)
  return { iat: Math.floor(iat - moment.skew), endsAt: lastAt - moment.skew + 1 }
}

/**
 * Validates a logout token: signature as of an ID token, and OIDC Back-Channel Logout 1.0 section 2.6 but for the
 * `jti`, which it returns. Without `exp` too, none is older than 600 s and the tolerance of the configuration. Throws
 * `LogoutTokenError` `BACKCHANNEL_LOGOUT_ERROR`, and `DiscoveryError` when metadata or keys cannot be loaded.
 */
export async function validateLogoutToken(provider: Provider, token: string): Promise<LogoutNotice> {
  const { claims } = await openToken(provider, token, kind)
  const times = checkAge(provider, claims)
  const { events, iss, jti } = claims
  assert(typeof jti === 'string' && jti !== '', 'jti is missing or not a string.')
  assert(isObject(events) && isObject(events[EVENT]), 'events does not name a back-channel logout.')
  assert(!('nonce' in claims), 'It has a nonce, as an ID token may, but no logout token.')
  const sub = optionalText(claims, 'sub')
  const sid = optionalText(claims, 'sid')
  assert(sub !== undefined || sid !== undefined, 'It names neither sub nor sid.')
  return {
    // The very issuer of the metadata.
    iss: String(iss),
    ...(sub === undefined ? {} : { sub }),
    ...(sid === undefined ? {} : { sid }),
    jti,
    ...times,
  }
}
