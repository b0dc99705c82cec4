import { defined } from '../lib/own-properties.ts'
import type { ClientAuth } from './config.ts'
import type { Source } from './readers.ts'
import { getField, readOneOf } from './readers.ts'
import { readSigningKey } from './signing-key.ts'

function resolveAudience(source: Source): 'token_endpoint' | undefined {
  const audience = readOneOf(getField('clientAssertionAudience', source))
  return audience === 'token_endpoint' ? audience : undefined
}

/** Resolves the options of `private_key_jwt` (RFC 7523); undefined without a usable key. */
export function resolveAssertion(source: Source): ClientAuth | undefined {
  const key = readSigningKey({
    key: getField('clientAssertionSigningKey', source),
    algorithm: getField('clientAssertionSigningAlg', source),
    keyId: getField('clientAssertionSigningKeyId', source),
  })
  return key && defined({ kind: 'assertion', ...key, audience: resolveAudience(source) })
}
