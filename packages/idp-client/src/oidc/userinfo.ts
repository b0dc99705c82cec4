import { userInfoRequest } from 'oauth4webapi'
import { call } from './call.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import type { Provider } from './provider.ts'
import type { TokenGrant } from './token-endpoint.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse } from './translate.ts'

interface UserInfoRequest extends Pick<TokenGrant, 'accessToken' | 'tokenType'> {
  /** `sub` of the user's ID token: claims about another user are rejected (OpenID Connect Core 5.3.2). */
  readonly subject: string
}

export type UserInfoClaims = JsonObject & { readonly sub: string }

/**
 * Validates the claims. Signed responses are only sent to clients that registered for them, and TLS has already
 * authenticated the provider.
 */
function readClaims(response: ProviderResponse, subject: string): UserInfoClaims {
  const { body, mediaType } = response
  const signed = 'It is a signed UserInfo response, which is not supported.'
  if (mediaType === 'application/jwt') throw invalidResponse(signed, undefined, 'USERINFO_SIGNED')
  const sub = stringProperty(body, 'sub')
  if (!body || sub !== subject) throw invalidResponse('sub is not that of the ID token.', response)
  return { ...body, sub }
}

/**
 * Returns the claims of the UserInfo endpoint. Throws `OAuthError` (an access token for another API is refused with
 * status 401), `DiscoveryError` if the provider has no such endpoint, and `InvalidConfigurationError` if the token is
 * DPoP-bound and there is no key.
 */
export async function fetchUserInfoClaims(
  provider: Provider,
  { accessToken, subject, tokenType }: UserInfoRequest,
): Promise<UserInfoClaims> {
  const metadata = await provider.metadata()
  return call(
    { provider, metadata, endpoint: 'userinfoEndpoint', bound: tokenType === 'DPoP' },
    ({ client, options, server }) => userInfoRequest(server, client, accessToken, options),
    (response) => readClaims(response, subject),
  )
}
