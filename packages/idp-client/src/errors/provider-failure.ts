import type { IdpError } from './base.ts'
import { isIdpError } from './base.ts'

const NAMES: ReadonlySet<string> = new Set([
  'AccessTokenError',
  'AccountApiError',
  'DiscoveryError',
  'OAuthError',
])

/**
 * Returns whether an error comes from a request to the provider, rather than from the configuration or the
 * application.
 */
export function isProviderFailure(error: unknown): error is IdpError {
  return isIdpError(error) && NAMES.has(error.name)
}
