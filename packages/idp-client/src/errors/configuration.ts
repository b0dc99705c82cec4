import { toParameterString } from '../lib/strings.ts'
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

/** Names of parameters; others may be input. */
const NAME = /^[\w.-]{1,60}$/

/**
 * Converts a parameter of a call to a string, in the option `option` of the call. Throws `InvalidConfigurationError`, as the
 * configuration does, for a value that has no string form.
 */
export function toParameter(option: string, name: string, value: unknown): string {
  const text = toParameterString(value)
  if (text !== undefined) return text
  const parameter = NAME.test(name) ? `${option}.${name}` : `A value in ${option}`
  throw invalidConfiguration(`${parameter} must be a string, or an object that JSON can hold.`)
}
