import { isCryptoKey } from '../crypto/keys.ts'
import type { DpopKeys } from './config.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import type { PemLabel } from './pem.ts'
import { detectKeyKind, isOtherPair, pemFault, unescapePem } from './pem.ts'
import type { AddIssue } from './readers.ts'
import { getField, invalid, isPresent, readText } from './readers.ts'

const none: DpopKeys = { kind: 'none' }

/** An ES256 key (RFC 9449 with RFC 7518 section 3.4) of one half of the pair. */
function isEs256(key: unknown, type: 'public' | 'private'): key is CryptoKey {
  if (!isCryptoKey(key) || key.type !== type || key.algorithm.name !== 'ECDSA') return false
  if (!('namedCurve' in key.algorithm) || key.algorithm.namedCurve !== 'P-256') return false
  return type === 'public' ? key.extractable : key.usages.includes('sign')
}

/** Public and private key. */
function keyFields(options: IdpClientOptions, env: Env) {
  return [
    getField('dpopKeyPair.publicKey', options, env),
    getField('dpopKeyPair.privateKey', options, env),
  ] as const
}

function pairFromOption(options: IdpClientOptions, env: Env, addIssue: AddIssue): DpopKeys {
  const [publicKey, privateKey] = keyFields(options, env).map(({ given }) => given)
  if (isEs256(publicKey, 'public') && isEs256(privateKey, 'private'))
    return { kind: 'pair', publicKey, privateKey }
  const what =
    'must hold publicKey (extractable) and privateKey, two CryptoKeys of one ES256 pair (ECDSA, P-256)'
  invalid(getField('dpopKeyPair', options), addIssue, what)
  return none
}

function keyFault(pem: string, label: PemLabel): string | null {
  const fault = pemFault(pem, label)
  if (fault !== null) return fault
  return detectKeyKind(pem) === 'P-256' ? null : 'must hold a key for ES256 (elliptic curve P-256)'
}

function pairFromVariables(env: Env, addIssue: AddIssue): DpopKeys {
  const [publicField, privateField] = keyFields({}, env)
  const publicText = readText(publicField, addIssue)
  const privateText = readText(privateField, addIssue)
  if (publicText === undefined || privateText === undefined) {
    addIssue(
      'missing',
      'dpopKeyPair is missing, which useDPoP needs: set the option dpopKeyPair, or both variables ' +
        'IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY (npx idp-client dpop-keys prints them).',
    )
    return none
  }
  const publicKey = unescapePem(publicText)
  const privateKey = unescapePem(privateText)
  const publicFault = keyFault(publicKey, 'PUBLIC KEY')
  const privateFault = keyFault(privateKey, 'PRIVATE KEY')
  if (publicFault !== null) invalid(publicField, addIssue, publicFault)
  if (privateFault !== null) invalid(privateField, addIssue, privateFault)
  if (publicFault !== null || privateFault !== null) return none
  if (!isOtherPair(publicKey, privateKey)) return { kind: 'pem', publicKey, privateKey }
  invalid(
    publicField,
    addIssue,
    'is not the public half of IDP_DPOP_PRIVATE_KEY: set both from one run of npx idp-client dpop-keys',
  )
  return none
}

/** Fetchers may use DPoP while `useDPoP` is off, so keys are always read; then they are optional. */
export function resolveDpopKeys(
  options: IdpClientOptions,
  env: Env,
  enabled: boolean,
  addIssue: AddIssue,
): DpopKeys {
  if (!isPresent(options.dpopKeyPair)) return pairFromVariables(env, enabled ? addIssue : () => {})
  if (!enabled)
    addIssue(
      'notice',
      'dpopKeyPair is used only by fetchers with useDPoP, because the option useDPoP is false.',
    )
  return pairFromOption(options, env, addIssue)
}
