import { allFeatures } from '../../src/all-features.ts'
import type { Resolved } from '../../src/config/config.ts'
import type { Env } from '../../src/config/env.ts'
import type { IdpClientOptions } from '../../src/config/options.ts'
import { resolve as resolveWith } from '../../src/config/resolve.ts'

/** Resolves options and variables as the entries with all features do. */
export function resolve(options: IdpClientOptions, env: Env): Resolved {
  return resolveWith(options, env, allFeatures)
}
