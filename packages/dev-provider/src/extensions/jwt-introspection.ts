import type { JWTPayload } from 'jose'
import type { ProviderState } from '../oidc/state.ts'
import { verifyOwnToken } from '../oidc/tokens.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { isRecord, jsonResponse, parseForm, parseJson } from '../wire/message.ts'
import { namedClient } from './client-authentication.ts'

const INACTIVE = { active: false }

/** Remembers a JWT access token: nothing in it tells it from an ID token in every profile, and it names no grant. */
export function noteAccessToken(
  { accessTokenGrants }: ProviderState,
  { jti }: JWTPayload,
  grantId: string | undefined,
): void {
  if (jti !== undefined) accessTokenGrants.set(jti, grantId)
}

function isRevoked({ accessTokenGrants, store }: ProviderState, jti: string): boolean {
  const grantId = accessTokenGrants.get(jti)
  return grantId !== undefined && !store.find('Grant', grantId)
}

async function describe(state: ProviderState, token: string, clientId: string | undefined): Promise<object> {
  const claims = await verifyOwnToken(state, token)
  const { jti } = claims ?? {}
  if (jti === undefined || !state.accessTokenGrants.has(jti) || isRevoked(state, jti)) return INACTIVE
  if (state.settings.introspectionOf === 'own' && claims?.['client_id'] !== clientId) return INACTIVE
  const cnf = claims?.['cnf']
  return { ...claims, active: true, token_type: isRecord(cnf) && 'jkt' in cnf ? 'DPoP' : 'Bearer' }
}

/**
 * Describes JWT access tokens at the introspection endpoint (RFC 7662). oidc-provider refuses those, but only after it
 * has authenticated the client; all its other responses stay.
 */
export async function introspectJwt(
  state: ProviderState,
  call: Call,
  response: BufferedResponse,
): Promise<BufferedResponse> {
  if (parseJson(response)?.['error'] !== 'unsupported_token_type') return response
  const token = parseForm(call).get('token') ?? ''
  return jsonResponse(200, await describe(state, token, namedClient(call)))
}
