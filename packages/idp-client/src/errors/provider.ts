import type { IdpErrorOptions } from './base.ts'
import { defineFacts, IdpError, isIdpError } from './base.ts'
import type { CodesOf } from './code.ts'
import { codes } from './codes.ts'

/** One of the provider's endpoints. */
export type ProviderEndpoint =
  | 'discovery'
  | 'jwks'
  | 'authorization'
  | 'par'
  | 'token'
  | 'userinfo'
  | 'revocation'
  | 'introspection'
  | 'backchannel_authentication'
  | 'mfa_authenticators'
  | 'mfa_challenge'
  | 'mfa_associate'
  | 'end_session'
  | 'account'

export interface DiscoveryErrorOptions extends Omit<IdpErrorOptions, 'status'> {
  endpoint?: ProviderEndpoint
  /** HTTP status of the response. */
  providerStatus?: number
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
  /** HTTP status of the provider's response. */
  readonly providerStatus: number | undefined
  /** Not enumerable. */
  declare readonly systemCode: string | undefined
  /** Not enumerable. */
  declare readonly url: string | undefined

  constructor(code: DiscoveryError['code'], options: DiscoveryErrorOptions = {}) {
    super(code, { ...options, status: codes[code].status })
    this.endpoint = options.endpoint
    this.providerStatus = options.providerStatus
    defineFacts(this, { systemCode: options.systemCode, url: options.url })
  }
}

/** Whether a request to the provider failed. Compares names, because the error may come from another copy of the package. */
export function isProviderError(error: unknown): error is OAuthError | DiscoveryError {
  return isIdpError(error) && (error.name === 'OAuthError' || error.name === 'DiscoveryError')
}

/** The `suberror` of Microsoft Entra ID for a grant that stays valid: the user has to do more before it yields these tokens. */
const INSUFFICIENT: readonly unknown[] = ['additional_action', 'basic_action', 'consent_required']

/**
 * Returns whether the provider has rejected a grant, such as a refresh token, for good (RFC 6749 section 5.2). With 429 or 5xx it has
 * not decided: a gateway may report the failure of the provider behind it like that.
 */
export function isInvalidGrant(error: unknown): boolean {
  if (!isIdpError(error, 'OAUTH_ERROR') || !('error' in error) || error.status !== undefined) return false
  // Ory Hydra up to version 2.2 calls a used refresh token `token_inactive`.
  if (error.error !== 'invalid_grant') return error.error === 'token_inactive'
  return !('suberror' in error && INSUFFICIENT.includes(error.suberror))
}

export interface OAuthErrorOptions extends Omit<DiscoveryErrorOptions, 'url'> {
  error?: string
  suberror?: string
  description?: string
  retryAfter?: number
}

/** Returns the status for a temporary failure of the provider; undefined if it decided. */
export function toUpstreamStatus(providerStatus: number | undefined): number | undefined {
  if (providerStatus === 429 || providerStatus === 503) return 503
  return providerStatus !== undefined && providerStatus >= 500 ? 502 : undefined
}

/**
 * The provider rejected a request, failed or could not be reached. Usually the `cause` of another error. It has
 * `error`, `suberror`, `providerStatus`, `description` and `retryAfter` if the response had them; `transient` tells whether the same
 * request may succeed later.
 */
export class OAuthError extends IdpError<CodesOf<'OAuthError'>> {
  /** @internal */
  static override readonly errorBrand = 'OAuthError'
  declare readonly name: 'OAuthError'
  /** `error` of the provider's response (RFC 6749 section 5.2), limited to the characters that the RFC allows. */
  readonly error: string | undefined
  /** HTTP status of the provider's response. */
  readonly providerStatus: number | undefined
  /**
   * `error_description`: text of the provider, possibly influenced by an attacker. Escape it before rendering. Not
   * enumerable.
   */
  declare readonly description: string | undefined
  /** `suberror` of the response, by which Microsoft Entra ID refines `error`; limited to the same characters. Not enumerable. */
  declare readonly suberror: string | undefined
  /** Seconds of a `Retry-After` header. */
  readonly retryAfter: number | undefined
  /** The endpoint that was requested; `undefined` for an error in a redirect to the application. */
  endpoint: ProviderEndpoint | undefined
  /** Not enumerable. */
  declare readonly systemCode: string | undefined

  constructor(code: OAuthError['code'], options: OAuthErrorOptions = {}) {
    const { description, endpoint, error, providerStatus, retryAfter, suberror, systemCode } = options
    const isUnreachable = code === 'REQUEST_FAILED' || code === 'REQUEST_TIMEOUT'
    super(code, { ...options, status: isUnreachable ? codes[code].status : toUpstreamStatus(providerStatus) })
    this.error = error
    this.providerStatus = providerStatus
    this.retryAfter = retryAfter
    this.endpoint = endpoint
    defineFacts(this, { description, suberror, systemCode })
  }

  /** Whether the same request may succeed later: no response, 429 or 5xx. A refresh token is only discarded if it is not. */
  get transient(): boolean {
    return this.status !== undefined
  }
}

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
