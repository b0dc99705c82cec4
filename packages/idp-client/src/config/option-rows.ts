import type { VariableName } from './env.ts'
import type { IdpClientOptions } from './options.ts'

/** A row whose kind determines the reader in `readers.ts`; so do the next three. */
export interface TextRow {
  readonly kind: 'string'
  readonly default?: string
  readonly variable?: VariableName
}

export interface FlagRow {
  readonly kind: 'boolean'
  readonly default?: boolean
  readonly variable?: VariableName
}

export interface NumberRow {
  readonly kind: 'number'
  readonly unit: 'seconds' | 'milliseconds' | 'bytes'
  readonly min: number
  readonly max: number
  readonly default: number
  readonly variable?: VariableName
}

export interface ChoiceRow<Value extends string = string> {
  readonly kind: 'one of'
  readonly values: readonly Value[]
  readonly default?: Value
  readonly variable?: VariableName
}

/** A row that states its default. */
export type WithDefault<Row extends { readonly default?: unknown }> = Row & {
  readonly default: NonNullable<Row['default']>
}

/**
 * An option that the resolver of its group reads. The properties of a `group` are options, those of an `object` are
 * not.
 */
export interface OtherRow {
  readonly kind:
    | 'function'
    | 'group'
    | 'object'
    | 'boolean or object'
    | 'CryptoKey'
    | 'string or CryptoKey'
    | 'string or list'
    | 'list'
  readonly variable?: VariableName
}

export type OptionRow = TextRow | FlagRow | NumberRow | ChoiceRow | OtherRow

/**
 * One row per option: its kind, range, default and variable, each stated here only. The readers, the known keys and
 * the reference of options are derived from it, in this order; type and docstring are in `options.ts`. Browsers
 * keep no cookie longer than 400 days, 34560000 s (RFC 6265bis section 5.5), and timers accept 31 bits, 2147483647
 * ms.
 */
export const optionRows = {
  // Provider and client.
  domain: { kind: 'string', variable: 'IDP_DOMAIN' },
  clientId: { kind: 'string', variable: 'IDP_CLIENT_ID' },
  clientSecret: { kind: 'string', variable: 'IDP_CLIENT_SECRET' },
  tokenEndpointAuthMethod: {
    kind: 'one of',
    values: ['client_secret_basic', 'client_secret_post'],
    variable: 'IDP_TOKEN_ENDPOINT_AUTH_METHOD',
  },
  clientAssertionSigningKey: { kind: 'string or CryptoKey', variable: 'IDP_CLIENT_ASSERTION_SIGNING_KEY' },
  clientAssertionSigningAlg: { kind: 'string', variable: 'IDP_CLIENT_ASSERTION_SIGNING_ALG' },
  clientAssertionSigningKeyId: { kind: 'string' },
  clientAssertionAudience: {
    kind: 'one of',
    values: ['issuer', 'token_endpoint'],
    default: 'issuer',
    variable: 'IDP_CLIENT_ASSERTION_AUDIENCE',
  },
  clientAssertionTyp: { kind: 'one of', values: ['JWT', 'client-authentication+jwt'] },
  clientCertificate: { kind: 'boolean', default: false },
  idTokenSignedResponseAlg: { kind: 'string or list', variable: 'IDP_ID_TOKEN_SIGNED_RESPONSE_ALG' },
  allowInsecureRequests: { kind: 'boolean', default: false },
  httpTimeout: { kind: 'number', unit: 'milliseconds', min: 1, max: 2_147_483_647, default: 5000 },
  enableTelemetry: { kind: 'boolean', default: true },
  vendor: { kind: 'object' },
  '[customFetch]': { kind: 'function' },

  // Authorization.
  authorizationParameters: { kind: 'object' },
  pushedAuthorizationRequests: { kind: 'boolean', default: false },
  requestObject: { kind: 'group' },
  'requestObject.key': { kind: 'string or CryptoKey' },
  'requestObject.alg': { kind: 'string' },
  'requestObject.keyId': { kind: 'string' },
  additionalPublicKeys: { kind: 'list' },
  crossSiteLoginParameters: { kind: 'string or list' },
  signInReturnToPath: { kind: 'string', default: '/' },
  enableParallelTransactions: { kind: 'boolean', default: true },
  onCallback: { kind: 'function' },
  fetchUserInfo: { kind: 'boolean', default: false },

  // The application.
  appBaseUrl: { kind: 'string or list', variable: 'APP_BASE_URL' },
  trustProxy: { kind: 'boolean' },
  routes: { kind: 'group' },
  enableAccessTokenEndpoint: { kind: 'boolean', default: true },
  enableConnectAccountEndpoint: { kind: 'boolean', default: false },
  enableJwksEndpoint: { kind: 'boolean', default: false },
  noContentProfileResponseWhenUnauthenticated: { kind: 'boolean', default: false },
  logger: { kind: 'function' },
  '[customClock]': { kind: 'function' },

  // Routes.
  'routes.login': { kind: 'string', default: '/auth/login', variable: 'FRAMEWORK_PUBLIC_LOGIN_ROUTE' },
  'routes.logout': { kind: 'string', default: '/auth/logout' },
  'routes.callback': { kind: 'string', default: '/auth/callback' },
  'routes.profile': { kind: 'string', default: '/auth/profile', variable: 'FRAMEWORK_PUBLIC_PROFILE_ROUTE' },
  'routes.accessToken': {
    kind: 'string',
    default: '/auth/access-token',
    variable: 'FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE',
  },
  'routes.connectAccount': { kind: 'string', default: '/auth/connect' },
  'routes.backChannelLogout': { kind: 'string', default: '/auth/backchannel-logout' },
  'routes.frontChannelLogout': { kind: 'string', default: '/auth/frontchannel-logout' },
  'routes.jwks': { kind: 'string', default: '/auth/jwks' },
  'routes.mfaAuthenticators': {
    kind: 'string',
    default: '/auth/mfa/authenticators',
    variable: 'FRAMEWORK_PUBLIC_MFA_AUTHENTICATORS_ROUTE',
  },
  'routes.mfaChallenge': {
    kind: 'string',
    default: '/auth/mfa/challenge',
    variable: 'FRAMEWORK_PUBLIC_MFA_CHALLENGE_ROUTE',
  },
  'routes.mfaAssociate': {
    kind: 'string',
    default: '/auth/mfa/associate',
    variable: 'FRAMEWORK_PUBLIC_MFA_ASSOCIATE_ROUTE',
  },
  'routes.mfaVerify': {
    kind: 'string',
    default: '/auth/mfa/verify',
    variable: 'FRAMEWORK_PUBLIC_MFA_VERIFY_ROUTE',
  },

  // Session.
  secret: { kind: 'string or list', variable: 'IDP_SECRET' },
  sessions: { kind: 'boolean', default: true },
  session: { kind: 'group' },
  'session.rolling': { kind: 'boolean', default: true },
  'session.absoluteDuration': {
    kind: 'number',
    unit: 'seconds',
    min: 1,
    max: 34_560_000,
    default: 259_200,
  },
  'session.inactivityDuration': {
    kind: 'number',
    unit: 'seconds',
    min: 1,
    max: 34_560_000,
    default: 86_400,
  },
  'session.expiryClaim': { kind: 'string' },
  'session.cookie': { kind: 'group' },
  'session.cookie.name': { kind: 'string', default: '__session' },
  'session.cookie.secure': { kind: 'boolean', variable: 'IDP_COOKIE_SECURE' },
  'session.cookie.sameSite': {
    kind: 'one of',
    values: ['strict', 'lax', 'none'],
    default: 'lax',
    variable: 'IDP_COOKIE_SAME_SITE',
  },
  'session.cookie.path': { kind: 'string', default: '/', variable: 'IDP_COOKIE_PATH' },
  'session.cookie.domain': { kind: 'string', variable: 'IDP_COOKIE_DOMAIN' },
  'session.cookie.transient': { kind: 'boolean', default: false, variable: 'IDP_COOKIE_TRANSIENT' },
  'session.cookie.maxBytes': { kind: 'number', unit: 'bytes', min: 1, max: 1_000_000, default: 6400 },
  sessionStore: { kind: 'object' },
  takeOver: { kind: 'object' },
  sessionLockTimeout: { kind: 'number', unit: 'milliseconds', min: 1, max: 2_147_483_647, default: 15_000 },
  processLasts: { kind: 'boolean', default: true },
  beforeSessionSaved: { kind: 'function' },

  // Transaction cookies.
  transactionCookie: { kind: 'group' },
  'transactionCookie.prefix': { kind: 'string', default: '__txn_' },
  'transactionCookie.secure': { kind: 'boolean' },
  'transactionCookie.sameSite': { kind: 'one of', values: ['strict', 'lax', 'none'], default: 'lax' },
  'transactionCookie.path': { kind: 'string', default: '/' },
  'transactionCookie.maxAge': { kind: 'number', unit: 'seconds', min: 1, max: 34_560_000, default: 3600 },

  // Logout.
  logoutStrategy: { kind: 'one of', values: ['auto', 'oidc', 'v2', 'local'], default: 'auto' },
  includeIdTokenHintInOIDCLogoutUrl: { kind: 'boolean', default: true },
  revokeRefreshTokenAtLogout: { kind: 'boolean', default: true },
  frontChannelLogout: { kind: 'boolean or object' },

  // Tokens.
  tokenRefreshBuffer: { kind: 'number', unit: 'seconds', min: 0, max: 31_536_000, default: 0 },
  certificateBoundAccessTokens: { kind: 'boolean', default: false },
  useDPoP: { kind: 'boolean', default: false },
  dpopKeyPair: { kind: 'group' },
  'dpopKeyPair.publicKey': { kind: 'CryptoKey', variable: 'IDP_DPOP_PUBLIC_KEY' },
  'dpopKeyPair.privateKey': { kind: 'CryptoKey', variable: 'IDP_DPOP_PRIVATE_KEY' },
  dpopOptions: { kind: 'group' },
  'dpopOptions.clockTolerance': {
    kind: 'number',
    unit: 'seconds',
    min: 0,
    max: 86_400,
    default: 60,
    variable: 'IDP_DPOP_CLOCK_TOLERANCE',
  },
  'dpopOptions.clockSkew': {
    kind: 'number',
    unit: 'seconds',
    min: -86_400,
    max: 86_400,
    default: 0,
    variable: 'IDP_DPOP_CLOCK_SKEW',
  },
  'dpopOptions.retry': { kind: 'group' },
  'dpopOptions.retry.delay': {
    kind: 'number',
    unit: 'milliseconds',
    min: 0,
    max: 60_000,
    default: 100,
    variable: 'IDP_RETRY_DELAY',
  },
  'dpopOptions.retry.jitter': { kind: 'boolean', default: true, variable: 'IDP_RETRY_JITTER' },
  mfaTokenTtl: {
    kind: 'number',
    unit: 'seconds',
    min: 1,
    max: 31_536_000,
    default: 300,
    variable: 'IDP_MFA_TOKEN_TTL',
  },
} as const

type Rows = typeof optionRows

/** Paths of options whose rows are of that shape. */
export type PathOf<Row> = {
  [Path in keyof Rows]: Rows[Path] extends Row ? Path : never
}[keyof Rows]

/** The type of an option's value: `ValueAt<IdpClientOptions, 'session.rolling'>` is boolean. */
type ValueAt<T, Path extends string> = Path extends `${infer Key}.${infer Rest}`
  ? Key extends keyof T
    ? ValueAt<NonNullable<T[Key]>, Rest>
    : never
  : Path extends keyof T
    ? NonNullable<T[Path]>
    : never

type Members<Group extends string> = `${Group}.${keyof ValueAt<IdpClientOptions, Group> & string}`

/** Every option by its path (`session.cookie.name`), as the types of `options.ts` name them. */
export type OptionPath =
  | (keyof IdpClientOptions & string)
  | { [Group in PathOf<{ readonly kind: 'group' }>]: Members<Group> }[PathOf<{ readonly kind: 'group' }>]

/** The two options whose keys are symbols. */
type SymbolPath = '[customFetch]' | '[customClock]'

type RowFor<Value> = [Value] extends [boolean]
  ? FlagRow
  : [Value] extends [number]
    ? NumberRow
    : [Value] extends [string]
      ? string extends Value
        ? TextRow
        : ChoiceRow<Value>
      : OtherRow

/**
 * Does not compile if a row has no option, an option has no row, or the kind of a row differs from the type of its
 * option.
 */
optionRows satisfies {
  readonly [Path in keyof Rows | OptionPath]: Path extends OptionPath
    ? RowFor<ValueAt<IdpClientOptions, Path>>
    : Path extends SymbolPath
      ? OtherRow
      : never
}
