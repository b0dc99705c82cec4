import type { JWTPayload } from 'jose'

/** How hosted providers write the claims of JWT access tokens. */
export const ACCESS_TOKEN_PROFILES = ['rfc9068', 'jwt', 'untyped', 'auth0', 'keycloak', 'entra'] as const

/**
 * `rfc9068`: RFC 9068, with the type `at+jwt`. `jwt`: the same with the type `JWT`, `untyped` without a type. The others have the
 * type `JWT` and claims as at that provider: `auth0` has `azp` in place of `client_id`, and the UserInfo endpoint as second
 * audience; `keycloak` has `azp`, the payload type `Bearer` and the second audience `account`; `entra` has `appid`, and `scp`
 * in place of `scope`.
 */
export type AccessTokenProfile = (typeof ACCESS_TOKEN_PROFILES)[number]

type Header = Readonly<Record<string, unknown>>

interface AccessTokenJwt {
  header?: Header | undefined
  payload?: JWTPayload | undefined
}

const types: Readonly<Partial<Record<AccessTokenProfile, Header>>> = {
  jwt: { typ: 'JWT' },
  untyped: { typ: undefined },
  auth0: { typ: 'JWT' },
  keycloak: { typ: 'JWT' },
  entra: { typ: 'JWT' },
}

const withAudience = (aud: JWTPayload['aud'], other: string): string[] => [...[aud ?? []].flat(), other]

function toClaims(claims: JWTPayload, profile: AccessTokenProfile): JWTPayload {
  const { client_id: clientId, scope, ...others } = claims
  switch (profile) {
    case 'auth0':
      return { ...others, scope, azp: clientId, aud: withAudience(claims.aud, `${claims.iss}/userinfo`) }
    case 'keycloak':
      return { ...others, scope, typ: 'Bearer', azp: clientId, aud: withAudience(claims.aud, 'account') }
    case 'entra':
      return { ...others, scp: scope, appid: clientId }
    default:
      return claims
  }
}

/** Writes an access token as the profile demands. */
export function applyProfile(jwt: AccessTokenJwt, profile: AccessTokenProfile): void {
  const header = types[profile]
  if (header) jwt.header = { ...jwt.header, ...header }
  if (jwt.payload) jwt.payload = toClaims(jwt.payload, profile)
}

/** Returns the claims of an access token of any profile with the names of RFC 9068. */
export function withStandardNames(claims: JWTPayload): JWTPayload {
  const clientId = claims['client_id'] ?? claims['azp'] ?? claims['appid']
  const scope = claims['scope'] ?? claims['scp']
  return {
    ...claims,
    ...(clientId === undefined ? {} : { client_id: clientId }),
    ...(scope === undefined ? {} : { scope }),
  }
}
