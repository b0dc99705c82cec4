import type { IdpErrorOptions } from './base.ts'
import { IdpError, isIdpError } from './base.ts'
import type { CodesOf } from './code.ts'

/** One of the provider's endpoints. */
export type ProviderEndpoint =
  | 'discovery'
  | 'jwks'
  | 'authorization'
  | 'par'
  | 'token'
  | 'userinfo'
  | 'revocation'
  | 'backchannel_authentication'
  | 'mfa_authenticators'
  | 'mfa_challenge'
  | 'mfa_associate'
  | 'end_session'
  | 'account'

export interface DiscoveryErrorOptions extends IdpErrorOptions {
  endpoint?: ProviderEndpoint
  /** HTTP status of the response. */
  status?: number
  /** The system's code for a failed connection: `ECONNREFUSED`, `ENOTFOUND`, `CERT_HAS_EXPIRED`. */
  systemCode?: string
  /** URL of the discovery document, derived from the option `domain`. */
  url?: string
}

/** The provider's metadata or keys could not be loaded. Failures are never cached. */
export class DiscoveryError extends IdpError<CodesOf<'DiscoveryError'>> {
  /** @internal */
  static override readonly errorBrand = 'DiscoveryError'
  declare readonly name: 'DiscoveryError'
  readonly endpoint: ProviderEndpoint | undefined
  readonly status: number | undefined
  readonly systemCode: string | undefined
  readonly url: string | undefined

  constructor(code: DiscoveryError['code'], options: DiscoveryErrorOptions = {}) {
    super(code, options)
    this.endpoint = options.endpoint
    this.status = options.status
    this.systemCode = options.systemCode
    this.url = options.url
  }
}

/** Whether a request to the provider failed. Compares names, because the error may come from another copy of the package. */
export function isProviderError(error: unknown): error is OAuthError | DiscoveryError {
  return isIdpError(error) && (error.name === 'OAuthError' || error.name === 'DiscoveryError')
}

export interface OAuthErrorOptions extends Omit<DiscoveryErrorOptions, 'url'> {
  error?: string
  description?: string
  retryAfter?: number
}

/**
 * The provider rejected a request, failed or could not be reached. Usually the `cause` of another error. It has
 * `error`, `status`, `description` and `retryAfter` if the response had them; `transient` tells whether the same
 * request may succeed later.
 */
export class OAuthError extends IdpError<CodesOf<'OAuthError'>> {
  /** @internal */
  static override readonly errorBrand = 'OAuthError'
  declare readonly name: 'OAuthError'
  /** `error` of the provider's response (RFC 6749 section 5.2), limited to the characters that the RFC allows. */
  readonly error: string | undefined
  /** HTTP status of the provider's response. */
  readonly status: number | undefined
  /** `error_description`: text of the provider, possibly influenced by an attacker. Escape it before rendering. */
  readonly description: string | undefined
  /** Seconds of a `Retry-After` header. */
  readonly retryAfter: number | undefined
  /** The endpoint that was requested; `undefined` for an error in a redirect to the application. */
  endpoint: ProviderEndpoint | undefined
  readonly systemCode: string | undefined

  constructor(code: OAuthError['code'], options: OAuthErrorOptions = {}) {
    super(code, options)
    this.error = options.error
    this.status = options.status
    this.description = options.description
    this.retryAfter = options.retryAfter
    this.endpoint = options.endpoint
    this.systemCode = options.systemCode
  }

  /** Whether the same request may succeed later: no response, 429 or 5xx. A refresh token is only discarded if it is not. */
  get transient(): boolean {
    if (this.code === 'REQUEST_FAILED' || this.code === 'REQUEST_TIMEOUT') return true
    return this.status !== undefined && (this.status === 429 || this.status >= 500)
  }
}
