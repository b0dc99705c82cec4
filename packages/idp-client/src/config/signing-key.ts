import { algorithmsOfKind, isCryptoKey, signatureAlgorithms } from '../crypto/keys.ts'
import { defined } from '../lib/objects.ts'
import type { SigningKey } from './config.ts'
import type { OtherRow, TextRow } from './option-rows.ts'
import { detectKeyKind, hasLongModulus, pemFault, unescapePem } from './pem.ts'
import type { Field } from './readers.ts'
import { invalid, isPresent, readText } from './readers.ts'

/** Asymmetric algorithms only: a shared secret signs nothing here. */
export const signingAlgorithms: ReadonlySet<string> = new Set(Object.values(algorithmsOfKind).flat())

/** Reads the name of an algorithm. */
function readAlgorithm(field: Field<TextRow>): string | undefined {
  const algorithm = readText(field)
  if (algorithm === undefined || signingAlgorithms.has(algorithm)) return algorithm
  return invalid(field, `must be one of ${[...signingAlgorithms].join(', ')}`)
}

/** The length that RFC 7518 (section 3.3) demands. */
const RSA_BITS = 2048
const TOO_SHORT = `must be an RSA key of at least ${RSA_BITS} bits`

function hasShortModulus({ algorithm }: CryptoKey): boolean {
  return 'modulusLength' in algorithm && Number(algorithm.modulusLength) < RSA_BITS
}

/** Reads a private key: a `CryptoKey`, or PKCS#8 PEM text. */
function readKey(field: Field<OtherRow>): string | CryptoKey | undefined {
  const { given } = field
  if (isCryptoKey(given)) {
    const signs = given.type === 'private' && given.usages.includes('sign')
    if (!signs || signatureAlgorithms(given).length === 0)
      return invalid(field, "must be a private key with the usage 'sign' (RSA, ECDSA or Ed25519)")
    return hasShortModulus(given) ? invalid(field, TOO_SHORT) : given
  }
  if (isPresent(given) && typeof given !== 'string')
    return invalid(field, 'must be a CryptoKey, or a PKCS#8 key as PEM text (-----BEGIN PRIVATE KEY-----)')
  const text = readText(field)
  if (text === undefined) return undefined
  const pem = unescapePem(text)
  const fault = pemFault(pem, 'PRIVATE KEY')
  if (fault !== null) return invalid(field, fault)
  const kind = detectKeyKind(pem)
  if (kind === 'RSA' && !hasLongModulus(pem)) return invalid(field, TOO_SHORT)
  if (kind) return pem
  return invalid(field, 'must hold an RSA, an elliptic curve (P-256, P-384, P-521) or an Ed25519 key')
}

/** Returns the algorithms that a key can sign with: all of its kind for a PEM string, one for a `CryptoKey`. */
function listAlgorithms(key: string | CryptoKey): readonly string[] {
  if (typeof key !== 'string') return signatureAlgorithms(key)
  const kind = detectKeyKind(key)
  return kind ? algorithmsOfKind[kind] : []
}

/** The fields of one key: the key itself, its algorithm, its `kid`. */
export interface KeyFields {
  readonly key: Field<OtherRow>
  readonly algorithm: Field<TextRow>
  readonly keyId: Field<TextRow>
}

/** Reads a private key and what it signs with; undefined without a usable one. */
export function readSigningKey(fields: KeyFields): SigningKey | undefined {
  const algorithm = readAlgorithm(fields.algorithm)
  const key = readKey(fields.key)
  if (key === undefined) return undefined
  const algorithms = listAlgorithms(key)
  if (algorithm !== undefined && !algorithms.includes(algorithm))
    return invalid(
      fields.algorithm,
      `does not fit ${fields.key.option}, which signs with ${algorithms.join(', ')}`,
    )
  return defined({ key, algorithms, algorithm, keyId: readText(fields.keyId) })
}
