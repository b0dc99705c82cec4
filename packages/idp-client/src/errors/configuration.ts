import { IdpError } from './base.ts'
import type { CodesOf } from './code.ts'

/** Options or environment variables are missing, invalid or contradictory. */
export class InvalidConfigurationError extends IdpError<CodesOf<'InvalidConfigurationError'>> {
  /** @internal */
  static override readonly errorBrand = 'InvalidConfigurationError'
  declare readonly name: 'InvalidConfigurationError'
}

/** Creates the error of the general code. */
export function invalidConfiguration(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}
