import { genericTokenEndpointRequest } from 'oauth4webapi'
import type { OAuthError } from '../errors/provider.ts'
import { call } from './call.ts'
import type { JsonObject } from './json.ts'
import { stringMember } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse } from './translate.ts'

/** A successful answer of the token endpoint: `access_token` and `token_type` are checked, the rest is as it came. */
export interface TokenResponse {
  readonly body: JsonObject
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
}

export interface TokenEndpointRequest {
  readonly provider: Provider
  readonly metadata: ServerMetadata
  /** The token is one of another issuer, which this client's keys mean nothing to: it may be a Bearer token. */
  readonly upstream?: boolean
  readonly signal?: AbortSignal
}

/** The user has not decided yet: on another device, that is. Part of the protocol. */
export const isPending = ({ error }: OAuthError): boolean =>
  error === 'authorization_pending' || error === 'slow_down'

const tokenTypes: ReadonlyMap<string, TokenResponse['tokenType']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
])

function read(answer: ProviderResponse, mustBeBound: boolean): TokenResponse {
  const { body } = answer
  if (!body) throw invalidResponse('It is not a JSON object.', answer, 'RESPONSE_NOT_OAUTH')
  const accessToken = stringMember(body, 'access_token')
  if (accessToken === undefined) throw invalidResponse('access_token is missing.', answer)
  const tokenType = tokenTypes.get(stringMember(body, 'token_type')?.toLowerCase() ?? '')
  if (!tokenType) throw invalidResponse('token_type is missing or neither Bearer nor DPoP.', answer)
  if (mustBeBound && tokenType !== 'DPoP') {
    const detail = 'token_type is Bearer, although useDPoP is on.'
    throw invalidResponse(detail, answer, 'DPOP_NOT_ENABLED')
  }
  return { body, accessToken, tokenType }
}

/**
 * Sends one token request with the given grant type and parameters; a name may occur several times (`resource`, RFC 8707).
 * Throws as `call` does.
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
    (answer) => read(answer, mustBeBound),
  )
}
