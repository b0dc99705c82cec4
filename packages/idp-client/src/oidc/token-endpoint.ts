import type { ClientMetadata, CustomFetchOptions } from 'openid-client'
import { allowInsecureRequests, Configuration, clockSkew, customFetch } from 'openid-client'
import { isIdpError } from '../errors/base.ts'
import { OAuthError } from '../errors/provider.ts'
import { systemClock } from '../lib/clock.ts'
import { clientAuthentication } from './client-auth.ts'
import type { JsonObject } from './json.ts'
import { parseObject, stringMember } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import { endpointOf } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { Answer } from './translate.ts'
import { invalidResponse, oauthError, originOf, reportFailure, retryAfterSeconds } from './translate.ts'

/** A successful answer of the token endpoint: `access_token` and `token_type` are checked, the rest is as it came. */
export interface TokenAnswer {
  readonly body: JsonObject
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
}

export interface TokenRequest {
  readonly provider: Provider
  readonly metadata: ServerMetadata
  /** The exact redirect URI of a code exchange: `openid-client` normalises it and drops its query. */
  readonly redirectUri?: string
}

/** What `openid-client` is to see of a grant: it refuses odd values of members that are read leniently here. */
function presentable(response: Response, { body, status }: Answer): Response {
  if (!body || status !== 200) return response
  const { access_token, token_type } = body
  return new Response(JSON.stringify({ access_token, token_type }), { headers: response.headers })
}

const tokenTypes: ReadonlyMap<string, TokenAnswer['tokenType']> = new Map([
  ['bearer', 'Bearer'],
  ['dpop', 'DPoP'],
])

function read(answer: Answer): TokenAnswer {
  const { body } = answer
  if (!body) throw invalidResponse('It is no JSON object.', answer)
  const accessToken = stringMember(body, 'access_token')
  if (accessToken === undefined) throw invalidResponse('access_token is missing.', answer)
  const tokenType = tokenTypes.get(stringMember(body, 'token_type')?.toLowerCase() ?? '')
  if (!tokenType) throw invalidResponse('token_type is missing or neither Bearer nor DPoP.', answer)
  return { body, accessToken, tokenType }
}

function configure({ provider, metadata }: TokenRequest): Configuration {
  const { config } = provider
  const client: ClientMetadata = { client_id: config.clientId }
  const skew = config.clock() - systemClock()
  // A second more or less is the rounding of two reads, not another clock.
  if (Math.abs(skew) > 1) client[clockSkew] = skew
  const server = {
    issuer: metadata.issuer,
    token_endpoint: endpointOf(metadata, 'tokenEndpoint'),
    authorization_response_iss_parameter_supported: metadata.issuerInCallback,
  }
  const configuration = new Configuration(
    server,
    config.clientId,
    client,
    clientAuthentication(config, metadata),
  )
  if (config.allowInsecureRequests) allowInsecureRequests(configuration)
  return configuration
}

function outgoing(options: CustomFetchOptions, redirectUri: string | undefined): BodyInit {
  const { body } = options
  if (!(body instanceof URLSearchParams)) throw new TypeError('a token request has a form body')
  if (redirectUri !== undefined) body.set('redirect_uri', redirectUri)
  return body
}

/**
 * Sends one token request: `grant` calls `openid-client` with the given configuration, which lives for this request
 * only. Nothing is sent twice but what a DPoP nonce challenge demands. Throws `OAuthError`, reported to the log, and
 * `DiscoveryError` without a token endpoint.
 */
export async function requestTokens(
  request: TokenRequest,
  grant: (configuration: Configuration) => Promise<unknown>,
): Promise<TokenAnswer> {
  const { provider } = request
  const configuration = configure(request)
  let answer: Answer | undefined
  configuration.timeout = undefined
  configuration[customFetch] = async (url, options) => {
    const body = outgoing(options, request.redirectUri)
    const { headers, signal } = options
    const response = await provider.send(url, {
      method: 'POST',
      headers,
      body,
      ...(signal ? { signal } : {}),
    })
    answer = {
      status: response.status,
      body: parseObject(await response.clone().text()),
      retryAfter: retryAfterSeconds(response.headers.get('retry-after'), provider.config.clock()),
    }
    return presentable(response, answer)
  }
  try {
    await grant(configuration)
    if (!answer) throw invalidResponse('None was received.')
    return read(answer)
  } catch (thrown) {
    const origin = originOf(thrown)
    if (isIdpError(origin) && !(origin instanceof OAuthError)) throw origin
    const error = oauthError(origin, answer)
    reportFailure(provider.config.log, 'token', error)
    throw error
  }
}
