import { createHash, createHmac } from 'node:crypto'
import type { JWTPayload } from 'jose'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose'
import type { ProviderState } from '../../oidc/state.ts'
import { verifyOwnToken } from '../../oidc/tokens.ts'
import type { User } from '../../users.ts'
import type { Call } from '../../wire/message.ts'
import { getPath, isRecord } from '../../wire/message.ts'
import { Problem } from './problem.ts'

/** On whose behalf the account API is called, and by which application. */
export interface Caller {
  readonly user: User
  readonly clientId: string
}

/** Audience of the account API: the issuer with one slash at its end, and `me/`. */
export function accountAudience(issuer: string): string {
  return `${issuer.replace(/\/+$/, '')}/me/`
}

const PROOF_ALGS = ['ES256', 'Ed25519', 'EdDSA', 'RS256', 'PS256']
/** Seconds by which the time of a proof may differ, and for which a nonce is good. */
const PROOF_WINDOW = 300
const NONCE_STEP = 60

function refuse(detail: string, challenge: string, nonce?: string): never {
  const headers = { 'www-authenticate': challenge, ...(nonce === undefined ? {} : { 'dpop-nonce': nonce }) }
  throw new Problem(401, detail, { headers })
}

// Not those of oidc-provider: an API has nonces of its own (RFC 9449, section 9).
function createNonce({ nonceSecret, clock }: ProviderState, stepsAgo: number): string {
  const step = Math.floor(clock.now() / NONCE_STEP) - stepsAgo
  return createHmac('sha256', nonceSecret).update(`account API ${step}`).digest('base64url')
}

function isFreshNonce(state: ProviderState, nonce: unknown): boolean {
  const steps = PROOF_WINDOW / NONCE_STEP
  return Array.from({ length: steps }, (_, ago) => createNonce(state, ago)).some((known) => known === nonce)
}

async function readProof(proof: string): Promise<{ claims: JWTPayload; thumbprint: string } | undefined> {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      algorithms: PROOF_ALGS,
      typ: 'dpop+jwt',
    })
    const { jwk } = protectedHeader
    return jwk && { claims: payload, thumbprint: await calculateJwkThumbprint(jwk) }
  } catch {
    return undefined
  }
}

function isForRequest(state: ProviderState, call: Call, { htm, htu }: JWTPayload): boolean {
  if (htm !== call.method || typeof htu !== 'string' || !URL.canParse(htu)) return false
  const { origin, pathname } = new URL(htu)
  return origin + pathname === new URL(state.issuer).origin + getPath(call)
}

/** Proof of possession of the key that the token is bound to (RFC 9449, section 4.3). */
async function checkProof(state: ProviderState, call: Call, token: string, jkt: unknown): Promise<void> {
  const invalid = (detail: string): never => refuse(detail, 'DPoP error="invalid_dpop_proof"')
  const proof = call.headers['dpop']
  const read = typeof proof === 'string' ? await readProof(proof) : undefined
  if (!read) return invalid('The DPoP proof is missing or not a valid one.')
  const { claims, thumbprint } = read
  if (thumbprint !== jkt) invalid('The DPoP proof is of another key than the access token.')
  if (!isForRequest(state, call, claims)) invalid('The DPoP proof is for another request.')
  const hash = createHash('sha256').update(token).digest('base64url')
  if (claims['ath'] !== hash) invalid('The DPoP proof is for another access token.')
  const { iat, jti } = claims
  const recent = typeof iat === 'number' && Math.abs(state.clock.now() - iat) <= PROOF_WINDOW
  if (!recent || typeof jti !== 'string') return invalid('The DPoP proof is not recent, or has no id.')
  if (state.settings.dpopNonces && !isFreshNonce(state, claims['nonce'])) {
    refuse('The DPoP proof needs a nonce.', 'DPoP error="use_dpop_nonce"', createNonce(state, 0))
  }
  const unseen = await state.engine.ReplayDetection.unique(thumbprint, jti, state.clock.now() + PROOF_WINDOW)
  if (!unseen) invalid('The DPoP proof was used before.')
}

/**
 * The caller of the account API: a live access token of this provider for its audience with the scope that is
 * needed, sent as a bearer token, or with a proof when it is bound.
 */
export async function authorizeCall(state: ProviderState, call: Call, scope: string): Promise<Caller> {
  const [, scheme = '', token = ''] = /^(\w+) (\S+)$/.exec(call.headers.authorization ?? '') ?? []
  if (token === '') refuse('There is no access token in the Authorization header.', 'Bearer')
  const claims = await verifyOwnToken(state, token)
  const user = claims?.sub === undefined ? undefined : state.users.bySub(claims.sub)
  const { aud, client_id: clientId, scope: granted, cnf } = claims ?? {}
  if (!user || typeof clientId !== 'string' || ![aud].flat().includes(accountAudience(state.issuer))) {
    return refuse('The access token is not a valid one for this API.', 'Bearer error="invalid_token"')
  }
  const jkt = isRecord(cnf) ? cnf['jkt'] : undefined
  if (scheme.toLowerCase() !== (jkt === undefined ? 'bearer' : 'dpop')) {
    refuse('The access token is sent under the wrong scheme.', 'Bearer error="invalid_token"')
  }
  if (jkt !== undefined) await checkProof(state, call, token, jkt)
  if (typeof granted !== 'string' || !granted.split(' ').includes(scope)) {
    const headers = { 'www-authenticate': `Bearer error="insufficient_scope", scope="${scope}"` }
    throw new Problem(403, `The access token lacks the scope ${scope}.`, { headers })
  }
  return { user, clientId }
}
