import { calculateJwkThumbprint } from 'jose/jwk/thumbprint'
import type { Config } from '../config/config.ts'
import { hashToken } from '../crypto/random.ts'
import { IdpError } from '../errors/base.ts'
import { processWide } from '../lib/registry.ts'
import { parseUrl } from '../lib/url.ts'
import type { Assert } from './claims.ts'
import { createAssert, isTime } from './claims.ts'
import type { JsonObject } from './json.ts'
import { stringProperty } from './json.ts'
import type { DecodedToken, KeySet, SignatureHeader, TokenKind } from './signed-token.ts'
import { decodeObject, decodeSupportedToken, toKeySet, verifyDecoded } from './signed-token.ts'
import { VerifiedHeaders } from './verified-headers.ts'

/** Proofs of possession that API clients send with an access token (RFC 9449). */

/** A request to an API, with an access token that is bound to a key. */
export interface ProvenRequest {
  /** The header `DPoP`; null if there is none. */
  readonly proof: string | null
  readonly method: string
  /** URLs of the request without query, of which the proof names one. */
  readonly urls: readonly string[]
  readonly accessToken: string
  /** Thumbprint (RFC 7638) of the key. */
  readonly thumbprint: string
}

/** A proof that is valid, except that it was not used before. */
export interface ValidProof {
  /** A name by which it can be remembered, without anything of its content. */
  readonly name: string
  /** The nonce that it names; anything. */
  readonly nonce: unknown
}

/** Seconds before and after now in which a proof is created, plus the tolerance. */
const LIFETIME = 60

/** Maximum length of `jti`, which is only hashed. */
const LONGEST_ID = 1024

function refuse(detail: string): never {
  throw new IdpError('INVALID_DPOP_PROOF', { detail })
}

const assert: Assert = createAssert(refuse)

const kind: TokenKind = { sender: 'api-client', refuse, assert, accepts: (typ) => typ === 'dpop+jwt' }

/** The header of a proof with its key. */
interface ProofHeader extends SignatureHeader {
  readonly keySet: KeySet
  readonly thumbprint: string
}

/** Maximum number of headers to remember: each client has a key of its own. */
const MAX_HEADERS = 1000

const verifiedHeaders = (): VerifiedHeaders<ProofHeader> =>
  processWide('cache:dpop-headers/1', () => new VerifiedHeaders(MAX_HEADERS))

/** Verifies the signature by the key in the header, and that this is the key of the token. */
async function checkKey(
  proof: string,
  { encodedHeader, header: decoded }: DecodedToken,
  thumbprint: string,
): Promise<void> {
  const known = verifiedHeaders().get(encodedHeader)
  const keySet = known?.keySet ?? toKeySet(decodeObject(encodedHeader)?.['jwk'])
  const key = keySet?.keys[0]
  assert(keySet !== null && key !== undefined, 'Its header has no public key (jwk), or a private one.')
  const header = { ...decoded, keyId: undefined }
  const outcome = await verifyDecoded(keySet, proof, header)
  assert(typeof outcome !== 'string', 'Its signature does not match the key in its header.')
  // After the signature, which only a usable key verifies: the thumbprint of another one cannot be computed.
  const own = known?.thumbprint ?? (await calculateJwkThumbprint(key.jwk))
  assert(own === thumbprint, 'It is signed by another key than the one that the access token is bound to.')
  verifiedHeaders().add(encodedHeader, { ...header, keySet, thumbprint: own })
}

/** Returns the normal form of an encoded byte (RFC 3986 section 6.2.2): `URL` keeps it as it is. */
function normalizeByte(encoded: string): string {
  const character = String.fromCharCode(Number.parseInt(encoded.slice(1), 16))
  return /[\w.~-]/.test(character) ? character : encoded.toUpperCase()
}

/** Returns a URL without query and fragment, which RFC 9449 section 4.3 ignores, in its normal form. */
function toTarget(value: unknown): string | null {
  const url = typeof value === 'string' ? parseUrl(value) : null
  return url && url.origin + url.pathname.replace(/%[\da-f]{2}/gi, normalizeByte)
}

async function checkRequest(claims: JsonObject, { accessToken, method, urls }: ProvenRequest): Promise<void> {
  assert(claims['htm'] === method, 'htm is not the method of the request.')
  const { htu } = claims
  const target = typeof htu === 'string' && urls.includes(htu) ? htu : toTarget(htu)
  const isTarget = target !== null && urls.some((url) => url === target || toTarget(url) === target)
  assert(isTarget, 'htu is not the URL of the request below the base URL of the application (appBaseUrl).')
  assert(claims['ath'] === (await hashToken(accessToken, 32)), 'ath is not the hash of the access token.')
}

/**
 * Validates the proof of a request (RFC 9449 section 4.3), except that it was not used before, and its nonce. Throws
 * `INVALID_DPOP_PROOF`.
 */
export async function verifyDpopProof(
  { clock, dpop }: Pick<Config, 'clock' | 'dpop'>,
  request: ProvenRequest,
): Promise<ValidProof> {
  const { proof, thumbprint } = request
  assert(proof !== null, 'The request has no DPoP header, which its access token demands.')
  const decoded = decodeSupportedToken(proof, kind, verifiedHeaders())
  const { claims } = decoded
  await checkRequest(claims, request)
  const { iat } = claims
  assert(isTime(iat), 'iat is missing or not a number.')
  const isRecent = Math.abs(clock() - iat) <= LIFETIME + dpop.clockTolerance
  assert(isRecent, `iat is more than ${LIFETIME} s and the tolerance from now.`)
  const jti = stringProperty(claims, 'jti')
  assert(jti !== undefined && jti.length <= LONGEST_ID, 'jti is missing, not a string or too long.')
  await checkKey(proof, decoded, thumbprint)
  const name = await hashToken(JSON.stringify([thumbprint, jti]), 32)
  return { name, nonce: claims['nonce'] }
}

/** Returns the seconds for which a proof could be accepted again. */
export const proofLifetime = ({ dpop }: Pick<Config, 'dpop'>): number =>
  2 * (LIFETIME + dpop.clockTolerance) + 1
