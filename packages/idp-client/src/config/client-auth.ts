import { signatureAlgorithms } from '../crypto/keys.ts'
import type { ClientAuth } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import type { KeyKind } from './pem.ts'
import { keyKindOf, pemFault, unescapePem } from './pem.ts'
import type { Field, Note } from './readers.ts'
import { field, isGiven, isSet, readText, refuse, waysToSet } from './readers.ts'

/** Asymmetric algorithms only (RFC 7518, RFC 8037, RFC 9864); a shared secret signs no assertion here. */
const algorithms: ReadonlySet<string> = new Set([
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

/** Whether a value is a Web Crypto key, of any realm and implementation. */
export function isCryptoKey(value: unknown): value is CryptoKey {
  return Object.prototype.toString.call(value) === '[object CryptoKey]'
}

function algorithmField(options: IdpClientOptions, env: Env): Field {
  const given = options.clientAssertionSigningAlg
  return field('clientAssertionSigningAlg', given, env, 'IDP_CLIENT_ASSERTION_SIGNING_ALG')
}

function resolveAlgorithm(setting: Field, note: Note): string | undefined {
  const algorithm = readText(setting, note)
  if (algorithm === undefined || algorithms.has(algorithm)) return algorithm
  return refuse(setting, note, `must be one of ${[...algorithms].join(', ')}`)
}

function resolveKey(options: IdpClientOptions, env: Env, note: Note): string | CryptoKey | undefined {
  const given = options.clientAssertionSigningKey
  const setting = field('clientAssertionSigningKey', given, env, 'IDP_CLIENT_ASSERTION_SIGNING_KEY')
  if (isCryptoKey(given)) {
    const signs = given.type === 'private' && given.usages.includes('sign')
    if (signs && signatureAlgorithms(given).length > 0) return given
    return refuse(setting, note, "must be a private key with the usage 'sign' (RSA, ECDSA or Ed25519)")
  }
  const text = readText(setting, note)
  if (text === undefined) return undefined
  const pem = unescapePem(text)
  const fault = pemFault(pem, 'PRIVATE KEY')
  if (fault !== null) return refuse(setting, note, fault)
  if (keyKindOf(pem)) return pem
  return refuse(setting, note, 'must hold an RSA, an elliptic curve (P-256, P-384, P-521) or an Ed25519 key')
}

const algorithmsOfKind: Record<KeyKind, readonly string[]> = {
  RSA: ['RS256', 'PS256', 'RS384', 'PS384', 'RS512', 'PS512'],
  'P-256': ['ES256'],
  'P-384': ['ES384'],
  'P-521': ['ES512'],
  Ed25519: ['EdDSA', 'Ed25519'],
}

/** What a key can sign with. Only its kind limits a PEM text, while a `CryptoKey` is made for one algorithm. */
function algorithmsOf(key: string | CryptoKey): readonly string[] {
  if (typeof key !== 'string') return signatureAlgorithms(key)
  const kind = keyKindOf(key)
  return kind ? algorithmsOfKind[kind] : []
}

function resolveAssertion(options: IdpClientOptions, env: Env, note: Note): ClientAuth | undefined {
  const setting = algorithmField(options, env)
  const algorithm = resolveAlgorithm(setting, note)
  const key = resolveKey(options, env, note)
  if (key === undefined) return undefined
  const names = algorithmsOf(key)
  if (algorithm !== undefined && !names.includes(algorithm)) {
    return refuse(
      setting,
      note,
      `does not fit clientAssertionSigningKey, which signs with ${names.join(', ')}`,
    )
  }
  const keyId = readText(field('clientAssertionSigningKeyId', options.clientAssertionSigningKeyId), note)
  return {
    kind: 'assertion',
    key,
    algorithms: names,
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(keyId === undefined ? {} : { keyId }),
  }
}

/** Exactly one method: a key wins over a secret. Undefined while neither is usable, which is noted. */
export function resolveClientAuth(options: IdpClientOptions, env: Env, note: Note): ClientAuth | undefined {
  const keyField = field(
    'clientAssertionSigningKey',
    options.clientAssertionSigningKey,
    env,
    'IDP_CLIENT_ASSERTION_SIGNING_KEY',
  )
  const secretField = field('clientSecret', options.clientSecret, env, 'IDP_CLIENT_SECRET')
  const assertion = resolveAssertion(options, env, note)
  if (assertion || isSet(keyField)) return assertion
  for (const name of ['clientAssertionSigningAlg', 'clientAssertionSigningKeyId'] as const) {
    if (isGiven(options[name])) {
      note('notice', `${name} has no effect without clientAssertionSigningKey.`)
    }
  }
  const secret = readText(secretField, note)
  if (secret !== undefined) return { kind: 'secret', secret }
  if (!isSet(secretField)) {
    note(
      'missing',
      `clientSecret is missing: ${waysToSet(secretField)} (or, instead, clientAssertionSigningKey or IDP_CLIENT_ASSERTION_SIGNING_KEY).`,
    )
  }
  return undefined
}
