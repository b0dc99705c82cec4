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

/** Creates the error for a mistake that stops the start of the application: its message always contains the detail. */
export function invalidAtStart(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', { detail, atConstruction: true })
}
