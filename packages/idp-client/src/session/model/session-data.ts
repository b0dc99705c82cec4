import type { AuthenticationClaims } from './authentication.ts'

/**
 * Claims of the signed-in user. Any claim without a type here is `unknown`.
 *
 * To type custom claims, augment the entry that you import, once per application; every other entry then has them too:
 * `declare module 'idp-client/next' { interface User { department?: string } }`. See
 * https://github.com/idp-client/idp-client/blob/main/docs/reference/session.md#custom-claims
 */
export interface User {
  /** Subject: the stable identifier of the user at this provider (OIDC Core section 2). */
  sub: string
  name?: string
  nickname?: string
  given_name?: string
  family_name?: string
  picture?: string
  email?: string
  email_verified?: boolean
  org_id?: string
  /** The actor of a delegation (RFC 8693 section 4.1). */
  act?: { sub: string; [claim: string]: unknown }
  [claim: string]: unknown
}

/** One entry of `authorization_details` (RFC 9396 section 2). */
export interface AuthorizationDetail {
  type: string
  [property: string]: unknown
}

/** The tokens of the default audience, and the ID and refresh token that all audiences share. */
export interface TokenSet {
  accessToken: string
  /** Seconds since the epoch; always finite. */
  expiresAt: number
  idToken?: string
  refreshToken?: string
  /** Scope that the provider granted; absent if no response named one. */
  scope?: string
  /** Requested scope, which decides whether a later request is covered. */
  requestedScope?: string
  audience?: string
  /** `Bearer` or `DPoP`, in this spelling whatever the provider's. */
  token_type?: string
  /**
   * The details that the provider granted (RFC 9396), which may differ from the requested ones; absent if its response had none.
   * In cookies at most 1024 bytes of JSON are stored.
   */
  authorizationDetails?: AuthorizationDetail[]
}

/** An access token for a further audience (Multi-Resource Refresh Tokens). */
export interface AccessTokenSet {
  accessToken: string
  /** Seconds since the epoch. */
  expiresAt: number
  audience: string
  /** As in `TokenSet`; empty if neither its request nor the response named one, so that nothing says what was granted. */
  scope?: string
  requestedScope?: string
  token_type?: string
  /** As in `TokenSet`. */
  authorizationDetails?: AuthorizationDetail[]
}

/** An entry of `accessTokens` as it is stored. */
export interface StoredAccessTokenSet extends AccessTokenSet {
  /** It was obtained by the verification of a factor; a refresh may not obtain it again. */
  verified?: true
}

/** An access token of a connected account's provider. */
export interface ConnectionTokenSet {
  accessToken: string
  /** Seconds since the epoch. */
  expiresAt: number
  connection: string
  loginHint?: string
  scope?: string
}

export interface InternalSessionData {
  /** The provider's session id (`sid` claim of the ID token), if it sent one. */
  sid?: string
  /** When the user logged in, seconds since the epoch; the absolute lifetime counts from here. */
  createdAt: number
  /**
   * The end that the provider sets by the claim of `session.expiryClaim`, in seconds since the epoch by the clock of the
   * application; absent without such a claim.
   */
  sessionExpiresAt?: number
}

/** `internal` as session stores get and return it, with further properties for the library. */
export interface StoredInternalData extends InternalSessionData {
  /** When use was last recorded, seconds since the epoch. */
  usedAt?: number
  /** Id of the record. A record that a store returns for another id is rejected. */
  id?: string
  /** Tag of provider and client. */
  client?: string
  /** Fingerprints of the authentication that the login requested, and of logins just before. */
  asked?: string
  /** Scope beyond the configured one that the application requested. */
  ownScope?: string
  /** Names of the claims that came from UserInfo. */
  userInfoClaims?: readonly string[]
  /** Issuer and subject of the ID token, for lookups: a hook may have given `user.sub` another meaning. */
  iss?: string
  sub?: string
  /** Claims of the ID token that proved the user's identity in this session. */
  authentication?: AuthenticationClaims
}

/** A signed-in user's session, as applications read it and session stores keep it. Further keys are kept as they are. */
export interface SessionData {
  user: User
  tokenSet: TokenSet
  accessTokens?: AccessTokenSet[]
  connectionTokenSets?: ConnectionTokenSet[]
  /** Written by the library only; whatever an application or a hook puts here is ignored. */
  internal: InternalSessionData
  [key: string]: unknown
}
