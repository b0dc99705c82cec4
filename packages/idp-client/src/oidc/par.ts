import { pushedAuthorizationRequest } from 'oauth4webapi'
import { CallbackError } from '../errors/callback.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { OAuthError } from '../errors/provider.ts'
import { call } from './call.ts'
import { stringProperty } from './json.ts'
import type { ServerMetadata } from './metadata.ts'
import { toWireName } from './metadata.ts'
import type { Provider } from './provider.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse, redirectUriSent } from './translate.ts'

function readRequestUri(response: ProviderResponse): string {
  const requestUri = response.body ? stringProperty(response.body, 'request_uri') : undefined
  if (requestUri === undefined) throw invalidResponse('request_uri is missing.', response)
  return requestUri
}

function checkAdvertised({ parEndpoint, unusable }: ServerMetadata): void {
  const name = toWireName('parEndpoint')
  if (parEndpoint !== undefined || unusable.has(name)) return
  const detail = `pushedAuthorizationRequests is true, but the provider does not advertise ${name}.`
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, remedy: 'PAR_NOT_OFFERED' })
}

/**
 * Pushes the parameters of an authorization request to the provider (RFC 9126) and returns the `request_uri`. There is
 * no fallback to a plain request: throws `CallbackError` `AUTHORIZATION_REQUEST_ERROR` (`cause`: an `OAuthError`) on
 * failure, `InvalidConfigurationError` if the provider does not support it, `DiscoveryError`.
 */
export async function pushAuthorizationRequest(
  provider: Provider,
  metadata: ServerMetadata,
  parameters: URLSearchParams,
): Promise<string> {
  checkAdvertised(metadata)
  try {
    return await call(
      { provider, metadata, endpoint: 'parEndpoint' },
      ({ authentication, client, options, server }) =>
        pushedAuthorizationRequest(server, client, authentication, parameters, options),
      readRequestUri,
    )
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    const sent = redirectUriSent(error, parameters.get('redirect_uri'))
    throw new CallbackError('AUTHORIZATION_REQUEST_ERROR', { cause: error, ...sent })
  }
}
