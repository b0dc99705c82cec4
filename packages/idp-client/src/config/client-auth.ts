import { defined } from '../lib/objects.ts'
import type { ClientAuth, SecretMethod, SigningKey } from './config.ts'
import type { Source } from './readers.ts'
import {
  getField,
  invalid,
  isPresent,
  isSet,
  readFlag,
  readGroup,
  readOneOf,
  readRequired,
} from './readers.ts'
import { readSigningKey, signingAlgorithms } from './signing-key.ts'

/** How a secret is sent; beside a key it contradicts it. */
function resolveMethod(source: Source, hasKey: boolean): SecretMethod | undefined {
  const field = getField('tokenEndpointAuthMethod', source)
  const method = readOneOf(field)
  if (method === undefined || !hasKey) return method
  const remedy = 'remove it, or clientAssertionSigningKey and IDP_CLIENT_ASSERTION_SIGNING_KEY'
  return invalid(
    field,
    `is a way to send a client secret, but a key is set, which is used instead: ${remedy}`,
  )
}

/** Options of an assertion beside its key. */
export const ASSERTION_OPTIONS = [
  'clientAssertionSigningAlg',
  'clientAssertionSigningKeyId',
  'clientAssertionAudience',
  'clientAssertionTyp',
] as const

/** Resolves the options of `private_key_jwt` (RFC 7523); undefined without a usable key. */
function resolveAssertion(source: Source): ClientAuth | undefined {
  const key = readSigningKey({
    key: getField('clientAssertionSigningKey', source),
    algorithm: getField('clientAssertionSigningAlg', source),
    keyId: getField('clientAssertionSigningKeyId', source),
  })
  const audience = readOneOf(getField('clientAssertionAudience', source))
  const typ = readOneOf(getField('clientAssertionTyp', source))
  return key && defined({ kind: 'assertion', ...key, audience, typ })
}

/** Exactly one method: a key wins over a secret. Undefined while none is usable, which is noted. */
export function resolveClientAuth(source: Source): ClientAuth | undefined {
  if (readFlag(getField('clientCertificate', source))) return { kind: 'certificate' }
  const keyField = getField('clientAssertionSigningKey', source)
  const method = resolveMethod(source, isSet(keyField))
  const assertion = resolveAssertion(source)
  if (assertion || isSet(keyField)) return assertion
  for (const name of ASSERTION_OPTIONS) {
    if (isPresent(source.options[name])) {
      source.addIssue('notice', `${name} has no effect without clientAssertionSigningKey.`)
    }
  }
  const secret = readRequired(
    getField('clientSecret', source),
    ' (or, instead, clientAssertionSigningKey or IDP_CLIENT_ASSERTION_SIGNING_KEY, or clientCertificate)',
  )
  return secret === undefined ? undefined : defined({ kind: 'secret', secret, method })
}

/** The algorithms that `idTokenSignedResponseAlg` pins; undefined where it pins none. */
export function resolveIdTokenAlgorithms(source: Source): readonly string[] | undefined {
  const field = getField('idTokenSignedResponseAlg', source)
  const given: unknown = isPresent(field.given) ? field.given : field.text
  if (given === undefined) return undefined
  const names: readonly unknown[] =
    typeof given === 'string' ? given.split(',').map((name) => name.trim()) : [given].flat()
  const isKnown = (name: unknown): name is string => typeof name === 'string' && signingAlgorithms.has(name)
  if (names.length > 0 && names.every(isKnown)) return Object.freeze([...new Set(names)])
  return invalid(
    field,
    `must be one or several of ${[...signingAlgorithms].join(', ')} (a string or an array of strings)`,
  )
}

/** Resolves the key that signs authorization requests (RFC 9101); undefined without the option. */
export function resolveRequestObject(source: Source): SigningKey | undefined {
  const { requestObject } = source.options
  if (!isPresent(requestObject)) return undefined
  readGroup('requestObject', requestObject, source)
  const key = getField('requestObject.key', source)
  if (!isSet(key)) return invalid(key, 'is required: the private key that signs authorization requests')
  const algorithm = getField('requestObject.alg', source)
  return readSigningKey({ key, algorithm, keyId: getField('requestObject.keyId', source) })
}
