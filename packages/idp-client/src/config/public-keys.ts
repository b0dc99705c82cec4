import { algorithmsOfKind, toKeyIdentity } from '../crypto/keys.ts'
import { isObject } from '../lib/objects.ts'
import type { PublicJwk } from './options.ts'
import { detectKeyKind, hasLongModulus, pemFault, unescapePem } from './pem.ts'
import type { Field, Source } from './readers.ts'
import { getField, invalid, isPresent, toField } from './readers.ts'

/** Members of private and symmetric keys (RFC 7518 sections 6.2.2, 6.3.2 and 6.4.1). */
const PRIVATE = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k']

const CURVES = { EC: ['P-256', 'P-384', 'P-521'], OKP: ['Ed25519'] } as const

/** Characters in base64url of a modulus with 2048 bits, the minimum of RFC 7518. */
const MIN_MODULUS = 342

/** Characters in base64url of a coordinate (RFC 7518 section 6.2.1.2, RFC 8037 section 2): 32, 48 and 66 bytes. */
const COORDINATE_LENGTHS = { 'P-256': 43, 'P-384': 64, 'P-521': 88, Ed25519: 43 } as const

const BASE64URL = /^[\w-]+$/

type Members = Readonly<Record<string, unknown>>

const isBase64url = (value: unknown): value is string => typeof value === 'string' && BASE64URL.test(value)

/** Returns the algorithms of a key; none if it has the wrong type or curve, or lacks a member. */
function toAlgorithms({ crv, e, kty, n, x, y }: Members): readonly string[] {
  if (kty === 'RSA')
    return isBase64url(n) && n.length >= MIN_MODULUS && isBase64url(e) ? algorithmsOfKind.RSA : []
  const ofType = kty === 'EC' || kty === 'OKP' ? CURVES[kty] : []
  const curve = ofType.find((name) => name === crv)
  if (!curve) return []
  const isCoordinate = (value: unknown): boolean =>
    isBase64url(value) && value.length === COORDINATE_LENGTHS[curve]
  return isCoordinate(x) && (kty === 'OKP' || isCoordinate(y)) ? algorithmsOfKind[curve] : []
}

const WRONG_TYPE = `must be a public RSA key of 2048 bits or more, an EC key (${CURVES.EC.join(', ')}) or an OKP key (${CURVES.OKP.join(', ')}), with its members in base64url`

/** Returns why a JWK cannot be published, to follow its name in a message; null if it can. */
function jwkFault(jwk: Members): string | null {
  const { alg, kid, use } = jwk
  if (PRIVATE.some((name) => name in jwk))
    return `must contain no member of a private or symmetric key (${PRIVATE.join(', ')}): give only its public key`
  const algorithms = toAlgorithms(jwk)
  if (algorithms.length === 0) return WRONG_TYPE
  if (use !== undefined && use !== 'sig') return "must have the use 'sig' or none: it verifies signatures"
  if (kid !== undefined && (typeof kid !== 'string' || kid === ''))
    return 'must have a kid that is a non-empty string'
  if (alg === undefined || algorithms.some((name) => name === alg)) return null
  return `must have an alg that fits the key: ${algorithms.join(', ')}`
}

function readPem(field: Field, text: string): string | undefined {
  const pem = unescapePem(text)
  const fault = pemFault(pem, 'PUBLIC KEY')
  if (fault !== null) return invalid(field, fault)
  const kind = detectKeyKind(pem)
  return kind && (kind !== 'RSA' || hasLongModulus(pem)) ? pem : invalid(field, WRONG_TYPE)
}

function readKey(field: Field): string | PublicJwk | undefined {
  const { given } = field
  if (typeof given === 'string') return readPem(field, given)
  if (!isObject(given))
    return invalid(field, 'must be a public JWK, or PEM text (-----BEGIN PUBLIC KEY-----)')
  const jwk: Members = { ...given }
  const fault = jwkFault(jwk)
  if (fault !== null) return invalid(field, fault)
  // Checked above.
  return jwk as unknown as PublicJwk
}

/** Reads `additionalPublicKeys`: keys that are published, but sign nothing here. */
export function resolveAdditionalKeys(source: Source): readonly (string | PublicJwk)[] {
  const field = getField('additionalPublicKeys', source)
  const { given } = field
  if (!isPresent(given)) return []
  if (!Array.isArray(given)) return invalid(field, 'must be an array of public keys: JWKs, or PEM text') ?? []
  const keys = given.flatMap(
    (key: unknown, at) => readKey(toField(`${field.option}[${at}]`, key, source)) ?? [],
  )
  const names = new Map<string, string>()
  for (const key of keys) {
    if (typeof key === 'string' || key.kid === undefined) continue
    const identity = toKeyIdentity(key)
    if (names.has(key.kid) && names.get(key.kid) !== identity)
      return invalid(field, 'must give different keys different kids') ?? []
    names.set(key.kid, identity)
  }
  return keys
}
