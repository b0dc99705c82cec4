import type { IdTokenChecks, IdTokenClaims } from './id-token.ts'
import { validateIdToken } from './id-token.ts'
import { stringProperty } from './json.ts'
import type { Provider } from './provider.ts'
import { decodeObject, isTime } from './signed-token.ts'
import type { TokenResponse } from './token-endpoint.ts'

/** Validated tokens of a token response. */
export interface TokenGrant {
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  /** Seconds since the epoch; always finite. */
  readonly expiresAt: number
  /** Granted scope, if the response contains it. */
  readonly scope?: string
  readonly refreshToken?: string
  readonly idToken?: string
  /** All claims of the validated ID token. */
  readonly claims?: IdTokenClaims
}

/** Lifetime of a token without `expires_in`, in seconds. */
const DEFAULT_LIFETIME = 300
/** Maximum lifetime in seconds; more than ten years is an error and would overflow later arithmetic. */
const LONGEST_LIFETIME = 315_360_000

function toLifetime(expiresIn: unknown): number | undefined {
  const text = typeof expiresIn === 'string' ? expiresIn.trim() : undefined
  const seconds = text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : expiresIn
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined
  return Math.min(Math.max(0, Math.floor(seconds)), LONGEST_LIFETIME)
}

function readExpiry(accessToken: string): number | undefined {
  const [, payload, signature, further] = accessToken.split('.', 4)
  if (payload === undefined || signature === undefined || further !== undefined) return undefined
  const exp = decodeObject(payload)?.['exp']
  return isTime(exp) && exp > 0 ? Math.floor(exp) : undefined
}

function toExpiresAt({ accessToken, body }: TokenResponse, now: number): number {
  const lifetime = toLifetime(body['expires_in'])
  if (lifetime !== undefined) return now + lifetime
  const exp = readExpiry(accessToken)
  return exp === undefined ? now + DEFAULT_LIFETIME : Math.min(exp, now + LONGEST_LIFETIME)
}

/**
 * Returns the tokens of a response without its ID token. `now` is the time of the request, from which lifetimes count.
 */
export function toAccessGrant(response: TokenResponse, now: number): TokenGrant {
  const { accessToken, body, tokenType } = response
  const refreshToken = stringProperty(body, 'refresh_token')
  const scope = stringProperty(body, 'scope')
  return {
    accessToken,
    tokenType,
    expiresAt: toExpiresAt(response, now),
    ...(scope === undefined ? {} : { scope }),
    ...(refreshToken === undefined ? {} : { refreshToken }),
  }
}

/** Returns the tokens of a response with the validated ID token; `now` as for `toAccessGrant`. */
export async function validateTokenGrant(
  provider: Provider,
  response: TokenResponse,
  checks: IdTokenChecks,
  now: number,
): Promise<TokenGrant> {
  const { accessToken, body } = response
  const idToken = stringProperty(body, 'id_token')
  const grant = toAccessGrant(response, now)
  if (idToken === undefined) return grant
  const claims = await validateIdToken(provider, idToken, { ...checks, accessToken })
  return { ...grant, idToken, claims }
}
