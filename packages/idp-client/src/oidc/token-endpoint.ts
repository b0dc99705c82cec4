import { genericTokenEndpointRequest } from 'oauth4webapi'
import { CallbackError } from '../errors/callback.ts'
import { isInvalidGrant, OAuthError } from '../errors/provider.ts'
import { defined } from '../lib/objects.ts'
import { call } from './call.ts'
import { isTime } from './claims.ts'
import type { IdTokenChecks, IdTokenClaims } from './id-token.ts'
import { validateIdToken, validateRefreshedIdToken } from './id-token.ts'
import type { JsonObject, TypedObject } from './json.ts'
import { stringList, stringProperty, toGrantedDetails } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import { decodeUnverified } from './signed-token.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse, oauthErrorAt, redirectUriSent, refusal } from './translate.ts'
import { TransportError } from './transport-error.ts'

/** A successful token response: `access_token` and `token_type` are validated, the rest is not. */
export interface TokenResponse {
  readonly body: JsonObject
  readonly accessToken: string
  /** `N_A`: it is another token than an access token (RFC 8693 section 2.2.1). */
  readonly tokenType: 'Bearer' | 'DPoP' | 'N_A'
}

export interface TokenEndpointRequest {
  readonly provider: Provider
  readonly metadata: ServerMetadata
  /** The token was issued by an upstream provider, which does not know this client's key: it may be a Bearer token. */
  readonly upstream?: boolean
  /** Another token than an access token is requested (RFC 8693). */
  readonly isOtherToken?: boolean
  readonly signal?: AbortSignal
}

const tokenTypes: ReadonlyMap<string | undefined, TokenResponse['tokenType']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
  ['n_a', 'N_A'],
])

/** `mustBeBound`: an access token has to be bound to the DPoP key. */
function read(
  response: ProviderResponse,
  {
    isOtherToken,
    mustBeBound,
  }: Pick<TokenEndpointRequest, 'isOtherToken'> & { readonly mustBeBound: boolean },
): TokenResponse {
  const { body } = response
  if (!body) throw invalidResponse('It is not a JSON object.', response, 'RESPONSE_NOT_OAUTH')
  const accessToken = stringProperty(body, 'access_token')
  if (accessToken === undefined) throw invalidResponse('access_token is missing.', response)
  const tokenType = tokenTypes.get(stringProperty(body, 'token_type')?.toLowerCase())
  if (!tokenType || (tokenType === 'N_A' && !isOtherToken))
    throw invalidResponse('token_type is missing or neither Bearer nor DPoP.', response)
  if (mustBeBound && tokenType === 'Bearer')
    throw invalidResponse('token_type is Bearer, although useDPoP is on.', response, 'DPOP_NOT_ENABLED')
  return { body, accessToken, tokenType }
}

/**
 * Sends one token request with the given grant type and parameters; names may repeat (`resource`, RFC 8707). Throws
 * like `call`.
 */
export async function requestTokens(
  { isOtherToken, upstream, ...request }: TokenEndpointRequest,
  grantType: string,
  parameters: Readonly<Record<string, string>> | URLSearchParams,
): Promise<TokenResponse> {
  const { dpop, mutualTls } = request.provider.config
  const mustBeBound = dpop.enabled && !upstream
  const response = await call(
    { ...request, endpoint: 'tokenEndpoint' },
    ({ authentication, client, options, server }) =>
      genericTokenEndpointRequest(server, client, authentication, grantType, parameters, options),
    (received) => read(received, defined({ isOtherToken, mustBeBound })),
  )
  if (mutualTls?.boundTokens && !upstream && response.tokenType !== 'N_A') {
    const { requireCertificateBinding } = await import('./certificate-binding.ts')
    requireCertificateBinding(response)
  }
  return response
}

/** Validated tokens of a token response. */
export interface TokenGrant {
  readonly accessToken: string
  readonly tokenType: TokenResponse['tokenType']
  /** Seconds since the epoch; always finite. */
  readonly expiresAt: number
  /** Granted scope, if the response contains it. */
  readonly scope?: string
  /** Granted details, if the response contains them (RFC 9396 section 7). */
  readonly authorizationDetails?: TypedObject[]
  readonly refreshToken?: string
  readonly idToken?: string
  /** All claims of the validated ID token. */
  readonly claims?: IdTokenClaims
}

export type GrantWithIdToken = TokenGrant & Required<Pick<TokenGrant, 'idToken' | 'claims'>>

export function requireIdToken(grant: TokenGrant): GrantWithIdToken {
  const { claims, idToken } = grant
  if (idToken !== undefined && claims) return { ...grant, idToken, claims }
  throw invalidResponse('id_token is missing.', undefined, 'ID_TOKEN_MISSING')
}

/** Lifetime of a token without `expires_in`, in seconds. */
const DEFAULT_LIFETIME = 300
/** Maximum lifetime in seconds; more than ten years is an error and would overflow later arithmetic. */
const LONGEST_LIFETIME = 315_360_000

function toLifetime(expiresIn: unknown): number | undefined {
  const text = typeof expiresIn === 'string' ? expiresIn.trim() : undefined
  const seconds = text !== undefined && /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : expiresIn
  if (!isTime(seconds)) return undefined
  return Math.min(Math.max(0, Math.floor(seconds)), LONGEST_LIFETIME)
}

/** Returns the end that the token itself names, by our clock. */
function readExpiry({ config: { dpop } }: Provider, accessToken: string): number | undefined {
  const exp = decodeUnverified(accessToken)?.['exp']
  return isTime(exp) && exp > 0 ? Math.floor(exp - dpop.clockSkew) : undefined
}

function toExpiresAt(provider: Provider, { accessToken, body }: TokenResponse, now: number): number {
  const lifetime = toLifetime(body['expires_in'])
  if (lifetime !== undefined) return now + lifetime
  const exp = readExpiry(provider, accessToken)
  return exp === undefined ? now + DEFAULT_LIFETIME : Math.min(exp, now + LONGEST_LIFETIME)
}

/**
 * Returns the granted scope: also in a list, as some providers send it, and also if it is empty, so that nothing was granted. Without
 * any, all that was requested would count as granted.
 */
function readScope(body: JsonObject): string | undefined {
  const { scope } = body
  return typeof scope === 'string' ? scope : stringList(body, 'scope')?.join(' ')
}

/**
 * Returns the tokens of a response without its ID token. `now` is the time of the request, from which lifetimes count.
 */
function toAccessGrant(provider: Provider, response: TokenResponse, now: number): TokenGrant {
  const { accessToken, body, tokenType } = response
  const details = body['authorization_details'] ?? undefined
  return defined({
    accessToken,
    tokenType,
    expiresAt: toExpiresAt(provider, response, now),
    scope: readScope(body),
    authorizationDetails: details === undefined ? undefined : toGrantedDetails(details),
    refreshToken: stringProperty(body, 'refresh_token'),
  })
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
  const grant = toAccessGrant(provider, response, now)
  if (idToken === undefined) return grant
  const claims = await validateIdToken(provider, idToken, { ...checks, accessToken })
  return { ...grant, idToken, claims }
}

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
  if (issuer === undefined ? metadata.issuerInCallback : issuer !== metadata.issuer)
    throw new CallbackError('ISSUER_MISMATCH')
  const error = callback.get('error')
  if (error) {
    const cause = refusal({ error, description: callback.get('error_description') })
    throw new CallbackError('AUTHORIZATION_ERROR', { cause })
  }
  const code = callback.get('code')
  if (!code) throw new CallbackError('INVALID_CALLBACK', { detail: 'Parameter: code.' })
  return code
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
export async function exchangeCode(provider: Provider, input: CodeExchange): Promise<GrantWithIdToken> {
  const { codeVerifier, maxAge, nonce, organization, redirectUri, startedAt } = input
  const metadata = await provider.metadata()
  const parameters = {
    code: readCode(metadata, input),
    redirect_uri: redirectUri,
    code_verifier: codeVerifier,
  }
  const now = provider.config.clock()
  try {
    const response = await requestTokens({ provider, metadata }, 'authorization_code', parameters)
    const checks = defined({ nonce, startedAt, maxAge, organization })
    return requireIdToken(await validateTokenGrant(provider, response, checks, now))
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const code = error.transient ? 'AUTHORIZATION_CODE_GRANT_REQUEST_ERROR' : 'AUTHORIZATION_CODE_GRANT_ERROR'
    const remedy = isInvalidGrant(error) ? { remedy: 'CODE_REFUSED' as const } : {}
    throw new CallbackError(code, { cause: error, ...redirectUriSent(error, redirectUri), ...remedy })
  }
}

/** Functions that are called while a request to the token endpoint is running. */
export interface RequestProgress {
  /**
   * Called when the response has not arrived within `httpTimeout`, with the error for the callers. Returns for how many
   * more milliseconds to wait for the response.
   */
  readonly onOverdue?: (error: OAuthError) => number
  /** Called before each request; what it throws is thrown instead of sending the request. */
  readonly onRequest?: () => void
  /** Called when a response has arrived. */
  readonly onResponse?: () => void
}

export interface RefreshRequest extends RequestProgress {
  readonly refreshToken: string
  /** Scope to request; not sent by default (RFC 6749 section 6). */
  readonly scope?: string
  /** API that the token is for; needs a refresh-token policy of the provider. */
  readonly audience?: string
  /** `sub` of the session's user; an ID token about another user is rejected. Absent if the token belongs to no session. */
  readonly subject?: string
  /** Claims of the session that a refreshed ID token must agree with; absent if none are known. */
  readonly previous?: JsonObject
}

/** Returns the provider for one grant, which reports its progress. After a late response no further request is sent. */
export function withProgress(
  provider: Provider,
  { onOverdue, onRequest, onResponse }: RequestProgress,
): Provider {
  let isOverdue = false
  const late = onOverdue && {
    onOverdue() {
      isOverdue = true
      return onOverdue(oauthErrorAt('token', new TransportError('timeout')))
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

/**
 * Returns the ID token of a refresh, or nothing if there is none or it is ignored. Throws if the whole response must be
 * rejected.
 */
async function acceptIdToken(
  provider: Provider,
  metadata: ServerMetadata,
  { accessToken, body: { id_token: received } }: TokenResponse,
  { previous, subject }: RefreshRequest,
): Promise<Pick<TokenGrant, 'idToken' | 'claims'>> {
  if (received === undefined || received === null || received === '') return {}
  // A value that is not a string is rejected as a token, like a forged one.
  const idToken = typeof received === 'string' ? received : ''
  const checks = defined({ metadata, accessToken, subject, previous })
  const claims = await validateRefreshedIdToken(provider, idToken, checks)
  return claims ? { idToken, claims } : {}
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
  const target = withProgress(provider, request)
  const response = await requestTokens({ provider: target, metadata }, 'refresh_token', parameters)
  return {
    ...toAccessGrant(provider, response, now),
    ...(await acceptIdToken(provider, metadata, response, request)),
  }
}

/** Parameters that only the library sets. `client_*` belongs to client authentication. */
const OWNED = /^(?:client_|(?:grant_type|(?:subject|actor)_token(?:_type)?|audience|organization|scope)$)/

/** Returns whether a caller may add this parameter to a token exchange. */
export function mayExchangeSet(name: string): boolean {
  return !OWNED.test(name)
}

/** Names and values as sent; names may repeat (`resource`). */
export type ExchangeParameters = readonly (readonly [string, string])[]

const GRANT_TYPE = 'urn:ietf:params:oauth:grant-type:token-exchange'

export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token'

/**
 * Exchanges a token (RFC 8693); a missing `issued_token_type` is tolerated. An ID token in the response is validated. Its
 * `accessToken` is a token of the `requested_token_type`, with the type `N_A` if that is no access token.
 * `expiresIn` is the lifetime of the access token in seconds from now. Throws `OAuthError` and `DiscoveryError`.
 */
export async function exchangeTokens(
  provider: Provider,
  parameters: ExchangeParameters,
): Promise<TokenGrant & { readonly expiresIn: number }> {
  const metadata = await provider.metadata()
  const now = provider.config.clock()
  const form = new URLSearchParams(parameters.map(([name, value]) => [name, value]))
  const isOtherToken = (form.get('requested_token_type') ?? ACCESS_TOKEN) !== ACCESS_TOKEN
  const response = await requestTokens({ provider, metadata, isOtherToken }, GRANT_TYPE, form)
  const organization = new Map(parameters).get('organization')
  const grant = await validateTokenGrant(provider, response, defined({ organization }), now)
  return { ...grant, expiresIn: grant.expiresAt - now }
}
