import { defined } from '../lib/defined.ts'
import { assertionAlgorithms, resolveAssertion } from './client-assertion.ts'
import type { ClientAuth, SecretMethod } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import type { AddIssue } from './readers.ts'
import { getField, invalid, isPresent, isSet, readOneOf, readText, waysToSet } from './readers.ts'

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
  if (secret !== undefined) return defined({ kind: 'secret', secret, method })
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
  const isKnown = (name: unknown): name is string => typeof name === 'string' && assertionAlgorithms.has(name)
  if (names.length > 0 && names.every(isKnown)) return Object.freeze([...new Set(names)])
  return invalid(
    field,
    addIssue,
    `must be one or several of ${[...assertionAlgorithms].join(', ')} (a string or an array of strings)`,
  )
}
