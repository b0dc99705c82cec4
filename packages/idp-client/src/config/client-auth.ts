import type { ClientAuth } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import { pemFault, unescapePem } from './pem.ts'
import type { Note } from './readers.ts'
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

function resolveAlgorithm(options: IdpClientOptions, env: Env, note: Note): string | undefined {
  const setting = field(
    'clientAssertionSigningAlg',
    options.clientAssertionSigningAlg,
    env,
    'IDP_CLIENT_ASSERTION_SIGNING_ALG',
  )
  const algorithm = readText(setting, note)
  if (algorithm === undefined || algorithms.has(algorithm)) return algorithm
  return refuse(setting, note, `must be one of ${[...algorithms].join(', ')}`)
}

function resolveKey(options: IdpClientOptions, env: Env, note: Note): string | CryptoKey | undefined {
  const given = options.clientAssertionSigningKey
  const setting = field('clientAssertionSigningKey', given, env, 'IDP_CLIENT_ASSERTION_SIGNING_KEY')
  if (isCryptoKey(given)) {
    if (given.type === 'private' && given.usages.includes('sign')) return given
    return refuse(setting, note, "must be a private key with the usage 'sign'")
  }
  const text = readText(setting, note)
  if (text === undefined) return undefined
  const pem = unescapePem(text)
  const fault = pemFault(pem, 'PRIVATE KEY')
  return fault === null ? pem : refuse(setting, note, fault)
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
  const algorithm = resolveAlgorithm(options, env, note)
  const key = resolveKey(options, env, note)
  if (key !== undefined) return { kind: 'assertion', key, ...(algorithm === undefined ? {} : { algorithm }) }
  if (isSet(keyField)) return undefined
  if (isGiven(options.clientAssertionSigningAlg)) {
    note('notice', 'clientAssertionSigningAlg has no effect without clientAssertionSigningKey.')
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
