import type { JWTPayload } from 'jose'
import { createLocalJWKSet, jwtVerify } from 'jose'
import type { ResourceServer } from 'oidc-provider'
import type { Api } from '../apis.ts'
import { withStandardNames } from '../extensions/access-token-profile.ts'
import { publicJwks } from '../keys.ts'
import type { AuthorizationFacts, ProviderState } from './state.ts'

/**
 * Claims of a JWT that this provider signed and that has not expired, with the names of RFC 9068; anything else gives
 * `undefined`.
 */
export async function verifyOwnToken(state: ProviderState, token: string): Promise<JWTPayload | undefined> {
  try {
    const { payload } = await jwtVerify(token, createLocalJWKSet(publicJwks(state.keys)), {
      issuer: state.issuer,
      currentDate: new Date(state.clock.milliseconds()),
    })
    return withStandardNames(payload)
  } catch {
    return undefined
  }
}

/** The API as oidc-provider wants to see it: JWT access tokens, signed RS256 (RFC 9068), unless it has opaque ones. */
export function toResourceServer(state: ProviderState, api: Api): ResourceServer {
  return {
    scope: api.scopes.join(' '),
    audience: api.audience,
    accessTokenTTL: api.accessTokenTtl ?? state.settings.accessTokenTtl,
    ...(api.tokenFormat === 'opaque'
      ? { accessTokenFormat: 'opaque' }
      : { accessTokenFormat: 'jwt', jwt: { sign: { alg: 'RS256' } } }),
  }
}

/** Claims that come from the request rather than from the user. */
export function toFactClaims(facts: AuthorizationFacts | undefined): Record<string, unknown> {
  return {
    ...(facts?.organization === undefined
      ? {}
      : { org_id: facts.organization.id, org_name: facts.organization.name }),
    ...(facts?.actor ? { act: facts.actor } : {}),
  }
}
