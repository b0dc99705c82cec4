import { userInfoRequest } from 'oauth4webapi'
import { call } from './call.ts'
import type { JsonObject } from './json.ts'
import { stringMember } from './json.ts'
import type { Provider } from './provider.ts'
import type { ProviderResponse } from './translate.ts'
import { invalidResponse } from './translate.ts'

export interface UserInfoRequest {
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  /** `sub` of the user's ID token: claims about anybody else are refused (OpenID Connect Core 5.3.2). */
  readonly subject: string
}

export type UserInfoClaims = JsonObject & { readonly sub: string }

/** Signed responses go to clients that are registered for them; this one reads what TLS has authenticated already. */
function readClaims(answer: ProviderResponse, subject: string): UserInfoClaims {
  const { body, mediaType } = answer
  if (mediaType === 'application/jwt') {
    const detail = 'It is a signed UserInfo response, which is not supported.'
    throw invalidResponse(detail, undefined, 'USERINFO_SIGNED')
  }
  const sub = body ? stringMember(body, 'sub') : undefined
  if (!body || sub !== subject) throw invalidResponse('sub is not that of the ID token.', answer)
  return { ...body, sub }
}

/**
 * The claims of the UserInfo endpoint. Throws `OAuthError` (an access token for another API is refused there, with
 * status 401), `DiscoveryError` when the provider has no such endpoint, and `InvalidConfigurationError` when the token
 * is bound and there is no DPoP key.
 */
export async function fetchUserInfoClaims(
  provider: Provider,
  { accessToken, subject, tokenType }: UserInfoRequest,
): Promise<UserInfoClaims> {
  const metadata = await provider.metadata()
  return call(
    { provider, metadata, endpoint: 'userinfoEndpoint', bound: tokenType === 'DPoP' },
    ({ client, options, server }) => userInfoRequest(server, client, accessToken, options),
    (answer) => readClaims(answer, subject),
  )
}
