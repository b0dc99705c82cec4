import { isObject } from '../lib/objects.ts'
import { stringProperty } from './json.ts'
import { decodeUnverified } from './signed-token.ts'
import type { TokenResponse } from './token-endpoint.ts'
import { invalidResponse, oauthErrorAt } from './translate.ts'

/** Access tokens that are bound to the TLS certificate of the client (RFC 8705 section 3), as far as the client can see it. */

/** A SHA-256 hash in base64url. */
const THUMBPRINT = /^[\w-]{43}$/

/** Returns whether an access token says that it is bound to a certificate; undefined for one that says nothing. */
export function isCertificateBound(accessToken: string): boolean | undefined {
  const claims = decodeUnverified(accessToken)
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
