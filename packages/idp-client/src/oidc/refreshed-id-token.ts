import type { IdTokenClaims } from './id-token.ts'
import {
  assertIdToken,
  checkAccessTokenHash,
  checkParties,
  checkSuccession,
  idTokenKind,
} from './id-token.ts'
import type { JsonObject } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import {
  allowedAlgorithms,
  checkIssuerAndAudience,
  checkSignature,
  checkTimeTypes,
  decodeToken,
  isTime,
  timeFault,
  toVerificationClock,
} from './signed-token.ts'

/** Reason why a refreshed ID token is ignored while the other tokens of the response are accepted. */
export type IgnoredReason = 'keys' | 'time' | 'auth_time' | 'nonce' | 'organization'

export type RefreshedIdToken =
  | { readonly kind: 'valid'; readonly claims: IdTokenClaims }
  | { readonly kind: 'ignored'; readonly reason: IgnoredReason; readonly detail: string }

export interface RefreshChecks {
  readonly metadata: ServerMetadata
  readonly accessToken: string
  /** `sub` of the session's user. */
  readonly subject: string
  /** Known claims of the session: `iss`, `sub`, `aud`, `org_id`, `org_name`, `auth_time` and `nonce`. */
  readonly previous?: JsonObject
}

const ignored = (reason: IgnoredReason, detail: string): RefreshedIdToken => ({
  kind: 'ignored',
  reason,
  detail,
})

function isEarlier(authTime: unknown, previous: unknown): boolean {
  return isTime(authTime) && isTime(previous) && authTime < previous
}

/**
 * Validates the ID token of a refresh (OpenID Connect Core 12.2). Checks that need neither keys nor clocks come first,
 * so that missing keys or a wrong clock cannot hide a token that is forged or about another user. Throws `OAuthError`
 * `ID_TOKEN_INVALID` if the whole response must be rejected. A token that is invalid for another reason is `ignored`,
 * because rejecting the response would lose the rotated refresh token.
 */
export async function validateRefreshedIdToken(
  provider: Provider,
  token: string,
  checks: RefreshChecks,
): Promise<RefreshedIdToken> {
  const { accessToken, metadata, previous = {} } = checks
  const { issuer } = metadata
  const allowed = allowedAlgorithms(provider.config, metadata)
  const decoded = decodeToken(token, allowed, idTokenKind)
  const { claims } = decoded
  const { clientId } = provider.config
  checkIssuerAndAudience(claims, { issuer, clientId }, assertIdToken)
  checkParties(claims, clientId)
  const { omitsOrganization } = checkSuccession(claims, checks)
  assertIdToken(claims['exp'] !== undefined, 'exp is missing.')
  checkTimeTypes(claims, assertIdToken)
  await checkAccessTokenHash(decoded, accessToken, provider)
  const signature = await checkSignature(provider, token, decoded)
  assertIdToken(signature.status !== 'wrong', "Its signature does not match the provider's keys.")
  if (signature.status === 'unknown') return ignored('keys', signature.detail)
  const fault = timeFault(claims, toVerificationClock(provider))
  if (fault !== undefined) return ignored('time', fault)
  if (isEarlier(claims['auth_time'], previous['auth_time']))
    return ignored('auth_time', 'auth_time is earlier than that of the session.')
  const { nonce } = claims
  if (nonce !== undefined && previous['nonce'] !== undefined && nonce !== previous['nonce'])
    return ignored('nonce', 'nonce is not that of the session.')
  if (omitsOrganization) return ignored('organization', 'org_id or org_name of the session is missing.')
  // The checks above include the type of each property that the type promises.
  return { kind: 'valid', claims: claims as IdTokenClaims }
}
