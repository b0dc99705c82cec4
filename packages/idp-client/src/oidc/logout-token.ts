import { LogoutTokenError } from '../errors/logout-token.ts'
import type { Remedy } from '../errors/remedy.ts'
import { defined, isObject } from '../lib/objects.ts'
import type { Assert } from './claims.ts'
import { checkTimes, createAssert, toTimeFault, toVerificationClock } from './claims.ts'
import type { JsonObject } from './json.ts'
import type { Provider } from './provider.ts'
import type { TokenKind } from './signed-token.ts'
import { verifyToken } from './signed-token.ts'

/** Content of a validated logout token. */
export interface LogoutNotice {
  /** The provider's issuer. */
  readonly iss: string
  /** The user; `sub`, `sid` or both are present. */
  readonly sub?: string
  /** The provider's session id. */
  readonly sid?: string
  /** Unique id of the token, for the replay cache. */
  readonly jti: string
  /** Time of issue, in seconds since the epoch by our clock. */
  readonly iat: number
  /** Time from which the token is rejected for its age, in seconds since the epoch by our clock. */
  readonly endsAt: number
}

const EVENT = 'http://schemas.openid.net/event/backchannel-logout'

/** Maximum age of a logout token in seconds, plus the tolerance; `exp` may be earlier. */
const LONGEST_AGE = 600

const WITHOUT_END = `The provider's logout tokens have no exp, which OpenID Connect Back-Channel Logout 1.0 requires: they are accepted until ${LONGEST_AGE} s after their iat.`

/** Before explicit typing (RFC 8725 section 3.11), providers sent no `typ`, or `JWT`. */
const TYPES: readonly unknown[] = ['logout+jwt', 'application/logout+jwt', 'jwt', undefined]

function refuse(detail: string, remedy?: Remedy): never {
  // The other remedies are about ID tokens.
  const clocks = remedy === 'CLOCKS_DIFFER' ? { remedy } : {}
  throw new LogoutTokenError('BACKCHANNEL_LOGOUT_ERROR', { detail, ...clocks })
}

const assert: Assert = createAssert(refuse)

const kind: TokenKind = {
  sender: 'anyone',
  refuse,
  assert,
  accepts: (typ) => TYPES.includes(typeof typ === 'string' ? typ.toLowerCase() : typ),
}

function optionalString(claims: JsonObject, name: 'sub' | 'sid'): string | undefined {
  const value = claims[name]
  assert(value === undefined || (typeof value === 'string' && value !== ''), `${name} is not a string.`)
  return value
}

/**
 * Validates the times. Returns when the token was issued and when it becomes too old, in seconds since the epoch by our
 * clock.
 */
function checkAge({ config }: Provider, claims: JsonObject): Pick<LogoutNotice, 'endsAt' | 'iat'> {
  const clock = toVerificationClock(config)
  const iat = checkTimes(claims, clock, assert)
  const lastAt = iat + LONGEST_AGE + clock.tolerance
  const age = clock.now - lastAt
  assert(age <= 0, toTimeFault(`iat is more than ${LONGEST_AGE} s ago`, age), 'CLOCKS_DIFFER')
  if (claims['exp'] === undefined) config.log.once(WITHOUT_END)
  return { iat: Math.floor(iat - clock.skew), endsAt: Math.ceil(lastAt - clock.skew) + 1 }
}

/**
 * Validates a logout token: signature as for an ID token, and OIDC Back-Channel Logout 1.0 section 2.6 except for the
 * replay of `jti`, which it returns. Even without `exp`, a token older than 600 s plus the configured tolerance is
 * rejected. Throws `LogoutTokenError` `BACKCHANNEL_LOGOUT_ERROR`, and `DiscoveryError` if metadata or keys cannot be
 * loaded.
 */
export async function validateLogoutToken(provider: Provider, token: string): Promise<LogoutNotice> {
  const { claims } = await verifyToken(provider, token, kind)
  const times = checkAge(provider, claims)
  const { events, iss, jti } = claims
  assert(typeof jti === 'string' && jti !== '', 'jti is missing or not a string.')
  assert(isObject(events) && isObject(events[EVENT]), 'events does not name a back-channel logout.')
  assert(!('nonce' in claims), 'It has a nonce, as an ID token may, but no logout token.')
  const sub = optionalString(claims, 'sub')
  const sid = optionalString(claims, 'sid')
  assert(sub !== undefined || sid !== undefined, 'It names neither sub nor sid.')
  // `iss` is equal to the issuer of the metadata.
  return defined({ iss: String(iss), sub, sid, jti, ...times })
}
