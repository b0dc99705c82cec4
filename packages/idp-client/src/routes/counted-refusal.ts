import type { Engine } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
import { isIdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { reportRefusal } from '../log/refusal.ts'

/**
 * Logs a refusal that anybody can cause, at most once a minute for each code, and returns it: one of these codes, or a failure of the
 * provider. Throws any other error.
 */
export function reportCounted({ config }: Engine, thrown: unknown, codes: readonly Code[]): IdpError {
  if (!isIdpError(thrown)) throw thrown
  if (thrown.name !== 'DiscoveryError' && !codes.includes(thrown.code)) throw thrown
  reportRefusal(config, thrown, 'warn')
  return thrown
}
