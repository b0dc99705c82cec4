import { signatureAlgorithms } from '../crypto/keys.ts'
import type { ClientAuth, SecretMethod } from './config.ts'
import type { Env } from './env.ts'
import type { TextRow } from './option-rows.ts'
import type { IdpClientOptions } from './options.ts'
import type { KeyKind } from './pem.ts'
import { detectKeyKind, pemFault, unescapePem } from './pem.ts'
import type { AddIssue, Field } from './readers.ts'
import { getField, invalid, isPresent, isSet, readOneOf, readText, waysToSet } from './readers.ts'

/** Asymmetric algorithms only (RFC 7518, RFC 8037, RFC 9864): a shared secret signs nothing here. */
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

function resolveAlgorithm(field: Field<TextRow>, addIssue: AddIssue): string | undefined {
  const algorithm = readText(field, addIssue)
  if (algorithm === undefined || algorithms.has(algorithm)) return algorithm
  return invalid(field, addIssue, `must be one of ${[...algorithms].join(', ')}`)
}

function resolveKey(options: IdpClientOptions, env: Env, addIssue: AddIssue): string | CryptoKey | undefined {
  const given = options.clientAssertionSigningKey
  const field = getField('clientAssertionSigningKey', options, env)
  if (isCryptoKey(given)) {
    const signs = given.type === 'private' && given.usages.includes('sign')
    if (signs && signatureAlgorithms(given).length > 0) return given
    return invalid(field, addIssue, "must be a private key with the usage 'sign' (RSA, ECDSA or Ed25519)")
  }
  const text = readText(field, addIssue)
  if (text === undefined) return undefined
  const pem = unescapePem(text)
  const fault = pemFault(pem, 'PRIVATE KEY')
  if (fault !== null) return invalid(field, addIssue, fault)
  if (detectKeyKind(pem)) return pem
  return invalid(
    field,
    addIssue,
    'must hold an RSA, an elliptic curve (P-256, P-384, P-521) or an Ed25519 key',
  )
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

function resolveAudience(
  options: IdpClientOptions,
  env: Env,
  addIssue: AddIssue,
): 'token_endpoint' | undefined {
  const audience = readOneOf(getField('clientAssertionAudience', options, env), addIssue)
  return audience === 'token_endpoint' ? audience : undefined
}

/** How a secret is sent; beside a key it contradicts it. */
function resolveMethod(
  options: IdpClientOptions,
  env: Env,
  hasKey: boolean,
  addIssue: AddIssue,
): SecretMethod | undefined {
  const field = getField('tokenEndpointAuthMethod', options, env)
  const method = readOneOf(field, addIssue)
  if (method === undefined || !hasKey) return method
  const remedy = 'remove it, or clientAssertionSigningKey and IDP_CLIENT_ASSERTION_SIGNING_KEY'
  return invalid(
    field,
    addIssue,
    `is a way to send a client secret, but a key is set, which is used instead: ${remedy}`,
  )
}

function resolveAssertion(options: IdpClientOptions, env: Env, addIssue: AddIssue): ClientAuth | undefined {
  const field = getField('clientAssertionSigningAlg', options, env)
  const algorithm = resolveAlgorithm(field, addIssue)
  const key = resolveKey(options, env, addIssue)
  if (key === undefined) return undefined
  const names = listAlgorithms(key)
  if (algorithm !== undefined && !names.includes(algorithm)) {
    return invalid(
      field,
      addIssue,
      `does not fit clientAssertionSigningKey, which signs with ${names.join(', ')}`,
    )
  }
  const keyId = readText(getField('clientAssertionSigningKeyId', options), addIssue)
  const audience = resolveAudience(options, env, addIssue)
  return {
    kind: 'assertion',
    key,
    algorithms: names,
    ...(algorithm === undefined ? {} : { algorithm }),
    ...(keyId === undefined ? {} : { keyId }),
    ...(audience === undefined ? {} : { audience }),
  }
}

/** Exactly one method: a key wins over a secret. Undefined while neither is usable, which is noted. */
export function resolveClientAuth(
  options: IdpClientOptions,
  env: Env,
  addIssue: AddIssue,
): ClientAuth | undefined {
  const keyField = getField('clientAssertionSigningKey', options, env)
  const secretField = getField('clientSecret', options, env)
  const method = resolveMethod(options, env, isSet(keyField), addIssue)
  const assertion = resolveAssertion(options, env, addIssue)
  if (assertion || isSet(keyField)) return assertion
  const assertionOptions = [
    'clientAssertionSigningAlg',
    'clientAssertionSigningKeyId',
    'clientAssertionAudience',
  ] as const
  for (const name of assertionOptions) {
    if (isPresent(options[name])) {
      addIssue('notice', `${name} has no effect without clientAssertionSigningKey.`)
    }
  }
  const secret = readText(secretField, addIssue)
  if (secret !== undefined) return { kind: 'secret', secret, ...(method === undefined ? {} : { method }) }
  if (!isSet(secretField)) {
    addIssue(
      'missing',
      `clientSecret is missing: ${waysToSet(secretField)} (or, instead, clientAssertionSigningKey or IDP_CLIENT_ASSERTION_SIGNING_KEY).`,
    )
  }
  return undefined
}

/** The algorithms that `idTokenSignedResponseAlg` pins; undefined where it pins none. */
export function resolveIdTokenAlgorithms(
  options: IdpClientOptions,
  env: Env,
  addIssue: AddIssue,
): readonly string[] | undefined {
  const field = getField('idTokenSignedResponseAlg', options, env)
  const source: unknown = isPresent(field.given) ? field.given : field.text
  if (source === undefined) return undefined
  const names: readonly unknown[] =
    typeof source === 'string' ? source.split(',').map((name) => name.trim()) : [source].flat()
  const isKnown = (name: unknown): name is string => typeof name === 'string' && algorithms.has(name)
  if (names.length > 0 && names.every(isKnown)) return Object.freeze([...new Set(names)])
  return invalid(
    field,
    addIssue,
    `must be one or several of ${[...algorithms].join(', ')} (a string or an array of strings)`,
  )
}
