/*
 * Proof of possession (RFC 9449), seen from an API: a bound token is good only together with a proof, made for this one
 * request, of the key that the token was issued for.
 */
import { createHash, randomBytes } from 'node:crypto'
import { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } from 'jose'

/** Seconds that a proof is good for, and by which the clocks may differ. */
const lifetime = 60
const tolerance = 5

/** How many proofs are remembered; above it nothing is served, for a proof that is forgotten could be used again. */
const capacity = 10_000

/** Milliseconds after which another nonce is demanded. The one before it stays good as long again. */
const nonceLifetime = 300_000

const sha256 = (text) => createHash('sha256').update(text).digest('base64url')

/** Nonces come from here, so that proofs cannot be made in advance (RFC 9449 section 9). */
const nonces = { current: '', previous: '', since: Number.NEGATIVE_INFINITY }

/** The nonce that proofs have to carry from now on, for the `DPoP-Nonce` header. */
export function currentNonce() {
  const age = Date.now() - nonces.since
  if (age >= nonceLifetime) {
    nonces.previous = age < 2 * nonceLifetime ? nonces.current : ''
    nonces.current = randomBytes(16).toString('base64url')
    nonces.since = Date.now()
  }
  return nonces.current
}

function isGoodNonce(nonce) {
  if (typeof nonce !== 'string' || nonce === '') return false
  return nonce === currentNonce() || nonce === nonces.previous
}

/** Hash of key and `jti` to the time in milliseconds when the proof is too old anyway; the oldest come first. */
const used = new Map()

/** Whether a proof is seen for the first time. */
function isFirstUse(thumbprint, jti) {
  const now = Date.now()
  for (const [proof, end] of used) {
    if (end > now) break
    used.delete(proof)
  }
  const proof = sha256(`${thumbprint} ${jti}`)
  if (used.has(proof)) return false
  if (used.size >= capacity) throw new Error('too many proofs within a minute')
  // A proof may be dated ahead by the tolerance, and is taken until it is older than its lifetime by the tolerance.
  used.set(proof, now + (lifetime + 2 * tolerance + 1) * 1000)
  return true
}

/** Claims and key of a proof, or null. Whatever is wrong with it, it is the caller's fault: nothing is fetched for it. */
async function open(proof) {
  try {
    const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
      typ: 'dpop+jwt',
      algorithms: ['ES256'],
      requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
      maxTokenAge: lifetime,
      clockTolerance: tolerance,
    })
    return { ...payload, thumbprint: await calculateJwkThumbprint(protectedHeader.jwk) }
  } catch {
    return null
  }
}

/** `htu` is compared without query and fragment (RFC 9449 section 4.3). */
function isSameAddress(htu, url) {
  if (typeof htu !== 'string' || !URL.canParse(htu)) return false
  const { origin, pathname } = new URL(htu)
  return origin === url.origin && pathname === url.pathname
}

/**
 * Checks the proof of a request. Returns an error code of RFC 9449, or null: then the proof is used up.
 *
 * @param {{ proof: string | undefined, method: string, url: URL, token: string, boundTo: unknown, demandsNonce: boolean }} request
 *   `proof`: the `DPoP` header (several of them arrive joined, which no proof survives); `url`: as callers know it;
 *   `boundTo`: the claim `cnf.jkt` of the token
 */
export async function proofFault({ proof = '', method, url, token, boundTo, demandsNonce }) {
  const opened = await open(proof)
  if (opened === null || typeof opened.jti !== 'string') return 'invalid_dpop_proof'
  const { ath, htm, htu, jti, nonce, thumbprint } = opened
  if (htm !== method || !isSameAddress(htu, url) || ath !== sha256(token)) return 'invalid_dpop_proof'
  if (thumbprint !== boundTo) return 'invalid_token'
  if (demandsNonce && !isGoodNonce(nonce)) return 'use_dpop_nonce'
  return isFirstUse(thumbprint, jti) ? null : 'invalid_dpop_proof'
}
