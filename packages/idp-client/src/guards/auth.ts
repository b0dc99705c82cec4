import type { AccessTokenExchangeOptions, ExchangedAccessToken } from '../flows/exchange-access-token.ts'
import type { CheckedClaims } from '../oidc/access-token-claims.ts'
import type { SessionData } from '../session/model/session-data.ts'

/** The user of a session, as guards and `authorize` get it. */
export interface SessionAuth {
  readonly kind: 'session'
  /** The provider's `sub` of the user. */
  readonly sub: string
  /** Always false: a session belongs to a user, never to a client. */
  readonly isClient: false
  /**
   * Scope that was granted, separated by spaces, empty if unknown: to the access token of the login; with `accept` for the first
   * of the resources whose granted scope is sufficient.
   */
  readonly scope: string
  /** The claims of the session's ID token, which hooks do not change; only `sub` if no ID token is stored. */
  readonly claims: Readonly<Record<string, unknown>>
  /** A copy of the session. */
  readonly session: SessionData
  readonly token?: undefined
}

/**
 * All claims of an access token. The types of `Claims` are those that the application expects of its provider: only the types of
 * `CheckedClaims` are checked, and those `Claims` does not change.
 */
export type AccessTokenClaims<Claims extends object = object> = Readonly<Record<string, unknown>> &
  CheckedClaims & { readonly [Name in keyof Claims as Exclude<Name, keyof CheckedClaims>]: Claims[Name] }

/** The sender of a verified access token, as guards and `authorize` get it. */
export interface TokenAuth<Claims extends object = object> {
  readonly kind: 'token'
  /** The provider's `sub`: of a user, or of the client itself if `isClient` is true. */
  readonly sub: string
  /** The client that obtained the token: `client_id`, `azp`, `cid` or `appid`, if the token has one. */
  readonly clientId?: string
  /** Whether the client acts for itself (client credentials). Never compare its `sub` with that of a user. */
  readonly isClient: boolean
  /** Scope of the token (`scope` or `scp`), separated by spaces; empty if it has none. */
  readonly scope: string
  /** All claims of the token, as the provider signed them. */
  readonly claims: AccessTokenClaims<Claims>
  /** The access token. Never send it to another API. */
  readonly token: string
  /**
   * Exchanges the token for one of another API, on behalf of its user (RFC 8693). Sends only the scope that is given; a refresh
   * token in the response is dropped. Throws `CustomTokenExchangeError` `EXCHANGE_FAILED` with the provider's error as `cause`,
   * and `INVALID_ARGUMENTS`.
   */
  readonly exchange: (options: AccessTokenExchangeOptions) => Promise<ExchangedAccessToken>
  readonly session?: undefined
}

/** The caller that a guard with `accept` has let pass. */
export type Auth<Claims extends object = object> = SessionAuth | TokenAuth<Claims>
