import { toAdvice } from '../errors/advice.ts'
import type { OAuthError } from '../errors/provider.ts'
import type { Remedy } from '../errors/remedy.ts'
import { defined } from '../lib/defined.ts'
import type { IgnoredReason } from './id-token.ts'
import { validateRefreshedIdToken } from './id-token.ts'
import type { JsonObject } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { TokenGrant, TokenResponse } from './token-endpoint.ts'
import { requestTokens, toAccessGrant } from './token-endpoint.ts'
import { oauthError } from './translate.ts'
import { TransportError } from './transport-error.ts'

export interface RefreshRequest {
  readonly refreshToken: string
  /** Scope to request; not sent by default (RFC 6749 section 6). */
  readonly scope?: string
  /** API that the token is for; needs a refresh-token policy of the provider. */
  readonly audience?: string
  /** `sub` of the session's user; an ID token about another user is rejected. */
  readonly subject: string
  /** Claims of the session that a refreshed ID token must agree with; absent if none are known. */
  readonly previous?: JsonObject
  /**
   * Called when the response has not arrived within `httpTimeout`, with the error for the callers. Returns for how many
   * more milliseconds to wait for the response.
   */
  readonly onOverdue?: (error: OAuthError) => number
  /** Called when the refresh token is sent. */
  readonly onRequest?: () => void
  /** Called when the response has arrived. */
  readonly onResponse?: () => void
}

/**
 * Returns the provider for one refresh, which reports its progress. After a late response no further request is sent.
 */
function reporting(provider: Provider, { onOverdue, onRequest, onResponse }: RefreshRequest): Provider {
  let isOverdue = false
  const late = onOverdue && {
    onOverdue() {
      isOverdue = true
      const error = oauthError(new TransportError('timeout'))
      error.endpoint ??= 'token'
      return onOverdue(error)
    },
  }
  return {
    ...provider,
    async send(url, request) {
      if (isOverdue) throw new TransportError('timeout')
      onRequest?.()
      const received = await provider.send(url, { ...request, ...late })
      onResponse?.()
      return received
    },
  }
}

const ignoredRemedies = {
  keys: 'JWKS_ERROR',
  time: 'CLOCKS_DIFFER',
  auth_time: 'ID_TOKEN_INVALID',
  nonce: 'ID_TOKEN_INVALID',
  organization: 'ID_TOKEN_INVALID',
} as const satisfies Record<IgnoredReason, Remedy>

type IdTokenPart = Pick<TokenGrant, 'idToken' | 'claims'>

/**
 * Returns the ID token of a refresh, or nothing if there is none or it is ignored. Throws if the whole response must be
 * rejected.
 */
async function acceptIdToken(
  provider: Provider,
  metadata: ServerMetadata,
  { accessToken, body: { id_token: received } }: TokenResponse,
  { previous, subject }: RefreshRequest,
): Promise<IdTokenPart> {
  if (received === undefined || received === null || received === '') return {}
  // A value that is not a string is rejected as a token, like a forged one.
  const idToken = typeof received === 'string' ? received : JSON.stringify(received)
  const checks = defined({ metadata, accessToken, subject, previous })
  const outcome = await validateRefreshedIdToken(provider, idToken, checks)
  if (outcome.kind === 'valid') return { idToken, claims: outcome.claims }
  const { detail, reason } = outcome
  const details = { reason, detail, ...toAdvice(ignoredRemedies[reason], undefined) }
  provider.config.log.emit({ level: 'warn', code: 'REFRESHED_ID_TOKEN_IGNORED', ...details })
  return {}
}

/**
 * Redeems a refresh token, once. If the ID token of the response is forged, or about another user, issuer, client or
 * organization than the session, the whole response is rejected (OpenID Connect Core 12.2); an ID token that is invalid
 * for another reason is ignored and logged. Throws `OAuthError` (`error` `invalid_grant` is final, `transient` errors
 * may be retried) and `DiscoveryError`.
 */
export async function refreshTokens(provider: Provider, request: RefreshRequest): Promise<TokenGrant> {
  const { audience, refreshToken, scope } = request
  const metadata = await provider.metadata()
  const now = provider.config.clock()
  const parameters = defined({ refresh_token: refreshToken, scope, audience })
  const target = reporting(provider, request)
  const response = await requestTokens({ provider: target, metadata }, 'refresh_token', parameters)
  return { ...toAccessGrant(response, now), ...(await acceptIdToken(provider, metadata, response, request)) }
}
