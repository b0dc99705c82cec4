import { isObject } from '../lib/is-object.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import { decodeObject } from './signed-token.ts'
import type { TokenResponse } from './token-endpoint.ts'
import { invalidResponse, oauthErrorAt } from './translate.ts'

/** Access tokens that are bound to the TLS certificate of the client (RFC 8705 section 3), as far as the client can see it. */

/** Returns the claims of an access token that is a JWT, unverified: only its API verifies it. Undefined for an opaque one. */
function readClaims(accessToken: string): JsonObject | undefined {
  const [header, payload, signature, further] = accessToken.split('.', 4)
  if (header === undefined || payload === undefined || signature === undefined || further !== undefined)
    return undefined
  return (decodeUnpadded(header) && decodeUnpadded(payload)) ?? undefined
}

/** Also reads a part with padding, which is not allowed in a JWT, and still no reason to take it for an opaque token. */
const decodeUnpadded = (part: string): JsonObject | null => decodeObject(part.replace(/={1,2}$/, ''))

/** A SHA-256 hash in base64url. */
const THUMBPRINT = /^[\w-]{43}$/

/** Returns whether an access token says that it is bound to a certificate; undefined for one that says nothing. */
export function isCertificateBound(accessToken: string): boolean | undefined {
  const claims = readClaims(accessToken)
  if (!claims) return undefined
  const { cnf } = claims
  return isObject(cnf) && THUMBPRINT.test(stringProperty(cnf, 'x5t#S256') ?? '')
}

/** Throws `OAuthError` if the token of a response visibly is not bound to a certificate, so that nothing of it is used. */
export function requireCertificateBinding({ accessToken, tokenType }: TokenResponse): void {
  const isOther = tokenType === 'DPoP'
  if (!isOther && isCertificateBound(accessToken) !== false) return
  const what = isOther
    ? 'token_type is DPoP'
    : 'The access token is not bound to the TLS certificate of the client (cnf, x5t#S256)'
  const detail = `${what}, although certificateBoundAccessTokens is on.`
  throw oauthErrorAt('token', invalidResponse(detail, undefined, 'TOKEN_NOT_BOUND'))
}
