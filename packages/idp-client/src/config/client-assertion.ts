import { isCryptoKey, signatureAlgorithms } from '../crypto/keys.ts'
import { defined } from '../lib/own-properties.ts'
import type { ClientAuth } from './config.ts'
import type { TextRow } from './option-rows.ts'
import type { KeyKind } from './pem.ts'
import { detectKeyKind, pemFault, unescapePem } from './pem.ts'
import type { Field, Source } from './readers.ts'
import { getField, invalid, readOneOf, readText } from './readers.ts'

/** Asymmetric algorithms only (RFC 7518, RFC 8037, RFC 9864): a shared secret signs nothing here. */
export const assertionAlgorithms: ReadonlySet<string> = new Set([
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
])

function resolveAlgorithm(field: Field<TextRow>): string | undefined {
  const algorithm = readText(field)
  if (algorithm === undefined || assertionAlgorithms.has(algorithm)) return algorithm
  return invalid(field, `must be one of ${[...assertionAlgorithms].join(', ')}`)
}

function resolveKey(source: Source): string | CryptoKey | undefined {
  const given = source.options.clientAssertionSigningKey
  const field = getField('clientAssertionSigningKey', source)
  if (isCryptoKey(given)) {
    const signs = given.type === 'private' && given.usages.includes('sign')
    if (signs && signatureAlgorithms(given).length > 0) return given
    return invalid(field, "must be a private key with the usage 'sign' (RSA, ECDSA or Ed25519)")
  }
  const text = readText(field)
  if (text === undefined) return undefined
  const pem = unescapePem(text)
  const fault = pemFault(pem, 'PRIVATE KEY')
  if (fault !== null) return invalid(field, fault)
  if (detectKeyKind(pem)) return pem
  return invalid(field, 'must hold an RSA, an elliptic curve (P-256, P-384, P-521) or an Ed25519 key')
}

const algorithmsOfKind: Record<KeyKind, readonly string[]> = {
  RSA: ['RS256', 'PS256', 'RS384', 'PS384', 'RS512', 'PS512'],
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  Ed25519: ['EdDSA', 'Ed25519'],
}

/** Returns the algorithms that a key can sign with: all of its kind for a PEM string, one for a `CryptoKey`. */
function listAlgorithms(key: string | CryptoKey): readonly string[] {
  if (typeof key !== 'string') return signatureAlgorithms(key)
  const kind = detectKeyKind(key)
  return kind ? algorithmsOfKind[kind] : []
}

function resolveAudience(source: Source): 'token_endpoint' | undefined {
  const audience = readOneOf(getField('clientAssertionAudience', source))
  return audience === 'token_endpoint' ? audience : undefined
}

/** Resolves the options of `private_key_jwt` (RFC 7523); undefined without a usable key. */
export function resolveAssertion(source: Source): ClientAuth | undefined {
  const field = getField('clientAssertionSigningAlg', source)
  const algorithm = resolveAlgorithm(field)
  const key = resolveKey(source)
  if (key === undefined) return undefined
  const names = listAlgorithms(key)
  if (algorithm !== undefined && !names.includes(algorithm)) {
    return invalid(field, `does not fit clientAssertionSigningKey, which signs with ${names.join(', ')}`)
  }
  const keyId = readText(getField('clientAssertionSigningKeyId', source))
  const audience = resolveAudience(source)
  return defined({ kind: 'assertion', key, algorithms: names, algorithm, keyId, audience })
}
