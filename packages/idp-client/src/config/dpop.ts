import type { DpopConfig } from './config.ts'
import { resolveDpopKeys } from './dpop-keys.ts'
import type { Env } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import type { AddIssue } from './readers.ts'
import { getField, readFlag, readNumber } from './readers.ts'

/** Seconds above which a tolerance is reported. */
const longTolerance = 300

export function resolveDpop(options: IdpClientOptions, env: Env, addIssue: AddIssue): DpopConfig {
  const clockTolerance = readNumber(getField('dpopOptions.clockTolerance', options, env), addIssue)
  if (clockTolerance > longTolerance) {
    addIssue(
      'notice',
      `dpopOptions.clockTolerance is above ${longTolerance} seconds: expired tokens are accepted that long.`,
    )
  }
  const enabled = readFlag(getField('useDPoP', options), addIssue)
  return {
    enabled,
    keys: resolveDpopKeys(options, env, enabled, addIssue),
    clockTolerance,
    clockSkew: readNumber(getField('dpopOptions.clockSkew', options, env), addIssue),
    retry: {
      delay: readNumber(getField('dpopOptions.retry.delay', options, env), addIssue),
      jitter: readFlag(getField('dpopOptions.retry.jitter', options, env), addIssue),
    },
  }
}
