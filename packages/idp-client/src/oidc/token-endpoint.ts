import { genericTokenEndpointRequest } from 'oauth4webapi'
import { call } from './call.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
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
