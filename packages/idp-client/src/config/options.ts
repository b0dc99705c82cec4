import type { WebCryptoKey } from '../crypto/keys.ts'
import type { SameSite } from '../http/cookie-jar.ts'
import type { Clock } from '../lib/clock.ts'
import type { FetchFunction } from '../lib/fetch-function.ts'
import type { Logger } from '../log/log.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { TakeOver } from '../take-over/take-over.ts'
import type { CrossSiteLoginParameter, LogoutStrategy } from './config.ts'
import type { BeforeSessionSavedHook, OnCallbackHook } from './hooks.ts'
import type { VendorKey } from './vendor.ts'

/**
 * Key of an expert switch of `IdpClientOptions`: the `fetch` that carries every request to the provider (a proxy
 * agent, a test double). Default: the global `fetch` as it is at the time of the call.
 *
 * @example
 * new IdpClient({ [customFetch]: (input, init) => fetch(input, { ...init, keepalive: true }) })
 */
export const customFetch: unique symbol = Symbol.for('idp-client.fetch')

/**
 * Key of an expert switch of `IdpClientOptions`: the clock, whole seconds since the epoch. It decides when sessions,
 * transactions and tokens end; tests move it instead of waiting. Default: the system clock.
 */
export const customClock: unique symbol = Symbol.for('idp-client.clock')

/** Claims of the provider's back-channel logout token (OIDC Back-Channel Logout 2.4); at least one of `sid` and `sub`. */
export interface LogoutToken {
  /** Subject of the user whose sessions end if `sid` is absent. */
  sub?: string
  /** The provider's session id, as in `session.internal.sid`: only that session ends. */
  sid?: string
  /** The issuer; compare it as well when several providers share one store. */
  iss?: string
  /**
   * When the token was issued, in seconds since the epoch by the clock of this application. Without `sid`, sessions whose
   * `internal.createdAt` is more than 60 s later began afterwards and stay.
   */
  iat?: number
}

/** A session of the provider and its user, as the ID token of a login names them. */
export interface ProviderSession {
  iss?: string
  /** Absent if the provider does not name its sessions. */
  sid?: string
  sub?: string
}

/** Until when a record has to be kept: seconds since the epoch. The library checks lifetimes itself; a store may forget. */
export interface SessionExpiry {
  expiresAt: number
}

/** A session of a user, as `listBySubject` of a store returns it. */
export interface SessionRecord {
  /** The key that the session was stored under. */
  id: string
  session: SessionData
}

/** A lock that one process holds. `release` before it expires frees it, and has no effect once another process holds it. */
export interface SessionLock {
  release(): Promise<void>
}

/**
 * Stores sessions outside the cookie, which then contains only an encrypted session key. Every `id` is a hash of that
 * key (43 characters of `A-Z a-z 0-9 _ -`), so that a reader of the store cannot create a cookie. Sessions are plain
 * JSON; `internal` has properties that applications do not see, which must be returned unchanged. The three required
 * methods suffice; https://github.com/idp-client/idp-client/blob/main/docs/guides/session-stores.md describes the optional ones. If a method
 * rejects, the operation fails with `SESSION_STORE_FAILED`.
 */
export interface SessionDataStore {
  /** Returns the session of `id`, or null. */
  get(id: string): Promise<SessionData | null>
  /** Creates or replaces the record. */
  set(id: string, session: SessionData, expiry: SessionExpiry): Promise<void>
  /** Deletes the record; an unknown id is not an error. */
  delete(id: string): Promise<void>
  /**
   * Deletes the session with this `sid`, or without `sid` all of `sub` that began before `iat`. Without it the back-channel
   * logout route responds with 501.
   */
  deleteByLogoutToken?(logoutToken: LogoutToken): Promise<void>
  /**
   * Replaces the record with the result of the pure, synchronous `change`, atomically: no other process writes in
   * between (`change` may be called again). Returns the stored session, or null, without a write, if there is no record.
   * Without it, one of two concurrent writes of different processes may be lost.
   */
  update?(
    id: string,
    change: (current: SessionData) => SessionData,
    expiry: SessionExpiry,
  ): Promise<SessionData | null>
  /**
   * Acquires the lock of `id` for that many milliseconds; returns null if another process holds it. Never waits. Without
   * it two processes may redeem the same refresh token at the same time.
   */
  lock?(id: string, milliseconds: number): Promise<SessionLock | null>
  /** Returns the live sessions of a user, in any order. */
  listBySubject?(sub: string): Promise<readonly SessionRecord[]>
  /** Deletes every session of a user; returns their number. */
  deleteBySubject?(sub: string): Promise<number>
  /**
   * Remembers a name until `expiresAt`; true when it was not known before. For names that count once, such as the `jti`
   * of logout tokens. Without it each process remembers for itself.
   */
  once?(name: string, expiry: SessionExpiry): Promise<boolean>
  /**
   * Returns the latest `iat` of the logout tokens that `deleteByLogoutToken` received during the last ten minutes and
   * that named this session: those with its `sid`, and those without any `sid` with its `sub`. Returns null if there
   * was none. Store it before deleting: a login that is being completed calls this after its session was stored.
   * Without it each process remembers only its own.
   */
  endedAt?(session: ProviderSession): Promise<number | null>
  /**
   * Remembers, at least until `expiresAt`, that the session with this `sid`, or without `sid` every session of `sub`, ended at
   * `iat`: `endedAt` returns it as if a logout token had said so. Deletes nothing. An end that is remembered for longer stays so.
   * Required by `takeOver`.
   */
  rememberEnd?(ended: ProviderSession & { iat: number }, expiry: SessionExpiry): Promise<void>
}

/** Attributes of the session cookie. `HttpOnly` is always set and is therefore no option. */
export interface SessionCookieOptions {
  /**
   * Name of the cookie, and prefix of the names of its chunks. Each application on a host needs [its
   * own](https://github.com/idp-client/idp-client/blob/main/docs/reference/session.md#cookies-of-another-application).
   * @default __session
   */
  name?: string | undefined
  /**
   * `Secure`. In production with an inferred base URL it is always set, and `false` is rejected.
   * @default set when the base URL is https
   * @env IDP_COOKIE_SECURE
   */
  secure?: boolean | undefined
  /**
   * `SameSite`. `none` needs `Secure`.
   * @default lax
   * @env IDP_COOKIE_SAME_SITE
   */
  sameSite?: SameSite | undefined
  /**
   * `Path`, also below a base path. The login, callback and logout routes have to be below it, otherwise a logout
   * cannot delete the cookie.
   * @default /
   * @env IDP_COOKIE_PATH
   */
  path?: string | undefined
  /**
   * `Domain`. Without it the cookie is sent to this host only.
   * @env IDP_COOKIE_DOMAIN
   */
  domain?: string | undefined
  /**
   * `true`: no `Max-Age`, the cookie ends with the browser session.
   * @default false
   * @env IDP_COOKIE_TRANSIENT
   */
  transient?: boolean | undefined
  /**
   * Maximum size of all session cookies together in bytes, including names. Above it, [tokens are
   * omitted](https://github.com/idp-client/idp-client/blob/main/docs/reference/session.md#size), and a login that
   * does not fit fails with `SESSION_TOO_LARGE`. All cookies of the library together take at most 1500 bytes more.
   * @default 6400
   */
  maxBytes?: number | undefined
}

/** Lifetime and cookie of sessions. */
export interface SessionConfiguration {
  /**
   * Activity extends the session, up to `absoluteDuration`. `false`: only the absolute limit applies.
   * @default true
   */
  rolling?: boolean | undefined
  /**
   * Maximum lifetime after the login, in seconds.
   * @default 259200
   */
  absoluteDuration?: number | undefined
  /**
   * Lifetime without activity, in seconds.
   * @default 86400
   */
  inactivityDuration?: number | undefined
  /**
   * Name of a claim of the ID token that limits the session: when it ends at the latest, in integer seconds since the epoch, such
   * as `session_expiry` of IPSIE. See [the end that the provider
   * sets](https://github.com/idp-client/idp-client/blob/main/docs/reference/session.md#the-end-that-the-provider-sets).
   * @default no claim
   */
  expiryClaim?: string | undefined
  /** Attributes of the session cookie. `HttpOnly` is always set. */
  cookie?: SessionCookieOptions | undefined
}

/** The cookies that carry a login from its start to the callback. No environment variable sets any of them. */
export interface TransactionCookieOptions {
  /**
   * Prefix of the cookie names. The name of the session cookie must not begin with it.
   * @default __txn_
   */
  prefix?: string | undefined
  /**
   * `Secure`, as with the session cookie.
   * @default set when the base URL is https
   */
  secure?: boolean | undefined
  /**
   * `SameSite`. With `response_mode: 'form_post'` it is always `none` and `Secure`, which requires https.
   * @default lax
   */
  sameSite?: SameSite | undefined
  /**
   * `Path`. The login, callback and logout routes have to be below it.
   * @default /
   */
  path?: string | undefined
  /**
   * How long a login may take, in seconds.
   * @default 3600
   */
  maxAge?: number | undefined
}

/**
 * Parameters of the authorization request (OIDC Core 3.1.2.1). What belongs to the protocol run itself (`client_id`
 * and every other `client_*`, `response_type`, `state`, `nonce`, `code_challenge`, `code_challenge_method`) is set by
 * the library and dropped here. Null or undefined leaves a parameter out, in a call the configured value as it is; an object is sent
 * as JSON (`claims`).
 */
export interface AuthorizationParameters {
  /**
   * Space-delimited; must contain `openid`. Default and null: `openid profile email offline_access`, without
   * `offline_access` where the provider lists its scopes and that is not among them. A map from
   * audience to scope sends the entry of the requested audience, and requires `audience`.
   */
  scope?: string | null | Readonly<Record<string, string>> | undefined
  /** Identifier of the API that access tokens are for. Default: none. */
  audience?: string | null | undefined
  /**
   * Replaces the callback URL, byte for byte, in the authorization and the token request. Absolute, of the
   * application's origin. Default: the callback route on the base URL.
   */
  redirect_uri?: string | null | undefined
  /** Seconds since the last authentication beyond which the provider must ask again; checked against `auth_time`. */
  max_age?: number | null | undefined
  /** Identifier of the organization to log in to. */
  organization?: string | null | undefined
  /** Any other parameter is sent as given. */
  [parameter: string]: unknown
}

/** Paths of the mounted routes, without the base path. They win over the variables, those over the defaults. */
export interface RoutesOptions {
  /**
   * Path of the login route.
   * @default /auth/login
   * @env FRAMEWORK_PUBLIC_LOGIN_ROUTE
   */
  login?: string | undefined
  /**
   * Path of the logout route.
   * @default /auth/logout
   */
  logout?: string | undefined
  /**
   * Path of the callback route. Register its URL at the provider, including the base path.
   * @default /auth/callback
   */
  callback?: string | undefined
  /**
   * Path of the profile route.
   * @default /auth/profile
   * @env FRAMEWORK_PUBLIC_PROFILE_ROUTE
   */
  profile?: string | undefined
  /**
   * Path of the access-token route, mounted with `enableAccessTokenEndpoint`.
   * @default /auth/access-token
   * @env FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE
   */
  accessToken?: string | undefined
  /**
   * Path of the connect-account route, mounted with `enableConnectAccountEndpoint`.
   * @default /auth/connect
   */
  connectAccount?: string | undefined
  /**
   * Path of the back-channel logout route.
   * @default /auth/backchannel-logout
   */
  backChannelLogout?: string | undefined
  /**
   * Path of the front-channel logout route, mounted with `frontChannelLogout`.
   * @default /auth/frontchannel-logout
   */
  frontChannelLogout?: string | undefined
  /**
   * Path of the route with the public keys, mounted with `enableJwksEndpoint`.
   * @default /auth/jwks
   */
  jwks?: string | undefined
  /**
   * Path of the MFA authenticators route.
   * @default /auth/mfa/authenticators
   * @env FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE
   */
  mfaAuthenticators?: string | undefined
  /**
   * Path of the MFA challenge route.
   * @default /auth/mfa/challenge
   * @env FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE
   */
  mfaChallenge?: string | undefined
  /**
   * Path of the MFA associate route.
   * @default /auth/mfa/associate
   * @env FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE
   */
  mfaAssociate?: string | undefined
  /**
   * Path of the MFA verify route.
   * @default /auth/mfa/verify
   * @env FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE
   */
  mfaVerify?: string | undefined
}

/** Front-channel logout (OpenID Connect Front-Channel Logout 1.0). */
export interface FrontChannelLogoutOptions {
  /**
   * `optional` also accepts requests without `iss`, for a provider that sends none, such as Microsoft Entra ID. An `iss` that is
   * sent must be the issuer in either case.
   * @default required
   */
  issuer?: 'required' | 'optional' | undefined
  /**
   * Further origins whose pages may contain the iframe, such as `https://login.example.com`: the custom domains of the provider.
   * The origin of `domain` always may.
   * @default none
   */
  frameAncestors?: string | readonly string[] | undefined
}

/** An ES256 key pair (ECDSA, P-256) for DPoP (RFC 9449). */
export interface DpopKeyPair {
  /**
   * The public key. Extractable, because proofs carry it.
   * @env IDP_DPOP_PUBLIC_KEY
   */
  publicKey: WebCryptoKey
  /**
   * The private key. Usable for `sign`; need not be extractable.
   * @env IDP_DPOP_PRIVATE_KEY
   */
  privateKey: WebCryptoKey
}

export interface DpopOptions {
  /**
   * Tolerance for the timestamps of ID tokens in seconds, with and without `useDPoP`. Values above 300 are reported.
   * @default 60
   * @env IDP_DPOP_CLOCK_TOLERANCE
   */
  clockTolerance?: number | undefined
  /**
   * How many seconds the provider's clock is ahead of this server's; may be negative. Added to the time of DPoP
   * proofs, client assertions and ID token checks.
   * @default 0
   * @env IDP_DPOP_CLOCK_SKEW
   */
  clockSkew?: number | undefined
  /** The retry after a DPoP nonce error. */
  retry?:
    | {
        /**
         * Delay before the first retry, in milliseconds. With `jitter`, a second to fourth retry of a call to an API
         * follows at once or after a random time of up to 8, 16 and 32 times the delay.
         * @default 100
         * @env IDP_RETRY_DELAY
         */
        delay?: number | undefined
        /**
         * Randomizes the delay, that of the first retry between 50 and 100 %. `false`: every delay is the same.
         * @default true
         * @env IDP_RETRY_JITTER
         */
        jitter?: boolean | undefined
      }
    | undefined
}

/** Rows of the option `vendor`; what each one means, and its built-in value, is in the reference of options. */
export type VendorOptions = {
  readonly [Key in VendorKey]?: string | undefined
}

/** The key that signs authorization requests (RFC 9101). */
export interface RequestObjectOptions {
  /** Private key: PKCS#8 PEM text, or a `CryptoKey` with the usage `sign`. It may be that of `clientAssertionSigningKey`. */
  key: string | WebCryptoKey
  /**
   * Algorithm: RS, PS or ES with 256, 384 or 512, `EdDSA` or `Ed25519`. The default is the first of RS256, ES256, PS256, EdDSA
   * and then the others that the key supports and the provider advertises for signed requests.
   * @default first that fits
   */
  alg?: string | undefined
  /**
   * `kid` in the header, as registered at the provider. Required if several keys are registered.
   * @default none is sent
   */
  keyId?: string | undefined
}

/** A public key (RFC 7517). */
export interface PublicJwk {
  kty: string
  /** `kid` in the header of what the key signs. */
  kid?: string
  alg?: string
  use?: string
  crv?: string
  x?: string
  y?: string
  n?: string
  e?: string
}

/**
 * Options of `new IdpClient()`. Every one may be left out or be undefined; an empty text counts as left out. An option
 * wins over its environment variable, that over the default. Blanks and line breaks around a text do not count. `domain`,
 * `clientId`, `secret` and one of `clientSecret` and `clientAssertionSigningKey` are required in one of the two ways (with
 * `sessions: false` only `domain`): the constructor warns about what is missing, and every use throws an
 * `InvalidConfigurationError` until it is there. A wrong option makes the constructor throw.
 */
export interface IdpClientOptions {
  /**
   * The provider: a host, `host:port`, or a URL with path, with or without `https://`. For a bare host, the issuer
   * may have a trailing slash or not; a URL with a path has to be exactly the issuer.
   * @default required
   * @env IDP_DOMAIN
   */
  domain?: string | undefined
  /**
   * Client identifier at the provider.
   * @default required
   * @env IDP_CLIENT_ID
   */
  clientId?: string | undefined
  /**
   * Client secret.
   * @default required, unless a signing key or `clientCertificate` is set
   * @env IDP_CLIENT_SECRET
   */
  clientSecret?: string | undefined
  /**
   * How the secret is sent: with HTTP Basic or in the body. The default is HTTP Basic if the provider advertises it
   * or advertises nothing, otherwise the body. Set it for a provider that advertises both but accepts only one.
   * A revocation or introspection endpoint that advertises only the other way for itself gets that.
   * Cannot be combined with a signing key.
   * @default what is advertised
   * @env IDP_TOKEN_ENDPOINT_AUTH_METHOD
   */
  tokenEndpointAuthMethod?: 'client_secret_basic' | 'client_secret_post' | undefined
  /**
   * Private key for
   * [`private_key_jwt`](https://github.com/idp-client/idp-client/blob/main/docs/guides/par-and-private-key-jwt.md)
   * (RFC 7523): PKCS#8 PEM text, or a `CryptoKey` with the usage `sign`. Takes precedence over a secret.
   * @env IDP_CLIENT_ASSERTION_SIGNING_KEY
   */
  clientAssertionSigningKey?: string | WebCryptoKey | undefined
  /**
   * Algorithm of the assertion: RS, PS or ES with 256, 384 or 512, `EdDSA` or `Ed25519`. The default is the first of
   * RS256, ES256, PS256, EdDSA and then the others that the key supports and the provider advertises. An algorithm
   * that the key does not support is rejected.
   * @default first that fits
   * @env IDP_CLIENT_ASSERTION_SIGNING_ALG
   */
  clientAssertionSigningAlg?: string | undefined
  /**
   * `kid` in the header of assertions, as registered at the provider. Required if several keys are registered.
   * @default none is sent
   */
  clientAssertionSigningKeyId?: string | undefined
  /**
   * `aud` of the assertion, at every endpoint: the issuer, or the URL of the token endpoint for a provider that
   * accepts nothing else.
   * @default issuer
   * @env IDP_CLIENT_ASSERTION_AUDIENCE
   */
  clientAssertionAudience?: 'issuer' | 'token_endpoint' | undefined
  /**
   * `typ` in the header of assertions, for a provider that demands one. A provider may refuse one that it does not expect.
   * @default none is sent
   */
  clientAssertionTyp?: 'JWT' | 'client-authentication+jwt' | undefined
  /**
   * Authenticates the client by its [TLS
   * certificate](https://github.com/idp-client/idp-client/blob/main/docs/guides/certificates.md) (`tls_client_auth` and
   * `self_signed_tls_client_auth`, RFC 8705), which `[customFetch]` presents, in place of a secret or a key.
   * @default false
   */
  clientCertificate?: boolean | undefined
  /**
   * Restricts the signing algorithms of ID tokens and logout tokens to those registered for the client: a name, a
   * list, or a comma-separated string. They may differ from those that the provider advertises. `none` and HMAC are
   * rejected.
   * @default what is advertised
   * @env IDP_ID_TOKEN_SIGNED_RESPONSE_ALG
   */
  idTokenSignedResponseAlg?: string | readonly string[] | undefined
  /**
   * Sent with every authorization request, see the next table.
   * @default scope only
   */
  authorizationParameters?: AuthorizationParameters | undefined
  /**
   * [Pushes](https://github.com/idp-client/idp-client/blob/main/docs/guides/par-and-private-key-jwt.md) authorization
   * requests to the provider first (PAR, RFC 9126). The provider must advertise it. If the provider requires PAR and
   * this is `false`, logins fail.
   * @default false
   */
  pushedAuthorizationRequests?: boolean | undefined
  /**
   * [Signs](https://github.com/idp-client/idp-client/blob/main/docs/guides/par-and-private-key-jwt.md#signed-requests)
   * authorization requests and backchannel authentication requests (JAR, RFC 9101), so that nobody on the way can read a
   * parameter as the client's that the client did not send.
   * @default requests are not signed
   */
  requestObject?: RequestObjectOptions | undefined
  /**
   * Further public keys that `jwks()` returns, for the [rotation of
   * keys](https://github.com/idp-client/idp-client/blob/main/docs/guides/par-and-private-key-jwt.md#public-keys-jwks): public JWKs, or
   * PEM text (`-----BEGIN PUBLIC KEY-----`). They sign nothing here.
   * @default none
   */
  additionalPublicKeys?: readonly (string | PublicJwk)[] | undefined
  /**
   * URL of the application as browsers see it. A list is an allow-list: the entry with the origin of the request is
   * used, including its path. Patterns (`*`) are rejected. See [proxies and base
   * paths](https://github.com/idp-client/idp-client/blob/main/docs/guides/proxies-and-base-paths.md).
   * @default inferred from each request
   * @env APP_BASE_URL
   */
  appBaseUrl?: string | readonly string[] | undefined
  /**
   * Trusts `X-Forwarded-Host` and `X-Forwarded-Proto` unless the base URL is fixed. Ignored headers with another
   * address are reported once.
   * @default `true` with a list, and where `NODE_ENV` is `development` or `test`; else `false`
   */
  trustProxy?: boolean | undefined
  /**
   * `false`: the application is [an API
   * alone](https://github.com/idp-client/idp-client/blob/main/docs/guides/access-tokens.md#an-api-without-sessions), for access
   * tokens only. Only `domain` is required. No auth route is mounted; everything that needs a session or a client at the provider
   * throws `InvalidConfigurationError`, also the options for it; their variables do not count.
   * @default true
   */
  sessions?: boolean | undefined
  /**
   * Encrypts the cookies. 32 characters or more, not all the same; `npx idp-client secret` prints one of 64
   * hexadecimal digits. In a list, the first one encrypts and all decrypt: see [rotating
   * secrets](https://github.com/idp-client/idp-client/blob/main/docs/guides/rotating-secrets.md).
   * @default required
   * @env IDP_SECRET
   */
  secret?: string | readonly string[] | undefined
  /**
   * Parameters of the login route that also count in a link on a page of another site (`Sec-Fetch-Site`): `'audience'`,
   * `'scope'` or both. Such a link then decides what the tokens of the session are for, unless `authorizationParameters`
   * configures an `audience`. See [who may set
   * parameters](https://github.com/idp-client/idp-client/blob/main/docs/guides/sign-up-and-silent-login.md#links-of-other-sites).
   * @default none
   */
  crossSiteLoginParameters?: CrossSiteLoginParameter | readonly CrossSiteLoginParameter[] | undefined
  /**
   * Where to redirect after a login without `returnTo`. A path with one leading slash; query and fragment are
   * allowed.
   * @default /
   */
  signInReturnToPath?: string | undefined
  /** Lifetimes of sessions, and the session cookie. */
  session?: SessionConfiguration | undefined
  /** Attributes of the cookies that store a login in progress until the callback. */
  transactionCookie?: TransactionCookieOptions | undefined
  /**
   * `true`: one transaction cookie per login, so that logins in several tabs all finish. `false`: one shared cookie;
   * a later login replaces an earlier one, which fails with `SUPERSEDED_STATE`.
   * @default true
   */
  enableParallelTransactions?: boolean | undefined
  /**
   * `oidc`: RP-Initiated Logout. `v2`: `/v2/logout`, without discovery. `auto`: `oidc` if the provider advertises it,
   * otherwise `v2`, which is reported once. `local`: [only the session of this application
   * ends](https://github.com/idp-client/idp-client/blob/main/docs/guides/sign-up-and-silent-login.md#logging-out-of-this-application-only).
   * @default auto
   */
  logoutStrategy?: LogoutStrategy | undefined
  /**
   * `false` keeps the ID token out of logout URLs; only `logout_hint`, `client_id` and `post_logout_redirect_uri` are
   * sent.
   * @default true
   */
  includeIdTokenHintInOIDCLogoutUrl?: boolean | undefined
  /**
   * `false`: a logout leaves the refresh token valid. For [providers at which a revocation has side
   * effects](https://github.com/idp-client/idp-client/blob/main/docs/guides/logging-out-everywhere.md#logging-out-without-revocation).
   * @default true
   */
  revokeRefreshTokenAtLogout?: boolean | undefined
  /**
   * Mounts the [front-channel logout
   * route](https://github.com/idp-client/idp-client/blob/main/docs/guides/logging-out-everywhere.md#front-channel-logout), which
   * an iframe of the provider calls to end one session. Requires a `sessionStore` with `deleteByLogoutToken`.
   * @default false
   */
  frontChannelLogout?: boolean | FrontChannelLogoutOptions | undefined
  /**
   * Returns the session to save, see
   * [hooks](https://github.com/idp-client/idp-client/blob/main/docs/reference/options.md#hooks).
   * @default removes protocol claims
   */
  beforeSessionSaved?: BeforeSessionSavedHook | undefined
  /**
   * Runs at the callback after every login attempt, see
   * [hooks](https://github.com/idp-client/idp-client/blob/main/docs/reference/options.md#hooks).
   */
  onCallback?: OnCallbackHook | undefined
  /**
   * Stores sessions on the server, see [session
   * stores](https://github.com/idp-client/idp-client/blob/main/docs/guides/session-stores.md).
   * @default in cookies
   */
  sessionStore?: SessionDataStore | undefined
  /**
   * Keeps the users signed in who logged in with the library that the application used before, see
   * [take-over](https://github.com/idp-client/idp-client/blob/main/docs/migration/take-over.md).
   */
  takeOver?: TakeOver | undefined
  /**
   * How long a process may hold the lock of a session in a store with `lock`, in milliseconds: the longest that one
   * [refresh](https://github.com/idp-client/idp-client/blob/main/docs/guides/scaling-out.md#refresh-locking-across-processes)
   * can take. With an `httpTimeout` above 5000 the default is twice that and 5000 more; a value below that is
   * reported.
   * @default 15000
   */
  sessionLockTimeout?: number | undefined
  /**
   * Set to `false` if processes are frozen or terminated between requests
   * ([serverless](https://github.com/idp-client/idp-client/blob/main/docs/guides/scaling-out.md#serverless-platforms-processlasts)):
   * where no cookie can be set, no refresh token is redeemed, and an expired access token throws
   * `REFRESH_NOT_PERSISTABLE`. Late token responses are dropped.
   * @default true
   */
  processLasts?: boolean | undefined
  /** Paths of the mounted routes, without base path. */
  routes?: RoutesOptions | undefined
  /**
   * Permits plain http to the provider, and to the APIs that fetchers call. In production it has no effect and is reported.
   * @default false
   */
  allowInsecureRequests?: boolean | undefined
  /**
   * Timeout of one request to the provider, including the response body, in milliseconds.
   * @default 5000
   */
  httpTimeout?: number | undefined
  /**
   * Sends `Idp-Client: base64url({"name","version"})` to the provider. `false`: no such header, and no version in
   * `User-Agent`.
   * @default true
   */
  enableTelemetry?: boolean | undefined
  /**
   * Mounts the access-token route. `false` keeps access tokens out of the browser (Backend for Frontend, BFF).
   * @default true
   */
  enableAccessTokenEndpoint?: boolean | undefined
  /**
   * `getAccessToken` refreshes this many seconds before expiry. If that fails, the current token, which is still
   * valid, is returned.
   * @default 0
   */
  tokenRefreshBuffer?: number | undefined
  /**
   * The profile route responds with 204 instead of 401 without a session.
   * @default false
   */
  noContentProfileResponseWhenUnauthenticated?: boolean | undefined
  /**
   * Mounts the [connect-account
   * route](https://github.com/idp-client/idp-client/blob/main/docs/reference/routes.md#connect-account).
   * @default false
   */
  enableConnectAccountEndpoint?: boolean | undefined
  /**
   * Mounts the [route with the public keys](https://github.com/idp-client/idp-client/blob/main/docs/reference/routes.md#public-keys) of
   * `clientAssertionSigningKey`, `requestObject` and `additionalPublicKeys`, which the provider can load.
   * @default false
   */
  enableJwksEndpoint?: boolean | undefined
  /**
   * Demands access tokens that are bound to the client's [TLS
   * certificate](https://github.com/idp-client/idp-client/blob/main/docs/guides/certificates.md#bound-access-tokens) (RFC 8705
   * section 3): one that visibly is not bound is rejected, and fetchers and proxies call APIs by `[customFetch]`, which presents the
   * certificate. Requires `clientCertificate` or `clientAssertionSigningKey`.
   * @default false
   */
  certificateBoundAccessTokens?: boolean | undefined
  /**
   * Binds tokens to a key pair ([DPoP](https://github.com/idp-client/idp-client/blob/main/docs/guides/dpop.md), RFC
   * 9449): token requests and fetchers send DPoP proofs, and a Bearer token in a token response is rejected. Requires
   * a key pair.
   * @default false
   */
  useDPoP?: boolean | undefined
  /**
   * An ES256 pair. The variables hold PEM text; both are needed. If `useDPoP` is `false`, only
   * [fetchers](https://github.com/idp-client/idp-client/blob/main/docs/reference/options.md#createfetcher) with
   * `useDPoP: true` use it.
   */
  dpopKeyPair?: DpopKeyPair | undefined
  /** Tolerances of clocks, and the retry after a DPoP nonce error. */
  dpopOptions?: DpopOptions | undefined
  /**
   * How long an encrypted `mfa_token` is valid, in seconds, see [multi-factor
   * authentication](https://github.com/idp-client/idp-client/blob/main/docs/guides/multi-factor.md).
   * @default 300
   * @env IDP_MFA_TOKEN_TTL
   */
  mfaTokenTtl?: number | undefined
  /**
   * Calls the UserInfo endpoint at login and merges its claims into `user`; claims of the ID token take precedence. A refresh keeps
   * them, and passes them to `beforeSessionSaved` with the values that the session has.
   * If the request fails or returns another `sub`, the login fails with `USERINFO_ERROR`.
   * @default false
   */
  fetchUserInfo?: boolean | undefined
  /**
   * Overrides the parameter values of provider-specific extensions, see
   * [below](https://github.com/idp-client/idp-client/blob/main/docs/reference/options.md#vendor).
   * @default built-in values
   */
  vendor?: VendorOptions | undefined
  /**
   * Receives every [event](https://github.com/idp-client/idp-client/blob/main/docs/reference/events.md).
   * @default warnings and errors go to the console
   */
  logger?: Logger | undefined
  /**
   * Used for every request to the provider, and with `certificateBoundAccessTokens` for those to APIs. A symbol, exported by every
   * server entry point.
   * @default global `fetch`
   */
  [customFetch]?: FetchFunction | undefined
  /**
   * Returns seconds since the epoch; for tests. A symbol, exported by every server entry point.
   * @default the system clock
   */
  [customClock]?: Clock | undefined
}
