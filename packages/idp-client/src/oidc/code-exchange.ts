import { CallbackError } from '../errors/callback.ts'
import { OAuthError } from '../errors/provider.ts'
import { defined } from '../lib/defined.ts'
import type { IdTokenClaims } from './id-token.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { TokenGrant } from './token-endpoint.ts'
import { requestTokens, validateTokenGrant } from './token-endpoint.ts'
import { invalidResponse, redirectUriSent, refusal } from './translate.ts'

export interface CodeExchange {
  /** Parameters of the callback (`code`, `iss`, `error` …), one value each. Its `state` has been verified. */
  readonly callback: ReadonlyMap<string, string>
  /** Exactly as in the authorization request. */
  readonly redirectUri: string
  readonly codeVerifier: string
  readonly nonce: string
  /** Seconds. */
  readonly maxAge?: number
  /** Start of the login, in seconds since the epoch. */
  readonly startedAt: number
  /** The requested `organization`. */
  readonly organization?: string
}

/**
 * Returns the code of the callback. Checks `iss` (RFC 9207) before reading anything else, including errors.
 */
function readCode(metadata: ServerMetadata, { callback }: CodeExchange): string {
  const issuer = callback.get('iss')
  if (issuer === undefined ? metadata.issuerInCallback : issuer !== metadata.issuer) {
    throw new CallbackError('ISSUER_MISMATCH')
  }
  const error = callback.get('error')
  if (error) {
    throw new CallbackError('AUTHORIZATION_ERROR', {
      cause: refusal({ error, description: callback.get('error_description') }),
    })
  }
  const code = callback.get('code')
  if (!code) throw new CallbackError('INVALID_CALLBACK', { detail: 'Parameter: code.' })
  return code
}

async function redeemCode(
  provider: Provider,
  metadata: ServerMetadata,
  input: CodeExchange,
): Promise<TokenGrant> {
  const code = readCode(metadata, input)
  const { codeVerifier, maxAge, nonce, organization, redirectUri, startedAt } = input
  const now = provider.config.clock()
  const parameters = { code, redirect_uri: redirectUri, code_verifier: codeVerifier }
  const response = await requestTokens({ provider, metadata }, 'authorization_code', parameters)
  return validateTokenGrant(provider, response, defined({ nonce, startedAt, maxAge, organization }), now)
}

/**
 * Completes a login: validates the callback, redeems the code once (never again, whatever the outcome), validates the
 * response. Throws
 *
 * - `CallbackError` `AUTHORIZATION_ERROR` (error response of the provider, as `cause`), `ISSUER_MISMATCH`,
 *   `INVALID_CALLBACK`,
 * - `AUTHORIZATION_CODE_GRANT_REQUEST_ERROR` for a lost response or a temporary failure (network, timeout, 429, 5xx),
 *   `AUTHORIZATION_CODE_GRANT_ERROR` for a rejected code or invalid tokens; `cause`: an `OAuthError`,
 * - `DiscoveryError` if metadata or keys cannot be loaded.
 */
export async function exchangeCode(
  provider: Provider,
  input: CodeExchange,
): Promise<TokenGrant & { readonly idToken: string; readonly claims: IdTokenClaims }> {
  const metadata = await provider.metadata()
  try {
    const grant = await redeemCode(provider, metadata, input)
    const { claims, idToken } = grant
    if (idToken !== undefined && claims) return { ...grant, idToken, claims }
    throw invalidResponse('id_token is missing.', undefined, 'ID_TOKEN_MISSING')
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const code = error.transient ? 'AUTHORIZATION_CODE_GRANT_REQUEST_ERROR' : 'AUTHORIZATION_CODE_GRANT_ERROR'
    const remedy = error.error === 'invalid_grant' ? { remedy: 'CODE_REFUSED' as const } : {}
    throw new CallbackError(code, { cause: error, ...redirectUriSent(error, input.redirectUri), ...remedy })
  }
}
