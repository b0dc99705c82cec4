import { isCryptoKey } from '../crypto/keys.ts'
import type { DpopConfig, DpopKeys } from './config.ts'
import type { PemLabel } from './pem.ts'
import { detectKeyKind, isOtherPair, pemFault, unescapePem } from './pem.ts'
import type { Source } from './readers.ts'
import { getField, invalid, isPresent, notice, readFlag, readNumber, readText } from './readers.ts'

const none: DpopKeys = { kind: 'none' }

/** An ES256 key (RFC 9449 with RFC 7518 section 3.4) of one half of the pair. */
function isEs256(key: unknown, type: 'public' | 'private'): key is CryptoKey {
  if (!isCryptoKey(key) || key.type !== type || key.algorithm.name !== 'ECDSA') return false
  if (!('namedCurve' in key.algorithm) || key.algorithm.namedCurve !== 'P-256') return false
  return type === 'public' ? key.extractable : key.usages.includes('sign')
}

function pairFromOption(source: Source): DpopKeys {
  const { given: publicKey } = getField('dpopKeyPair.publicKey', source)
  const { given: privateKey } = getField('dpopKeyPair.privateKey', source)
  if (isEs256(publicKey, 'public') && isEs256(privateKey, 'private'))
    return { kind: 'pair', publicKey, privateKey }
  invalid(
    getField('dpopKeyPair', source),
    'must hold publicKey (extractable) and privateKey, two CryptoKeys of one ES256 pair (ECDSA, P-256)',
  )
  return none
}

function keyFault(pem: string, label: PemLabel): string | null {
  const fault = pemFault(pem, label)
  if (fault !== null) return fault
  return detectKeyKind(pem) === 'P-256' ? null : 'must hold a key for ES256 (elliptic curve P-256)'
}

function pairFromVariables(source: Source): DpopKeys {
  const publicField = getField('dpopKeyPair.publicKey', source)
  const privateField = getField('dpopKeyPair.privateKey', source)
  const publicText = readText(publicField)
  const privateText = readText(privateField)
  if (publicText === undefined || privateText === undefined) {
    source.addIssue(
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
  if (publicFault !== null) invalid(publicField, publicFault)
  if (privateFault !== null) invalid(privateField, privateFault)
  if (publicFault !== null || privateFault !== null) return none
  if (!isOtherPair(publicKey, privateKey)) return { kind: 'pem', publicKey, privateKey }
  invalid(
    publicField,
    'is not the public half of IDP_DPOP_PRIVATE_KEY: set both from one run of npx idp-client dpop-keys',
  )
  return none
}

/** Fetchers may use DPoP while `useDPoP` is off, so keys are always read; then they are optional. */
function resolveKeys(source: Source, enabled: boolean): DpopKeys {
  if (!isPresent(source.options.dpopKeyPair))
    return pairFromVariables(enabled ? source : { ...source, addIssue: () => {} })
  if (!enabled) {
    const what = 'is used only by fetchers with useDPoP, because the option useDPoP is false'
    notice(getField('dpopKeyPair', source), what)
  }
  return pairFromOption(source)
}

/** Seconds above which a tolerance is reported. */
const longTolerance = 300

export function resolveDpop(source: Source): DpopConfig {
  const clockTolerance = readNumber(getField('dpopOptions.clockTolerance', source))
  if (clockTolerance > longTolerance) {
    source.addIssue(
      'notice',
      `dpopOptions.clockTolerance is above ${longTolerance} seconds: expired tokens are accepted that long.`,
    )
  }
  const enabled = readFlag(getField('useDPoP', source))
  return {
    enabled,
    keys: resolveKeys(source, enabled),
    clockTolerance,
    clockSkew: readNumber(getField('dpopOptions.clockSkew', source)),
    retry: {
      delay: readNumber(getField('dpopOptions.retry.delay', source)),
      jitter: readFlag(getField('dpopOptions.retry.jitter', source)),
    },
  }
}
