import type { IdpErrorOptions } from './base.ts'
import { IdpError, isIdpError } from './base.ts'

/** The provider's metadata or keys could not be loaded; never cached, the next use tries again. */
export class DiscoveryError extends IdpError<'DISCOVERY_ERROR' | 'DISCOVERY_TIMEOUT' | 'JWKS_ERROR'> {
  /** @internal */
  static override readonly errorBrand = 'DiscoveryError'
  declare readonly name: 'DiscoveryError'
}

/** Whether the provider said no or could not be heard; by name, like everything that may come from another copy. */
export function isProviderError(error: unknown): error is OAuthError | DiscoveryError {
  return isIdpError(error) && (error.name === 'OAuthError' || error.name === 'DiscoveryError')
}

export interface OAuthErrorOptions extends IdpErrorOptions {
  error?: string
  status?: number
  description?: string
  retryAfter?: number
}

/** The provider said no, or could not be heard. Usually the `cause` of an error of the operation. */
export class OAuthError extends IdpError<
  'OAUTH_ERROR' | 'REQUEST_FAILED' | 'REQUEST_TIMEOUT' | 'RESPONSE_INVALID' | 'ID_TOKEN_INVALID'
> {
  /** @internal */
  static override readonly errorBrand = 'OAuthError'
  declare readonly name: 'OAuthError'
  /** The `error` member of the provider's answer (RFC 6749 section 5.2), limited to the characters that it allows. */
  readonly error: string | undefined
  /** HTTP status of the provider's answer. */
  readonly status: number | undefined
  /** `error_description`: text of the provider, possibly influenced by an attacker. Escape it before rendering. */
  readonly description: string | undefined
  /** Seconds of a `Retry-After` header. */
  readonly retryAfter: number | undefined

  constructor(code: OAuthError['code'], options: OAuthErrorOptions = {}) {
    super(code, options)
    this.error = options.error
    this.status = options.status
    this.description = options.description
    this.retryAfter = options.retryAfter
  }

  /** Whether the same request may succeed later: no answer, 429 or 5xx. Decides between keeping a token and giving it up. */
  get transient(): boolean {
    if (this.code === 'REQUEST_FAILED' || this.code === 'REQUEST_TIMEOUT') return true
    return this.status !== undefined && (this.status === 429 || this.status >= 500)
  }
}
