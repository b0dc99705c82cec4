import type { Remedy } from '../errors/remedy.ts'
import type { CookieSettings } from '../http/cookie-jar.ts'
import type { Clock } from '../lib/clock.ts'
import type { FetchFunction } from '../lib/fetch-function.ts'
import type { Log } from '../log/log.ts'
import type { LifetimeRules } from '../session/model/lifetime.ts'
import type { TakeOver } from '../take-over/take-over.ts'
import type { BeforeSessionSavedHook, OnCallbackHook } from './hooks.ts'
import type { PublicJwk, RoutesOptions, SessionDataStore } from './options.ts'
import type { VendorKey } from './vendor.ts'

/** Names of the mounted routes. */
export type RouteKey = keyof RoutesOptions

/** Names of the routes whose paths pages get: those that the helpers for browsers request, and the logout. */
export type PageRouteKey = Exclude<
  RouteKey,
  'backChannelLogout' | 'callback' | 'connectAccount' | 'frontChannelLogout' | 'jwks'
>

/** Paths without base path, each beginning with exactly one slash and not ending with one. */
export type RoutePaths = Readonly<Record<RouteKey, string>>

/** URL of the application as a browser sees it. A URL here has no trailing slash, query or fragment. */
export type AppBaseUrl =
  | { readonly kind: 'static'; readonly url: string }
  | {
      readonly kind: 'allow-list'
      readonly entries: readonly { readonly origin: string; readonly url: string }[]
    }
  | { readonly kind: 'inferred' }

export type SecretMethod = 'client_secret_basic' | 'client_secret_post'

export type ClientAuth =
  | { readonly kind: 'secret'; readonly secret: string; readonly method?: SecretMethod }
  | (SigningKey & {
      readonly kind: 'assertion'
      readonly audience: 'issuer' | 'token_endpoint'
      /** Absent: the header has none. */
      readonly typ?: 'JWT' | 'client-authentication+jwt'
    })
  /** By the TLS certificate that `fetch` presents (RFC 8705 section 2). */
  | { readonly kind: 'certificate' }

/** A private key of the client, and what it signs with. */
export interface SigningKey {
  readonly key: string | CryptoKey
  /** The algorithms of the key; the provider's metadata selects one. */
  readonly algorithms: readonly string[]
  /** The configured one; without it the metadata of the provider decides. */
  readonly algorithm?: string
  readonly keyId?: string
}

/** The provider as configured: the issuers that discovery may return, nothing else is accepted. */
export interface ProviderAddress {
  /** Base of the discovery URL, without trailing slash (`https://host`, `https://host:8443/tenant`). */
  readonly url: string
  /**
   * Exact issuer identifiers: with and without the trailing slash for a bare host, the URL as written for one with a path. A default
   * port or upper case in the host is optional.
   */
  readonly issuers: readonly string[]
}

export interface SessionConfig extends LifetimeRules {
  /** The claim of the ID token that limits the session. */
  readonly expiryClaim?: string
  readonly cookie: CookieSettings & {
    readonly name: string
    readonly transient: boolean
    /** Bytes of all session cookies together, names included. */
    readonly maxBytes: number
  }
}

export interface TransactionConfig {
  readonly parallel: boolean
  readonly cookie: CookieSettings & {
    readonly prefix: string
    /** Seconds. */
    readonly maxAge: number
  }
}

export type ScopeSetting =
  /** None was configured: `defaultScope`. */
  | { readonly kind: 'default' }
  | { readonly kind: 'text'; readonly scope: string }
  | { readonly kind: 'map'; readonly byAudience: ReadonlyMap<string, string> }

export interface AuthorizationConfig {
  readonly scope: ScopeSetting
  /** Where no scope is configured, and for an audience that a scope map does not name. */
  readonly defaultScope: string
  readonly audience?: string
  /** Byte for byte as configured. */
  readonly redirectUri?: string
  /** Seconds. */
  readonly maxAge?: number
  /** All other configured parameters that may be sent, values as given. */
  readonly parameters: ReadonlyMap<string, string>
}

/** Where the DPoP keys come from; they are imported and tried at the first use. */
export type DpopKeys =
  | { readonly kind: 'none' }
  | { readonly kind: 'pair'; readonly publicKey: CryptoKey; readonly privateKey: CryptoKey }
  | { readonly kind: 'pem'; readonly publicKey: string; readonly privateKey: string }

export interface DpopConfig {
  /** Tokens are bound to the keys; then there are keys. */
  readonly enabled: boolean
  readonly keys: DpopKeys
  /** Seconds. */
  readonly clockTolerance: number
  /** Seconds, may be negative. */
  readonly clockSkew: number
  /** Milliseconds. */
  readonly retry: { readonly delay: number; readonly jitter: boolean }
}

/** A parameter of the login route that a link on a page of another site may set if it is listed. */
export type CrossSiteLoginParameter = 'audience' | 'scope'

export type LogoutStrategy = 'auto' | 'oidc' | 'v2' | 'local'

export interface FrontChannelLogoutConfig {
  /** Whether requests without `iss` are accepted. */
  readonly isIssuerOptional: boolean
  /** Origins beside that of the provider whose pages may contain the iframe. */
  readonly frameAncestors: readonly string[]
}

/** How the sessions of a former library are taken over. */
export interface TakeOverConfig {
  /** Name of the former library; part of the session keys. */
  readonly library: string
  /** Seconds since the epoch. */
  readonly until: number
  /** Names of the former session cookies, without those of their parts. */
  readonly cookies: readonly string[]
  readonly path: string
  readonly domain?: string
  readonly read: TakeOver['read']
}

/** Settings that need no required option: enough to dispatch, serve failure pages and pass requests through. */
export interface Settings {
  /** `NODE_ENV` is `production`. */
  readonly production: boolean
  /**
   * `NODE_ENV` is `development` or `test`: failure pages show the diagnosis, and exceptions of hooks are printed.
   */
  readonly development: boolean
  /** False: the application is an API alone, for access tokens only. */
  readonly sessions: boolean
  readonly routes: RoutePaths
  /** Routes that pass through because their option is off; with `sessions: false` all. */
  readonly disabledRoutes: ReadonlySet<RouteKey>
  /** Whether the route of access tokens is on, though no option or variable says so. */
  readonly sendsTokensByDefault: boolean
  /** `''` or `/path`, without trailing slash; from FRAMEWORK_PUBLIC_BASE_PATH (or the host's public variable). */
  readonly basePath: string
  /** Origins of the configured base URLs; empty if they are inferred from requests. */
  readonly origins: readonly string[]
  readonly trustProxy: boolean
  readonly noContentProfileResponseWhenUnauthenticated: boolean
  readonly clock: Clock
  readonly log: Log
}

/** The part of the configuration that guards of access tokens need; with `sessions: false` there is no other. Valid and frozen, too. */
export interface ApiConfig extends Settings {
  readonly provider: ProviderAddress
  /** Audiences of ID tokens, which no access token may have: the client id; none with `sessions: false`. */
  readonly idTokenAudiences: readonly string[]
  readonly appBaseUrl: AppBaseUrl
  /** Absent: sessions are stored in the cookie, and used DPoP proofs in this process. */
  readonly sessionStore?: SessionDataStore
  /** Milliseconds. */
  readonly sessionLockTimeout: number
  /** Always false in production. */
  readonly allowInsecureRequests: boolean
  /** Milliseconds. */
  readonly httpTimeout: number
  readonly telemetry: boolean
  readonly dpop: DpopConfig
  readonly fetch: FetchFunction
  /** Wire values that no standard defines. */
  readonly vendor: Readonly<Record<VendorKey, string>>
}

/** Complete, valid, deeply frozen (keys, functions and the store excepted). Nothing below `config/` applies a default. */
export interface Config extends ApiConfig {
  readonly clientId: string
  readonly clientAuth: ClientAuth
  /** `fetch` presents a TLS certificate of the client, at the endpoints for such requests (RFC 8705). Absent: none. */
  readonly mutualTls?: {
    /** Access tokens are bound to it. */
    readonly boundTokens: boolean
  }
  /** Algorithms of ID and logout tokens; absent: what the provider advertises. */
  readonly idTokenAlgorithms?: readonly string[]
  /** The first seals, all open. */
  readonly secrets: readonly [string, ...string[]]
  readonly authorization: AuthorizationConfig
  readonly pushedAuthorizationRequests: boolean
  /** Signs authorization requests. Absent: they are sent as plain parameters. */
  readonly requestObject?: SigningKey
  /** Public keys beside those of the keys above, which are published. */
  readonly additionalPublicKeys: readonly (string | PublicJwk)[]
  readonly crossSiteLoginParameters: readonly CrossSiteLoginParameter[]
  /** Path, query and fragment on the application's origin. */
  readonly signInReturnToPath: string
  readonly session: SessionConfig
  readonly transaction: TransactionConfig
  /** Whether this process can keep what no response carries. */
  readonly processLasts: boolean
  readonly logoutStrategy: LogoutStrategy
  readonly includeIdTokenHint: boolean
  readonly revokeAtLogout: boolean
  /** Absent: front-channel logout is off. */
  readonly frontChannelLogout?: FrontChannelLogoutConfig
  /** Absent without the option, and once its time is over. */
  readonly takeOver?: TakeOverConfig
  readonly hooks: {
    readonly beforeSessionSaved?: BeforeSessionSavedHook
    readonly onCallback?: OnCallbackHook
  }
  /** Seconds. */
  readonly tokenRefreshBuffer: number
  /** Seconds. */
  readonly mfaTokenTtl: number
  readonly fetchUserInfo: boolean
}

export type ProblemKind =
  /** Required and not given, or a secret that is too weak: one warning, and every use that needs it throws. */
  | 'missing'
  /** An option that is wrong or contradictory: the constructor throws. */
  | 'wrong-option'
  /** A variable that is wrong: reported, and every use throws. */
  | 'wrong-variable'
  /** Worth reporting, without effect on what works (unknown key, flag without effect). */
  | 'notice'

export interface Problem {
  readonly kind: ProblemKind
  /** Text of the library: names option and variable, and the fix. Never contains a value. */
  readonly message: string
  /** The remedy, if it differs from that of every invalid option. */
  readonly remedy?: Remedy
}

export interface Resolved {
  readonly settings: Settings
  /** Null while something is missing or wrong, and with `sessions: false`. */
  readonly config: Config | null
  /** The same; with `sessions: false` that of an API alone. Null while something is missing or wrong. */
  readonly apiConfig: ApiConfig | null
  readonly problems: readonly Problem[]
}
