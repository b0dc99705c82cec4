import type { Engine } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
import { isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { reportRefusal } from '../log/refusal.ts'

/**
 * Counts a failure that anybody can cause any number of times in the log, and returns it: one of these codes, or of the provider.
 * Throws any other.
 */
export function toCountedRefusal({ config }: Engine, thrown: unknown, codes: readonly Code[]): IdpError {
  if (!isIdpError(thrown)) throw thrown
  if (thrown.name !== 'DiscoveryError' && !codes.includes(thrown.code)) throw thrown
  reportRefusal(config, thrown, 'warn')
  return thrown
}
