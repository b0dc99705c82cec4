import type { Config } from '../config/config.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { SafeReturnPath } from '../http/return-path.ts'
import { ROOT_PATH, safeReturnPath } from '../http/return-path.ts'

/**
 * Returns the redirect URI: `given` byte for byte, otherwise the URL of the callback route. Throws
 * `InvalidConfigurationError` for a URL on another origin.
 */
export function toRedirectUri(
  { basePath, routes }: Pick<Config, 'basePath' | 'routes'>,
  baseUrl: string,
  given: string | undefined,
): string {
  if (given === undefined) return `${baseUrl}${basePath}${routes.callback}`
  const sameOrigin = URL.canParse(given) && new URL(given).origin === new URL(baseUrl).origin
  if (sameOrigin && !given.includes('#')) return given
  const detail =
    'authorizationParameters.redirect_uri must be an absolute URL without fragment on the origin of the application.'
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}

/** Parses an untrusted destination. Returns `signInReturnToPath` for an invalid or absent one. */
export function toReturnPath(
  { signInReturnToPath }: Pick<Config, 'signInReturnToPath'>,
  baseUrl: string,
  returnTo: unknown,
): SafeReturnPath {
  return safeReturnPath(returnTo, baseUrl) ?? safeReturnPath(signInReturnToPath, baseUrl) ?? ROOT_PATH
}
