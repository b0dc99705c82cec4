import { decodeJwt } from 'jose/jwt/decode'
import type { IdTokenChecks, IdTokenClaims } from './id-token.ts'
import { validateIdToken } from './id-token.ts'
import { stringMember } from './json.ts'
import type { Provider } from './provider.ts'
import type { TokenResponse } from './token-endpoint.ts'

/** What a token request brought, checked. */
export interface TokenGrant {
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  /** Seconds since the epoch; always finite. */
  readonly expiresAt: number
  /** Scope that the provider granted, when it says so. */
  readonly scope?: string
  readonly refreshToken?: string
  readonly idToken?: string
  /** All claims of the validated ID token. */
  readonly claims?: IdTokenClaims
}

/** Seconds that a token counts as valid when the provider says nothing. */
const DEFAULT_LIFETIME = 300
/** Seconds; beyond ten years a lifetime is a mistake that would only overflow later arithmetic. */
const LONGEST_LIFETIME = 315_360_000

function toLifetime(expiresIn: unknown): number | undefined {
  const text = typeof expiresIn === 'string' ? expiresIn.trim() : undefined
  const seconds = text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : expiresIn
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return undefined
  return Math.min(Math.max(0, Math.floor(seconds)), LONGEST_LIFETIME)
}

function expiryInside(accessToken: string): number | undefined {
  try {
    const { exp } = decodeJwt(accessToken)
    return typeof exp === 'number' && Number.isFinite(exp) && exp > 0 ? Math.floor(exp) : undefined
  } catch {
    return undefined
  }
}

function toExpiresAt({ accessToken, body }: TokenResponse, now: number): number {
  const lifetime = toLifetime(body['expires_in'])
  if (lifetime !== undefined) return now + lifetime
  const exp = expiryInside(accessToken)
  return exp === undefined ? now + DEFAULT_LIFETIME : Math.min(exp, now + LONGEST_LIFETIME)
}

/** The tokens of a response without its ID token. `now` is when the request was sent: lifetimes count from there. */
export function toAccessGrant(answer: TokenResponse, now: number): TokenGrant {
  const { accessToken, body, tokenType } = answer
  const refreshToken = stringMember(body, 'refresh_token')
  const scope = stringMember(body, 'scope')
  return {
    accessToken,
    tokenType,
    expiresAt: toExpiresAt(answer, now),
    ...(scope === undefined ? {} : { scope }),
    ...(refreshToken === undefined ? {} : { refreshToken }),
  }
}

/** The grant in an answer, its ID token validated; `now` as for `toAccessGrant`. */
export async function toTokenGrant(
  provider: Provider,
  answer: TokenResponse,
  checks: IdTokenChecks,
  now: number,
): Promise<TokenGrant> {
  const { accessToken, body } = answer
  const idToken = stringMember(body, 'id_token')
  const grant = toAccessGrant(answer, now)
  if (idToken === undefined) return grant
  const claims = await validateIdToken(provider, idToken, { ...checks, accessToken })
  return { ...grant, idToken, claims }
}
