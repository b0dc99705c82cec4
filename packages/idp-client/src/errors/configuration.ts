import { IdpError } from './base.ts'

/** Options or variables are missing, wrong or contradictory; the message names each with its fix. */
export class InvalidConfigurationError extends IdpError<
  'INVALID_CONFIGURATION' | 'SERVER_ONLY' | 'BASE_URL_UNKNOWN' | 'BASE_URL_NOT_ALLOWED'
> {
  /** @internal */
  static override readonly errorBrand = 'InvalidConfigurationError'
  declare readonly name: 'InvalidConfigurationError'
}
