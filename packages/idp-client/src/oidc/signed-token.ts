import { decodeProtectedHeader } from 'jose/decode/protected_header'
import { strictText } from '../lib/base64url.ts'
import type { JsonObject } from './json.ts'
import { parseObject } from './json.ts'
import type { SignatureFault } from './keys.ts'
import { verifyWith } from './keys.ts'
import type { Provider } from './provider.ts'
import { serverTime } from './server-time.ts'

/** Goes on when the condition holds; else the token is refused, with a detail of our own. */
export type Demand = (condition: boolean, detail: string) => asserts condition

/** A kind of token that the provider signs for this client. */
export interface TokenKind {
  /** Throws the error of this kind. */
  readonly refuse: (detail: string) => never
  /** Whether a token with this `typ` in its header may be of this kind; undefined: it has none. */
  readonly accepts: (typ: unknown) => boolean
}

export interface SignedToken {
  /** The algorithm that it is signed with. */
  readonly algorithm: string
  readonly claims: JsonObject
}

/** Characters; more is refused before anything is decoded. */
const LENGTH_LIMIT = 1_048_576

export function demandOf(refuse: TokenKind['refuse']): Demand {
  return (condition, detail) => {
    if (!condition) refuse(detail)
  }
}

/** What can be refused by the header alone. Keys and addresses in it (`jwk`, `jku`, `x5c` …) are never looked at. */
function readHeader(token: string, algorithms: readonly string[], { accepts, refuse }: TokenKind): string {
  const demand: Demand = demandOf(refuse)
  demand(token.length <= LENGTH_LIMIT, 'It is too long.')
  demand(
    token.split('.', 6).length === 3,
    'It is no signed token in compact form (encrypted ones are not supported).',
  )
  const header = decodeHeader(token)
  demand(header !== null, 'Its header is not readable.')
  demand(
    header.alg !== undefined && algorithms.includes(header.alg),
    'Its algorithm is not one that the metadata of the provider allows (id_token_signing_alg_values_supported).',
  )
  demand(!('crit' in header) && !('b64' in header), 'It demands an extension that is not supported.')
  demand(accepts(header.typ), 'Its type says that it is another kind of token.')
  return header.alg
}

function decodeHeader(token: string): ReturnType<typeof decodeProtectedHeader> | null {
  try {
    return decodeProtectedHeader(token)
  } catch {
    return null
  }
}

const signatureFaults: Record<SignatureFault, string> = {
  'unknown-key': 'The provider publishes no key that fits it.',
  mismatch: "Its signature does not match the provider's keys.",
  unverifiable: 'Its signature cannot be verified.',
}

/**
 * The signed claims. Keys may have been replaced since they were loaded, so a token that they do not verify is tried
 * once more with newer ones, if those may be asked for now.
 */
async function verifiedClaims(
  provider: Provider,
  token: string,
  algorithms: readonly string[],
  refuse: TokenKind['refuse'],
): Promise<JsonObject> {
  const keys = await provider.keys()
  let outcome = await verifyWith(keys, token, algorithms)
  if (outcome === 'unknown-key' || outcome === 'mismatch') {
    const newer = await provider.newerKeys(keys)
    if (newer) outcome = await verifyWith(newer, token, algorithms)
  }
  if (typeof outcome === 'string') return refuse(signatureFaults[outcome])
  return decodeClaims(outcome) ?? refuse('Its payload is no JSON object.')
}

function decodeClaims(payload: Uint8Array): JsonObject | null {
  try {
    return parseObject(strictText(payload))
  } catch {
    return null
  }
}

/** The audiences of a token, whichever of the two forms of `aud` it has. */
export function audiencesOf({ aud }: JsonObject): readonly unknown[] {
  return Array.isArray(aud) ? aud : [aud]
}

/**
 * Opens a token of the provider for this client: signature by a published key under an algorithm of the metadata,
 * never one that the token brings, then `iss` and `aud`. Throws what `kind` refuses with, and `DiscoveryError` when
 * metadata or keys cannot be loaded.
 */
export async function openToken(provider: Provider, token: string, kind: TokenKind): Promise<SignedToken> {
  const { issuer, idTokenAlgorithms } = await provider.metadata()
  const algorithm = readHeader(token, idTokenAlgorithms, kind)
  const claims = await verifiedClaims(provider, token, idTokenAlgorithms, kind.refuse)
  const demand: Demand = demandOf(kind.refuse)
  demand(claims['iss'] === issuer, 'iss is not the issuer of the provider.')
  demand(audiencesOf(claims).includes(provider.config.clientId), 'aud does not contain the client id.')
  return { algorithm, claims }
}

/** The provider's time, and the seconds by which it may differ from what its clock showed. */
export interface Moment {
  readonly now: number
  readonly tolerance: number
  /** Seconds that the provider's clock is ahead of ours. */
  readonly skew: number
}

export function momentOf({ config }: Provider): Moment {
  const { clockSkew: skew, clockTolerance: tolerance } = config.dpop
  return { now: serverTime(config), tolerance, skew }
}

export const isTime = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

/** `exp` and `nbf` where they are there, and `iat`, which has to be; gives `iat`. */
export function checkTimes(claims: JsonObject, { now, tolerance }: Moment, demand: Demand): number {
  const { exp, iat, nbf } = claims
  demand(exp === undefined || isTime(exp), 'exp is no number.')
  demand(exp === undefined || exp > now - tolerance, 'exp is past: compare the clocks of both servers.')
  demand(isTime(iat), 'iat is missing or no number.')
  demand(iat <= now + tolerance, 'iat is in the future: compare the clocks of both servers.')
  demand(nbf === undefined || (isTime(nbf) && nbf <= now + tolerance), 'nbf is in the future or no number.')
  return iat
}
