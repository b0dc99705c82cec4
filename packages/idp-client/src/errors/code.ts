/** The codes of each error class. A code of several classes says what happened in either operation. */
export const codesByClass = {
  InvalidConfigurationError: [
    'INVALID_CONFIGURATION',
    'SERVER_ONLY',
    'BASE_URL_UNKNOWN',
    'BASE_URL_NOT_ALLOWED',
  ],
  IdpError: [
    'INVALID_REQUEST',
    'INVALID_ARGUMENTS',
    'NAVIGATION_REQUIRED',
    'CROSS_SITE_REQUEST',
    'IFRAME_REQUIRED',
    'FRONTCHANNEL_LOGOUT_ERROR',
    'TOO_MANY_LOGOUTS',
    'NOT_AUTHENTICATED',
    'ACCESS_DENIED',
    'INVALID_TOKEN',
    'INVALID_DPOP_PROOF',
    'USE_DPOP_NONCE',
    'TOKEN_UNDECIDED',
    'INTERNAL_ERROR',
    'MISSING_SESSION',
    'SESSION_EXPIRED',
    'MISSING_SESSION_DATA',
    'SESSION_NOT_WRITABLE',
    'AMBIENT_REQUEST_MISSING',
    'FETCHER_BASE_URL_MISSING',
    'FETCHER_URL_REFUSED',
    'FETCHER_TOKEN_UNUSABLE',
    'FETCHER_TOKEN_BOUND',
    'FETCHER_NONCE_REFUSED',
    'FETCHER_BODY_NOT_REPLAYABLE',
    'PROXY_METHOD_REFUSED',
    'PROXY_PATH_REFUSED',
    'PROXY_DOCUMENT_REFUSED',
    'PROXY_UPGRADE_REFUSED',
    'PROXY_CONTENT_REFUSED',
    'PROXY_BODY_CONSUMED',
    'PROXY_REDIRECT_REFUSED',
    'PROXY_STREAM_UNSUPPORTED',
    'PROXY_UPSTREAM_FAILED',
    'PROXY_UPSTREAM_TIMEOUT',
    'INSUFFICIENT_USER_AUTHENTICATION',
    'INSUFFICIENT_SCOPE',
    'WRONG_ORGANIZATION',
  ],
  DiscoveryError: ['DISCOVERY_ERROR', 'DISCOVERY_TIMEOUT', 'JWKS_ERROR'],
  OAuthError: ['OAUTH_ERROR', 'REQUEST_FAILED', 'REQUEST_TIMEOUT', 'RESPONSE_INVALID', 'ID_TOKEN_INVALID'],
  CallbackError: [
    'MISSING_STATE',
    'UNKNOWN_STATE',
    'EXPIRED_STATE',
    'REPLAYED_STATE',
    'STATE_HOST_MISMATCH',
    'SUPERSEDED_STATE',
    'POPUP_USER_MISMATCH',
    'SESSION_EXPIRED',
    'INVALID_CALLBACK',
    'ISSUER_MISMATCH',
    'AUTHORIZATION_ERROR',
    'AUTHORIZATION_REQUEST_ERROR',
    'AUTHORIZATION_CODE_GRANT_REQUEST_ERROR',
    'AUTHORIZATION_CODE_GRANT_ERROR',
    'USERINFO_ERROR',
    'HOOK_FAILED',
  ],
  AccessTokenError: [
    'MISSING_SESSION',
    'SESSION_EXPIRED',
    'FAILED_TO_REFRESH_TOKEN',
    'REFRESH_NOT_PERSISTABLE',
    'MISSING_REFRESH_TOKEN',
    'FAILED_TO_REVOKE',
  ],
  AccessTokenForConnectionError: [
    'MISSING_SESSION',
    'MISSING_REFRESH_TOKEN',
    'FAILED_TO_EXCHANGE_REFRESH_TOKEN',
    'MISSING_CONNECTION',
  ],
  MfaError: [
    'MISSING_SESSION',
    'SESSION_EXPIRED',
    'MFA_TOKEN_EXPIRED',
    'MFA_TOKEN_INVALID',
    'MFA_NO_AVAILABLE_FACTORS',
    'MFA_GET_AUTHENTICATORS_ERROR',
    'MFA_CHALLENGE_ERROR',
    'MFA_ENROLLMENT_ERROR',
    'MFA_VERIFY_ERROR',
    'POPUP_BLOCKED',
    'POPUP_CANCELLED',
    'POPUP_TIMEOUT',
    'POPUP_IN_PROGRESS',
    'INVALID_EXECUTION_CONTEXT',
  ],
  ConnectAccountError: ['MISSING_SESSION', 'MISSING_CONNECTION', 'FAILED_TO_INITIATE', 'FAILED_TO_COMPLETE'],
  ConnectedAccountsError: ['MISSING_SESSION', 'FAILED_TO_LIST', 'FAILED_TO_DELETE'],
  SessionStoreError: ['SESSION_TOO_LARGE', 'SESSION_STORE_FAILED', 'SESSION_STORE_UNSUPPORTED'],
  CustomTokenExchangeError: [
    'MISSING_SUBJECT_TOKEN',
    'INVALID_SUBJECT_TOKEN_TYPE',
    'MISSING_ACTOR_TOKEN',
    'MISSING_ACTOR_TOKEN_TYPE',
    'INVALID_ACTOR_TOKEN_TYPE',
    'RESERVED_PARAMETER',
    'EXCHANGE_FAILED',
  ],
  BackchannelAuthenticationError: [
    'INVALID_BACKCHANNEL_REQUEST',
    'BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR',
    'BACKCHANNEL_AUTHENTICATION_ERROR',
    'BACKCHANNEL_AUTHENTICATION_ABORTED',
  ],
  LogoutTokenError: ['BACKCHANNEL_LOGOUT_ERROR', 'LOGOUT_TOKEN_REPLAYED', 'BACKCHANNEL_LOGOUT_NOT_SUPPORTED'],
  MfaRequiredError: ['MFA_REQUIRED'],
  AccountApiError: ['MY_ACCOUNT_API_ERROR'],
} as const

/** The codes of each error class, as a union. */
export type CodesByClass = {
  readonly [Name in keyof typeof codesByClass]: (typeof codesByClass)[Name][number]
}

/** Error code of this library, upper-case. The `error` of the provider is in the `cause`. */
export type Code = CodesByClass[keyof CodesByClass]

/** The codes of a class, such as `CodesOf<'AccessTokenError'>`. */
export type CodesOf<Name extends keyof CodesByClass> = CodesByClass[Name]

/** The codes of a class, each under its own name. */
export function toCodeNames<Name extends keyof CodesByClass>(
  name: Name,
): { readonly [Each in CodesOf<Name>]: Each } {
  const names: readonly string[] = codesByClass[name]
  return Object.fromEntries(names.map((code) => [code, code])) as { readonly [Each in CodesOf<Name>]: Each }
}
