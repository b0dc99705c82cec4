import type { RemarkRule } from './remarks.ts'

/** The replaced package, and the modules that replace its own. */
export const peer = '@auth0/nextjs-auth0'

export const modules: Readonly<Record<string, string>> = {
  [peer]: 'idp-client/react',
  [`${peer}/client`]: 'idp-client/react',
  [`${peer}/server`]: 'idp-client/next',
  [`${peer}/types`]: 'idp-client/next',
  [`${peer}/errors`]: 'idp-client/errors',
  [`${peer}/testing`]: 'idp-client/testing',
}

/** Exports with another name and the same meaning. */
export const renamed: Readonly<Record<string, string>> = {
  Auth0Client: 'IdpClient',
  Auth0ClientOptions: 'IdpClientOptions',
  Auth0Provider: 'IdpProvider',
  Auth0ProviderProps: 'IdpProviderProps',
  SdkError: 'IdpError',
  OAuth2Error: 'OAuthError',
  MyAccountApiError: 'AccountApiError',
  ConnectAccountErrorCodes: 'ConnectAccountErrorCode',
  TokenRevocationError: 'AccessTokenError',
  TokenRevocationErrorCode: 'AccessTokenErrorCode',
  BackchannelLogoutError: 'LogoutTokenError',
  BackchannelAuthenticationNotSupportedError: 'BackchannelAuthenticationError',
}

/** Methods with another name and the same meaning. */
export const methods: Readonly<Record<string, string>> = {
  getConnectedAccounts: 'listConnectedAccounts',
}

const callback = 'is a CallbackError here: compare its code'
const mfa = 'is a MfaError here: compare its code'
const popup =
  'is a MfaError here: compare its code (POPUP_BLOCKED, POPUP_CANCELLED, POPUP_TIMEOUT and others)'
const multiple = 'has no counterpart: one client has one provider'
const absent = 'has no counterpart'

/** Exports without an equivalent; the import is left unchanged, so that the compiler reports it. */
export const unavailable: Readonly<Record<string, string>> = {
  MissingStateError: `${callback} (MISSING_STATE)`,
  InvalidStateError: `${callback} (UNKNOWN_STATE, EXPIRED_STATE, REPLAYED_STATE)`,
  AuthorizationError: `${callback} (AUTHORIZATION_ERROR)`,
  AuthorizationCodeGrantRequestError: `${callback} (AUTHORIZATION_CODE_GRANT_REQUEST_ERROR)`,
  AuthorizationCodeGrantError: `${callback} (AUTHORIZATION_CODE_GRANT_ERROR)`,
  MfaGetAuthenticatorsError: mfa,
  MfaChallengeError: mfa,
  MfaVerifyError: mfa,
  MfaEnrollmentError: mfa,
  MfaNoAvailableFactorsError: mfa,
  MfaTokenExpiredError: mfa,
  MfaTokenInvalidError: mfa,
  InvalidRequestError: 'is an IdpError with the code INVALID_REQUEST here',
  PopupBlockedError: popup,
  PopupCancelledError: popup,
  PopupTimeoutError: popup,
  PopupInProgressError: popup,
  ExecutionContextError: popup,
  DPoPError: 'is an InvalidConfigurationError here',
  DPoPErrorCode: 'is an InvalidConfigurationError here',
  DomainResolver: multiple,
  DomainResolutionError: multiple,
  DomainValidationError: multiple,
  IssuerValidationError: multiple,
  SessionDomainMismatchError: multiple,
  EnterpriseConnectError: absent,
  MtlsError: absent,
  TransactionStore: absent,
  AbstractSessionStore: absent,
  isFederatedDomain: absent,
  startEnterpriseLogin: absent,
  passwordless: absent,
  passkey: absent,
  serializeCredential: absent,
}

/** Values of `error.code` with one equivalent: the same name in upper case. */
export const codes: readonly string[] = [
  'missing_session',
  'missing_refresh_token',
  'failed_to_refresh_token',
  'failed_to_exchange_refresh_token',
  'failed_to_revoke',
  'missing_subject_token',
  'invalid_subject_token_type',
  'missing_actor_token_type',
  'invalid_actor_token_type',
  'exchange_failed',
  'failed_to_initiate',
  'failed_to_complete',
  'failed_to_list',
  'failed_to_delete',
  'discovery_error',
  'missing_state',
  'authorization_error',
  'authorization_code_grant_error',
  'authorization_code_grant_request_error',
  'invalid_configuration',
  'mfa_token_expired',
  'mfa_token_invalid',
  'mfa_no_available_factors',
]

/** The names after the prefix `AUTH0_` of variables that have an equivalent with the prefix `IDP_`. */
export const suffixes: readonly string[] = [
  'DOMAIN',
  'CLIENT_ID',
  'CLIENT_SECRET',
  'SECRET',
  'CLIENT_ASSERTION_SIGNING_KEY',
  'CLIENT_ASSERTION_SIGNING_ALG',
  'COOKIE_DOMAIN',
  'COOKIE_PATH',
  'COOKIE_SAME_SITE',
  'COOKIE_SECURE',
  'COOKIE_TRANSIENT',
  'DPOP_PUBLIC_KEY',
  'DPOP_PRIVATE_KEY',
  'DPOP_CLOCK_SKEW',
  'DPOP_CLOCK_TOLERANCE',
  'RETRY_DELAY',
  'RETRY_JITTER',
  'MFA_TOKEN_TTL',
]

/** Code to review by hand, found by its spelling in files that import the package. */
export const remarks: readonly RemarkRule[] = [
  {
    pattern: /\bnew IdpClient\((?=[\s\S]*\bsessionStore\b)(?![\s\S]*\btakeOver\b)/,
    text: 'Add takeOver with a function that reads the former sessionStore, so that nobody has to log in again: https://github.com/idp-client/idp-client/blob/main/docs/migration/nextjs-auth0-v4.md#nobody-has-to-log-in-again.',
  },
  {
    pattern: /\bnew IdpClient\((?![\s\S]*\b(?:sessionStore|takeOver)\b)/,
    text: 'Add takeOver: nextjsAuth0({ secret: process.env.AUTH0_SECRET, until }), so that nobody has to log in again: https://github.com/idp-client/idp-client/blob/main/docs/migration/take-over.md.',
  },
  {
    pattern: /\bnew IdpClient\((?![\s\S]*\bexpiryClaim\b)/,
    text: "Set session.expiryClaim: 'session_expiry' if ID tokens have this claim: nextjs-auth0 always ends the session by it.",
  },
  {
    pattern: /\bonCallback\b/,
    text: 'onCallback takes one argument, ({ error, returnTo, session, request }), and returns nothing, { returnTo } or a Response.',
  },
  {
    pattern: /\bbeforeSessionSaved\b/,
    text: 'beforeSessionSaved gets undefined, not null, where there is no ID token; filterDefaultIdTokenClaims keeps custom claims here.',
  },
  {
    pattern: /\bfilterDefaultIdTokenClaims\(/,
    text: 'filterDefaultIdTokenClaims removes the claims of the protocol only; filter by DEFAULT_ID_TOKEN_CLAIMS to keep its list.',
  },
  {
    pattern: /(?:\basync\s+|^\s*)update\s*\(\s*\w+[^)]*,/,
    text: "A store's update takes a function: update(id, change) stores change(current) and returns it, or null.",
  },
  {
    pattern: /\ballowInsecureRequests\b/,
    text: 'allowInsecureRequests has no effect in production; a provider on localhost needs it for http only.',
  },
  {
    pattern: /\bprofileRoute\b/,
    text: 'IdpProvider takes routes={{ profile: … }} in place of profileRoute.',
  },
  {
    pattern: /\b(?:enterpriseConnect|discoveryCache|useMtls|beforeSessionRolled)\b/,
    text: 'This option has no counterpart.',
  },
  {
    pattern: /\bcustomFetch\s*:/,
    text: 'customFetch is a symbol exported by idp-client/next: { [customFetch]: … }.',
  },
  {
    pattern: /\bcspNonce\b/,
    text: 'onCallback returns cspNonce here; there is no option of that name.',
  },
  {
    pattern: /\bdomain\s*:\s*(?:async\s*)?\(/,
    text: 'domain is a string here: one client has one provider.',
  },
  {
    pattern: /withApiAuthRequired\b[\s\S]*\)\s+as\s/,
    text: 'withApiAuthRequired is typed by its handler; a cast around it can go.',
  },
]

/** Code to review by hand in every source file: most files import the client of the application, not the package. */
export const remarksEverywhere: readonly RemarkRule[] = [
  {
    pattern: /\bdisconnectAccount\(/,
    text: 'deleteConnectedAccount({ id, connection }) disconnects one account, by its id from listConnectedAccounts().',
  },
  {
    pattern: /\b(?:get|list)ConnectedAccounts\(|\bconnectedAccount\b/,
    text: 'Connected accounts have access_type, created_at and expires_at, not accessType, createdAt and expiresAt.',
  },
  {
    pattern: /\brevokeRefreshToken\(\s*\{/,
    text: 'revokeRefreshToken takes (request, response), not { req }.',
  },
  {
    pattern: /\b(?:requestSessionTransferToken|buildSessionTransferRedirect|startEnterpriseLogin)\(/,
    text: 'This method has no counterpart.',
  },
  {
    pattern: /\.(?:passwordless|passkey)\./,
    text: 'Passwordless logins and passkeys on own pages have no counterpart; the login page of the provider offers them.',
  },
  {
    pattern: /\bmutate\(\s*['"`][^'"`]*\/auth\/profile/,
    text: 'The user is not kept in SWR: call invalidate() of useUser().',
  },
  {
    pattern: /['"`]\/(?:me\/v\d|my-org\/)/,
    text: 'The routes /me/ and /my-org/ are not mounted: call the API from a route handler with createFetcher.',
  },
  {
    pattern: /['"`](?:invalid_state|session_expired)['"`]/,
    text: 'This code has no single counterpart: UNKNOWN_STATE, EXPIRED_STATE or REPLAYED_STATE, and MISSING_SESSION.',
  },
  {
    pattern: new RegExp(`['"\`](?:${codes.join('|')})['"\`]`),
    text: 'Values of error.code are in upper case: MISSING_SESSION, not missing_session.',
  },
]
