import type { IdpError } from './base.ts'
import { isIdpError } from './base.ts'

const NAMES: ReadonlySet<string> = new Set([
  'AccessTokenError',
  'AccountApiError',
  'DiscoveryError',
  'OAuthError',
])

/** Whether an error tells what came of asking the provider, rather than of the configuration or of this application. */
export function isProviderFailure(error: unknown): error is IdpError {
  return isIdpError(error) && NAMES.has(error.name)
}
