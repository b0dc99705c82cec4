import { fetchUserInfo, skipSubjectCheck } from 'openid-client'
import { call } from './call.ts'
import type { JsonObject } from './json.ts'
import { stringMember } from './json.ts'
import type { Provider } from './provider.ts'
import { invalidResponse } from './translate.ts'

export interface UserInfoRequest {
  readonly accessToken: string
  readonly tokenType: 'Bearer' | 'DPoP'
  /** `sub` of the user's ID token: claims about anybody else are refused (OpenID Connect Core 5.3.2). */
  readonly subject: string
}

export type UserInfoClaims = JsonObject & { readonly sub: string }

/** Signed answers come for clients that are registered for them; this one reads what TLS has authenticated already. */
function plain(response: Response): Response {
  if (!/^application\/jwt\b/i.test(response.headers.get('content-type') ?? '')) return response
  throw invalidResponse(
    'It is a signed UserInfo response, which is not supported.',
    undefined,
    'USERINFO_SIGNED',
  )
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
    { provider, metadata, endpoint: 'userinfoEndpoint', bound: tokenType === 'DPoP', present: plain },
    (configuration, options) => fetchUserInfo(configuration, accessToken, skipSubjectCheck, options),
    (answer) => {
      const { body } = answer
      const sub = body ? stringMember(body, 'sub') : undefined
      if (!body || sub !== subject) throw invalidResponse('sub is not that of the ID token.', answer)
      return { ...body, sub }
    },
  )
}
