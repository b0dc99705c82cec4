import type { ProviderState } from '../oidc/state.ts'
import { verifyOwnToken } from '../oidc/tokens.ts'
import { SCOPE_CLAIMS } from '../users.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { getBearer, jsonResponse, withBody } from '../wire/message.ts'
import { provesCertificate } from './client-certificates.ts'

/**
 * Userinfo for access tokens of an API. Hosted providers accept those whenever `openid` was granted, while
 * oidc-provider wants a token without audience; anything else is left to it.
 */
export async function apiUserinfo(state: ProviderState, call: Call): Promise<BufferedResponse | undefined> {
  const token = getBearer(call)
  const claims = token?.includes('.') ? await verifyOwnToken(state, token) : undefined
  const scope = typeof claims?.['scope'] === 'string' ? claims['scope'].split(' ') : []
  // A bound token needs a proof: oidc-provider checks that of DPoP for its own tokens only.
  const isProven = claims?.['cnf'] === undefined || provesCertificate(call, claims)
  if (!claims?.sub || !scope.includes('openid') || !isProven) return undefined
  const user = state.users.bySub(claims.sub)
  if (!user) return undefined
  const names = new Set([
    ...state.users.customClaims(),
    ...(scope.includes('profile') ? SCOPE_CLAIMS.profile : []),
    ...(scope.includes('email') ? SCOPE_CLAIMS.email : []),
  ])
  const granted = Object.entries(user.claims).filter(([name]) => names.has(name))
  return respondWith(state, String(claims['client_id']), { sub: user.sub, ...Object.fromEntries(granted) })
}

/** Plain JSON, or what oidc-provider does for clients that are registered for signed responses (Core, section 5.3.2). */
async function respondWith(
  state: ProviderState,
  clientId: string,
  claims: Record<string, unknown>,
): Promise<BufferedResponse> {
  const plain = jsonResponse(200, claims)
  const alg = state.clients.find(clientId)?.options.userinfoSigningAlg
  if (alg === undefined) return plain
  const jwt = await state.keys.sign({ ...claims, iss: state.issuer, aud: clientId }, { alg })
  return {
    ...withBody(plain, jwt),
    headers: { ...plain.headers, 'content-type': 'application/jwt; charset=utf-8' },
  }
}
