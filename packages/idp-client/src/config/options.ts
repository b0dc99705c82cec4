import type { SameSite } from '../http/cookie-jar.ts'
import type { Clock } from '../lib/clock.ts'
import type { Logger } from '../log/log.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { LogoutStrategy } from './config.ts'
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

/** What the provider's back-channel logout token names (OIDC Back-Channel Logout 2.4); at least one of `sid` and `sub`. */
export interface LogoutToken {
  /** The user whose sessions end when `sid` is absent. */
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

/** Until when a record has to be kept: seconds since the epoch. The library checks lifetimes itself; a store may forget. */
export interface SessionExpiry {
  expiresAt: number
}

/** One of a user's sessions, as `listBySubject` of a store gives it. */
export interface SessionRecord {
  /** The key that the session was stored under. */
  id: string
  session: SessionData
}

/** A lease that one process holds; `release` before its end frees it, and does nothing once another one has it. */
export interface SessionLock {
  release(): Promise<void>
}

/**
 * Keeps sessions outside the cookie, which then carries only an encrypted random name. Every `id` is a hash of that
 * name (43 characters of `A-Z a-z 0-9 _ -`), so that who reads the store cannot make a cookie of it. What is stored is
 * plain JSON; `internal` has members beyond those that applications see, which have to come back unchanged. The three
 * required members suffice; https://github.com/idp-client/idp-client/blob/main/docs/guides/session-stores.md says what each optional one is for. A member that
 * rejects makes the operation fail with `SESSION_STORE_FAILED`.
 */
export interface SessionDataStore {
  /** The session under `id`, or null when there is none (any more). */
  get(id: string): Promise<SessionData | null>
  /** Creates or replaces the record. */
  set(id: string, session: SessionData, expiry: SessionExpiry): Promise<void>
  /** Deleting an id that does not exist is no error. */
  delete(id: string): Promise<void>
  /** Deletes the session with this `sid`, or without `sid` all of `sub` that began before `iat`. Without it the back-channel logout route answers 501. */
  deleteByLogoutToken?(logoutToken: LogoutToken): Promise<void>
  /**
   * Replaces the record by what the pure, synchronous `change` makes of the current one, atomically: no write of
   * another process comes between (`change` may be called again). Gives what was stored; null, and nothing is written,
   * when there is no record. Without it two processes that write at once may lose one of the writes.
   */
  update?(
    id: string,
    change: (current: SessionData) => SessionData,
    expiry: SessionExpiry,
  ): Promise<SessionData | null>
  /**
   * Takes the lease of `id` for that many milliseconds; null when somebody else has it. Never waits. Without it two
   * processes may redeem the same refresh token at once.
   */
  lock?(id: string, milliseconds: number): Promise<SessionLock | null>
  /** The live sessions of a user, in any order. */
  listBySubject?(sub: string): Promise<readonly SessionRecord[]>
  /** Deletes every session of a user; gives how many there were. */
  deleteBySubject?(sub: string): Promise<number>
  /**
   * Remembers a name until `expiresAt`; true when it was not known before. For names that count once, such as the `jti`
   * of logout tokens. Without it each process remembers for itself.
   */
  once?(name: string, expiry: SessionExpiry): Promise<boolean>
  /**
   * Returns the latest `iat` of the logout tokens that named this `sid` in `deleteByLogoutToken` during the last ten minutes;
   * null without one. Remember it before deleting: a login that is completed meanwhile asks after its session was stored.
   * Without it each process remembers for itself.
   */
  endedAt?(sid: string, iss?: string): Promise<number | null>
}

/** Attributes of the session cookie. `HttpOnly` is always set and is therefore no option. */
export interface SessionCookieOptions {
  /**
   * Name, also the stem of the names of its chunks. Default `__session`. A `__Host-` name needs `path` `/` and no
   * `domain`; it and a `__Secure-` name make the cookie Secure.
   */
  name?: string | undefined
  /**
   * `Secure` attribute. Variable `IDP_COOKIE_SECURE` (`true` or `false`). Default: set when the base URL of the
   * application is https. In production with an inferred base URL it is always set, and `false` is refused with an
   * `InvalidConfigurationError`.
   */
  secure?: boolean | undefined
  /** `SameSite` attribute. Variable `IDP_COOKIE_SAME_SITE`. Default `lax`; `none` needs Secure. */
  sameSite?: SameSite | undefined
  /** `Path` attribute. Variable `IDP_COOKIE_PATH`. Default `/`, also below a base path. */
  path?: string | undefined
  /** `Domain` attribute. Variable `IDP_COOKIE_DOMAIN`. Default: none, so only the very host gets the cookie. */
  domain?: string | undefined
  /** True: the cookie ends with the browser session (no Max-Age). Variable `IDP_COOKIE_TRANSIENT`. Default false. */
  transient?: boolean | undefined
  /**
   * Most bytes that all session cookies may have together, names included. Default 7000. Above,
   * tokens that the refresh token brings again are left out, and a login that does not fit is `SESSION_TOO_LARGE`.
   */
  maxBytes?: number | undefined
}

/** How long sessions live and which cookie carries them. */
export interface SessionConfiguration {
  /** Whether use extends the session (up to `absoluteDuration`). Default true; false: only the absolute limit applies. */
  rolling?: boolean | undefined
  /** Seconds from login until the session ends in any case. Default 259200 (3 days), at most 34560000 (400 days). */
  absoluteDuration?: number | undefined
  /** Seconds without use after which the session ends. Default 86400 (1 day), at most 34560000 (400 days). */
  inactivityDuration?: number | undefined
  cookie?: SessionCookieOptions | undefined
}

/** The cookies that carry a login from its start to the callback. No environment variable sets any of them. */
export interface TransactionCookieOptions {
  /** What the names begin with. Default `__txn_`; the session cookie's name must not begin with it. */
  prefix?: string | undefined
  /**
   * `Secure` attribute. Default: set when the base URL of the application is https; as with the session cookie, `false`
   * is refused in production with an inferred base URL.
   */
  secure?: boolean | undefined
  /** `SameSite` attribute. Default `lax`; with `response_mode: 'form_post'` it is `none` (and Secure) by itself. */
  sameSite?: SameSite | undefined
  /** `Path` attribute. Default `/`. */
  path?: string | undefined
  /** Seconds within which a login must be finished. Default 3600. */
  maxAge?: number | undefined
}

/**
 * Parameters of the authorization request (OIDC Core 3.1.2.1). What belongs to the protocol run itself (`client_id`
 * and every other `client_*`, `response_type`, `state`, `nonce`, `code_challenge`, `code_challenge_method`) is set by
 * the library and dropped here. Null or undefined leaves a parameter out; an object is sent as JSON (`claims`).
 */
export interface AuthorizationParameters {
  /**
   * Space-delimited; must contain `openid`. Default and null: `openid profile email offline_access`, without
   * `offline_access` where the provider lists its scopes and that is not among them. A map from
   * audience to scope sends the entry of the audience asked for, and needs `audience`.
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
  /** Default `/auth/login`, variable `FRAMEWORK_PUBLIC_LOGIN_ROUTE`. */
  login?: string | undefined
  /** Default `/auth/logout`. */
  logout?: string | undefined
  /** Default `/auth/callback`; register it at the provider, base path included. */
  callback?: string | undefined
  /** Default `/auth/profile`, variable `FRAMEWORK_PUBLIC_PROFILE_ROUTE`. */
  profile?: string | undefined
  /** Default `/auth/access-token`, variable `FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE`. */
  accessToken?: string | undefined
  /** Default `/auth/connect`; mounted with `enableConnectAccountEndpoint`. */
  connectAccount?: string | undefined
  /** Default `/auth/backchannel-logout`. */
  backChannelLogout?: string | undefined
  /** Default `/auth/mfa/authenticators`, variable `FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE`. */
  mfaAuthenticators?: string | undefined
  /** Default `/auth/mfa/challenge`, variable `FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE`. */
  mfaChallenge?: string | undefined
  /** Default `/auth/mfa/associate`, variable `FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE`. */
  mfaAssociate?: string | undefined
  /** Default `/auth/mfa/verify`, variable `FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE`. */
  mfaVerify?: string | undefined
}

/** An ES256 key pair (ECDSA, P-256) for DPoP (RFC 9449). */
export interface DpopKeyPair {
  publicKey: CryptoKey
  /** Usable for `sign`; need not be extractable. */
  privateKey: CryptoKey
}

export interface DpopOptions {
  /** Seconds that the time checks of ID tokens tolerate, with or without `useDPoP`. Variable `IDP_DPOP_CLOCK_TOLERANCE`. Default 60; above 300 is reported. */
  clockTolerance?: number | undefined
  /**
   * Seconds that the provider's clock is ahead of this server's, may be negative: added to the time in proofs and client
   * assertions and to that of ID-token checks. Variable `IDP_DPOP_CLOCK_SKEW`. Default 0.
   */
  clockSkew?: number | undefined
  retry?:
    | {
        /** Milliseconds before the retry that a nonce error causes. Variable `IDP_RETRY_DELAY`. Default 100. */
        delay?: number | undefined
        /** Whether the delay varies at random between half and all of it. Variable `IDP_RETRY_JITTER`. Default true. */
        jitter?: boolean | undefined
      }
    | undefined
}

/** Rows of the option `vendor`; what each one means, and its built-in value, is in the reference of options. */
export type VendorOptions = {
  readonly [Key in VendorKey]?: string | undefined
}

/**
 * Options of `new IdpClient()`. Every one may be left out or be undefined; an empty text counts as left out. An option
 * wins over its environment variable, that over the default. Blanks and line breaks around a text do not count. `domain`, `clientId`, `secret` and one of `clientSecret`
 * and `clientAssertionSigningKey` are required in one of the two ways: the constructor warns about what is missing,
 * and every use throws an `InvalidConfigurationError` until it is there. A wrong option makes the constructor throw.
 */
export interface IdpClientOptions {
  /**
   * The provider: a host (`tenant.example.com`), a host with port, or a URL with path (`https://idp.example.com/realm`),
   * with or without `https://`. Variable `IDP_DOMAIN`. No default.
   */
  domain?: string | undefined
  /** Client identifier at the provider. Variable `IDP_CLIENT_ID`. No default. */
  clientId?: string | undefined
  /** Client secret. Variable `IDP_CLIENT_SECRET`. */
  clientSecret?: string | undefined
  /**
   * How the client secret is sent: `client_secret_basic` (HTTP Basic) or `client_secret_post` (in the body). For a
   * provider that advertises both and accepts one. Variable `IDP_TOKEN_ENDPOINT_AUTH_METHOD`. Default: HTTP Basic if the
   * provider advertises it or nothing, otherwise in the body.
   */
  tokenEndpointAuthMethod?: 'client_secret_basic' | 'client_secret_post' | undefined
  /**
   * Private key (PKCS#8 PEM or `CryptoKey`) for `private_key_jwt` (RFC 7523); wins over `clientSecret`. Variable
   * `IDP_CLIENT_ASSERTION_SIGNING_KEY` (PEM, line breaks also as `\n`).
   */
  clientAssertionSigningKey?: string | CryptoKey | undefined
  /**
   * Algorithm of the assertion, asymmetric. Variable `IDP_CLIENT_ASSERTION_SIGNING_ALG`. Default: the first of RS256,
   * ES256, PS256, EdDSA and then the others that the key signs with and the provider advertises
   * (`token_endpoint_auth_signing_alg_values_supported`).
   */
  clientAssertionSigningAlg?: string | undefined
  /**
   * Key id (`kid`) of the key as it is registered at the provider, sent in the header of assertions. Needed when several
   * keys are registered; default: none is sent, since one that the provider does not know makes it refuse the client.
   */
  clientAssertionSigningKeyId?: string | undefined
  /**
   * `aud` of the assertion, at every endpoint: `issuer` (default) is the issuer identifier, `token_endpoint` the URL of
   * the token endpoint, for providers that accept nothing else. Variable `IDP_CLIENT_ASSERTION_AUDIENCE`.
   */
  clientAssertionAudience?: 'issuer' | 'token_endpoint' | undefined
  /**
   * Algorithms that ID tokens and logout tokens may be signed with, as the client is registered
   * (`id_token_signed_response_alg`): a name, a list, or names separated by commas. Also counts for what the provider
   * does not advertise. Variable `IDP_ID_TOKEN_SIGNED_RESPONSE_ALG`. Default: every asymmetric algorithm that the
   * provider advertises.
   */
  idTokenSignedResponseAlg?: string | readonly string[] | undefined
  /** Sent with every authorization request. Default: the default scope only. */
  authorizationParameters?: AuthorizationParameters | undefined
  /** Pushes authorization requests to the provider first (PAR, RFC 9126). Default false. */
  pushedAuthorizationRequests?: boolean | undefined
  /**
   * Where the application lives, as browsers see it: one URL, or a list of allowed ones, of which the one with the
   * request's origin is used. Variable `APP_BASE_URL` (several separated by commas). Default: inferred from the host
   * of each request.
   */
  appBaseUrl?: string | readonly string[] | undefined
  /**
   * Whether `X-Forwarded-Host` and `X-Forwarded-Proto` are believed when the base URL is not fixed. Default: true with a
   * list in `appBaseUrl` and where `NODE_ENV` is `development` or `test`, else false. Only behind a proxy that overwrites
   * them.
   */
  trustProxy?: boolean | undefined
  /**
   * Encrypts the cookies: at least 32 characters, 64 hexadecimal digits recommended (`npx idp-client secret`). In a
   * list the first one encrypts and all decrypt, so that a secret can be replaced without ending sessions. Variable
   * `IDP_SECRET` (a list separated by commas when every part has 32 characters or more).
   */
  secret?: string | readonly string[] | undefined
  /** Path to go to after a login that names no target of its own. Default `/`. */
  signInReturnToPath?: string | undefined
  session?: SessionConfiguration | undefined
  transactionCookie?: TransactionCookieOptions | undefined
  /**
   * True (default): every login has its own transaction cookie, so that logins in several tabs all finish. False: one
   * shared cookie; a later login replaces an earlier one, which then fails with `SUPERSEDED_STATE`.
   */
  enableParallelTransactions?: boolean | undefined
  /**
   * `oidc`: RP-Initiated Logout, `v2`: `/v2/logout`, `auto` (default): the first where the provider advertises it, else
   * the second. `local`: only the session of this application ends; whoever uses the same browser next is logged in
   * again without being asked, while the provider's session lasts.
   */
  logoutStrategy?: LogoutStrategy | undefined
  /** Whether OIDC logout URLs carry `id_token_hint`. Default true; false keeps the ID token out of URLs. */
  includeIdTokenHintInOIDCLogoutUrl?: boolean | undefined
  beforeSessionSaved?: BeforeSessionSavedHook | undefined
  onCallback?: OnCallbackHook | undefined
  /**
   * Keeps sessions outside the cookie: `memoryStore`, `redisStore` or `postgresStore` of `idp-client/stores/*`, or your
   * own. Default: in encrypted cookies.
   */
  sessionStore?: SessionDataStore | undefined
  /**
   * Milliseconds that a process may hold the lock of a session in a store that has `lock`: the longest that one refresh
   * can take. Default 15000; with an `httpTimeout` above 5000 twice that and 5000 more.
   */
  sessionLockTimeout?: number | undefined
  /**
   * Whether this process keeps running after a response, so that its memory can keep refreshed tokens which no response has carried
   * yet. Default true. Set to false on AWS Lambda, Cloudflare Workers and other platforms that freeze or end a process between
   * requests: where no cookie can be written, no refresh token is redeemed then, and an expired access token is
   * `REFRESH_NOT_PERSISTABLE`.
   */
  processLasts?: boolean | undefined
  routes?: RoutesOptions | undefined
  /** Permits plain http to the provider, except when `NODE_ENV` is `production`. Default false. */
  allowInsecureRequests?: boolean | undefined
  /** Milliseconds that one request to the provider may take. Default 5000. */
  httpTimeout?: number | undefined
  /** Sends name and version of this library to the provider in the `Idp-Client` header, nothing else. Default true. */
  enableTelemetry?: boolean | undefined
  /** Mounts the access-token route. Default true; false keeps access tokens away from the browser. */
  enableAccessTokenEndpoint?: boolean | undefined
  /** Seconds before its end from which on an access token is refreshed. Default 0. */
  tokenRefreshBuffer?: number | undefined
  /** The profile route answers 204 instead of 401 without a session. Default false. */
  noContentProfileResponseWhenUnauthenticated?: boolean | undefined
  /** Mounts the connect-account route. Default false. */
  enableConnectAccountEndpoint?: boolean | undefined
  /**
   * Binds tokens to a key pair (DPoP, RFC 9449): token requests and, by fetchers, API requests prove its possession, and
   * an answer with a Bearer token is refused. Needs `dpopKeyPair` or its variables. Default false.
   */
  useDPoP?: boolean | undefined
  /** Variables `IDP_DPOP_PUBLIC_KEY` (SPKI PEM) and `IDP_DPOP_PRIVATE_KEY` (PKCS#8 PEM), both needed. */
  dpopKeyPair?: DpopKeyPair | undefined
  dpopOptions?: DpopOptions | undefined
  /** Seconds that an encrypted `mfa_token` stays valid. Variable `IDP_MFA_TOKEN_TTL`. Default 300. */
  mfaTokenTtl?: number | undefined
  /**
   * Asks the UserInfo endpoint at login and merges its claims into `user`; those of the ID token win. Without an answer
   * about the same user the login fails. Default false.
   */
  fetchUserInfo?: boolean | undefined
  /** Wire values of the provider's own extensions, where they differ from the built-in ones. */
  vendor?: VendorOptions | undefined
  /** Receives every event of the library. Default: warnings and errors go to the console. */
  logger?: Logger | undefined
  [customFetch]?: typeof globalThis.fetch | undefined
  [customClock]?: Clock | undefined
}
