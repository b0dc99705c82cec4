import { genericTokenEndpointRequest } from 'oauth4webapi'
import { defined } from '../lib/defined.ts'
import { call } from './call.ts'
import { isTime } from './claims.ts'
import type { IdTokenChecks, IdTokenClaims } from './id-token.ts'
import { validateIdToken } from './id-token.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import { decodeObject } from './signed-token.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse } from './translate.ts'

/** A successful token response: `access_token` and `token_type` are validated, the rest is not. */
export interface TokenResponse {
  readonly body: JsonObject
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
}

export interface TokenEndpointRequest {
  readonly provider: Provider
  readonly metadata: ServerMetadata
  /** The token was issued by an upstream provider, which does not know this client's key: it may be a Bearer token. */
  readonly upstream?: boolean
  readonly signal?: AbortSignal
}

const tokenTypes: ReadonlyMap<string, TokenResponse['tokenType']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
])

function read(response: ProviderResponse, mustBeBound: boolean): TokenResponse {
  const { body } = response
  if (!body) throw invalidResponse('It is not a JSON object.', response, 'RESPONSE_NOT_OAUTH')
  const accessToken = stringProperty(body, 'access_token')
  if (accessToken === undefined) throw invalidResponse('access_token is missing.', response)
  const tokenType = tokenTypes.get(stringProperty(body, 'token_type')?.toLowerCase() ?? '')
  if (!tokenType) throw invalidResponse('token_type is missing or neither Bearer nor DPoP.', response)
  if (mustBeBound && tokenType !== 'DPoP') {
    const detail = 'token_type is Bearer, although useDPoP is on.'
    throw invalidResponse(detail, response, 'DPOP_NOT_ENABLED')
  }
  return { body, accessToken, tokenType }
}

/**
 * Sends one token request with the given grant type and parameters; names may repeat (`resource`, RFC 8707). Throws
 * like `call`.
 */
export async function requestTokens(
  { upstream, ...request }: TokenEndpointRequest,
  grantType: string,
  parameters: Readonly<Record<string, string>> | URLSearchParams,
): Promise<TokenResponse> {
  const mustBeBound = request.provider.config.dpop.enabled && !upstream
  return call(
    { ...request, endpoint: 'tokenEndpoint' },
    ({ authentication, client, options, server }) =>
      genericTokenEndpointRequest(server, client, authentication, grantType, parameters, options),
    (response) => read(response, mustBeBound),
  )
}

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
  return defined({
    accessToken,
    tokenType,
    expiresAt: toExpiresAt(response, now),
    scope: stringProperty(body, 'scope'),
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
  const grant = toAccessGrant(response, now)
  if (idToken === undefined) return grant
  const claims = await validateIdToken(provider, idToken, { ...checks, accessToken })
  return { ...grant, idToken, claims }
}
