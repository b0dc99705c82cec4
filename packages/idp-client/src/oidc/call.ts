import type { CustomFetchOptions, DPoPHandle } from 'openid-client'
import { allowInsecureRequests, Configuration, customFetch } from 'openid-client'
import { isIdpError } from '../errors/base.ts'
import type { ProviderEndpoint } from '../errors/provider.ts'
import { OAuthError } from '../errors/provider.ts'
import { pause } from '../lib/pause.ts'
import { clientAuthentication, clientMetadata, describeAuthentication } from './client-auth.ts'
import { dpopHandle, isNonceChallenge, nonceRetryDelay } from './dpop.ts'
import type { ProviderRequest } from './fetch.ts'
import { parseObject } from './json.ts'
import type { EndpointName, ServerMetadata } from './metadata.ts'
import { endpointOf, wireNameOf } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { Answer } from './translate.ts'
import { invalidResponse, oauthError, originOf, retryAfterSeconds } from './translate.ts'

/** Endpoints that are asked through `openid-client`. */
export type CalledEndpoint = Extract<
  EndpointName,
  | 'tokenEndpoint'
  | 'parEndpoint'
  | 'revocationEndpoint'
  | 'backchannelAuthenticationEndpoint'
  | 'userinfoEndpoint'
>

const endpointNames: Record<CalledEndpoint, ProviderEndpoint> = {
  tokenEndpoint: 'token',
  parEndpoint: 'par',
  revocationEndpoint: 'revocation',
  backchannelAuthenticationEndpoint: 'backchannel_authentication',
  userinfoEndpoint: 'userinfo',
}

export interface Call {
  readonly provider: Provider
  readonly metadata: ServerMetadata
  readonly endpoint: CalledEndpoint
  /** Last changes to the form, where `openid-client` would send something else. */
  readonly amend?: (form: URLSearchParams) => void
  /** What `openid-client` is to see of an answer, where it refuses what is read leniently here. */
  readonly present?: (response: Response, answer: Answer) => Response
  readonly signal?: AbortSignal
  /** Whether possession is proven; by default with `useDPoP`, never at revocation. */
  readonly bound?: boolean
}

/** Calls `openid-client`: with proofs of possession, when tokens are bound. */
export type Operation = (
  configuration: Configuration,
  options: { readonly DPoP?: DPoPHandle },
) => Promise<unknown>

function configure({ provider, metadata, endpoint }: Call): Configuration {
  const { config } = provider
  const { authorizationEndpoint } = metadata
  const server = {
    issuer: metadata.issuer,
    [wireNameOf(endpoint)]: endpointOf(metadata, endpoint),
    // Without its query, which is the browser's to bring and would be pushed with the request.
    ...(authorizationEndpoint ? { authorization_endpoint: authorizationEndpoint.replace(/\?.*/s, '') } : {}),
    authorization_response_iss_parameter_supported: metadata.issuerInCallback,
  }
  const authentication = clientAuthentication(config, metadata)
  const configuration = new Configuration(server, config.clientId, clientMetadata(config), authentication)
  if (config.allowInsecureRequests) allowInsecureRequests(configuration)
  // The transport has its own timer, for the whole answer.
  configuration.timeout = undefined
  return configuration
}

function outgoing({ body, headers, method }: CustomFetchOptions, { amend, signal }: Call): ProviderRequest {
  const limits = { headers, ...(signal ? { signal } : {}) }
  if (method === 'GET') return { method, ...limits }
  if (!(body instanceof URLSearchParams)) throw new TypeError('a request to the provider has a form body')
  amend?.(body)
  return { method: 'POST', body, ...limits }
}

/** The `error` of a challenge that a protected resource responds (RFC 6750 section 3, RFC 9449 section 7.1). */
function challengeError(header: string | null): string | undefined {
  return /^(?:bearer|dpop)\s/i.test(header ?? '')
    ? /[\s,]error="([a-z_]{1,64})"/.exec(header ?? '')?.[1]
    : undefined
}

async function proofs({ bound, endpoint, provider }: Call): Promise<{ DPoP?: DPoPHandle }> {
  const { config } = provider
  if (!(bound ?? config.dpop.enabled) || endpoint === 'revocationEndpoint') return {}
  const { resource, server } = await dpopHandle(config)
  return { DPoP: endpoint === 'userinfoEndpoint' ? resource : server }
}

/**
 * One request to the provider through `openid-client`, with a configuration that lives as long as it; `read` takes from
 * the answer what the caller needs. Nothing is sent twice but what a DPoP nonce challenge demands, once. Throws
 * `OAuthError`, `DiscoveryError` when the provider does not advertise the endpoint, and
 * `InvalidConfigurationError` when keys cannot be used.
 */
export async function call<T>(request: Call, operation: Operation, read: (answer: Answer) => T): Promise<T> {
  const { present, provider } = request
  const { config } = provider
  const configuration = configure(request)
  const options = await proofs(request)
  let answer: Answer | undefined
  let challenged = false
  configuration[customFetch] = async (url, sent) => {
    const response = await provider.send(url, outgoing(sent, request))
    answer = {
      status: response.status,
      body: parseObject(await response.clone().text()),
      retryAfter: retryAfterSeconds(response.headers.get('retry-after'), config.clock()),
      challenge: challengeError(response.headers.get('www-authenticate')),
    }
    if (options.DPoP && !challenged && isNonceChallenge(response, answer.body)) {
      challenged = true
      await pause(nonceRetryDelay(config), request.signal)
    }
    return present ? present(response, answer) : response
  }
  try {
    await operation(configuration, options)
    if (!answer) throw invalidResponse('None was received.')
    return read(answer)
  } catch (thrown) {
    const origin = originOf(thrown)
    if (isIdpError(origin) && !(origin instanceof OAuthError)) throw origin
    const authentication = describeAuthentication(config, request.metadata)
    const error = oauthError(origin, answer, { ...config, authentication })
    error.endpoint ??= endpointNames[request.endpoint]
    throw error
  }
}
