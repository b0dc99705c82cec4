import type { Code, CodesByClass } from './code.ts'

/** Names of the classes that carry a code. */
type ClassesOf<C extends Code> = {
  [Name in keyof CodesByClass]: C extends CodesByClass[Name] ? Name : never
}[keyof CodesByClass]

/** One code, as developers see it in messages and in https://github.com/idp-client/idp-client/blob/main/docs/reference/errors.md, never mixed with input. */
export interface CodeEntry {
  /** Name of the class that carries the code. */
  readonly class: keyof CodesByClass
  /** Names of further classes that may carry it. */
  readonly also?: readonly (keyof CodesByClass)[]
  readonly message: string
  /** HTTP status when the error surfaces on a mounted route. */
  readonly status: number
}

/** Every code of the library. A new failure is a row here and a name in `CodesByClass`, rarely a new class. */
export const codes: Readonly<Record<Code, CodeEntry>> = {
  INVALID_CONFIGURATION: {
    class: 'InvalidConfigurationError',
    message: 'The configuration is incomplete or contradictory.',
    status: 500,
  },
  SERVER_ONLY: {
    class: 'InvalidConfigurationError',
    message: "IdpClient works on the server only: in client components call useUser from 'idp-client/react'.",
    status: 500,
  },
  BASE_URL_UNKNOWN: {
    class: 'InvalidConfigurationError',
    message: 'The base URL of the application cannot be inferred from this request.',
    status: 400,
  },
  BASE_URL_NOT_ALLOWED: {
    class: 'InvalidConfigurationError',
    message: 'The origin of this request is not in the appBaseUrl allow-list.',
    status: 400,
  },
  INVALID_REQUEST: {
    class: 'IdpError',
    message: 'A parameter of the request has an invalid value.',
    status: 400,
  },
  INVALID_ARGUMENTS: {
    class: 'IdpError',
    message: 'An operation was called with arguments that it does not take.',
    status: 500,
  },
  NAVIGATION_REQUIRED: {
    class: 'IdpError',
    message:
      'This route responds to navigations of the browser only: use a link or location.assign, not fetch.',
    status: 403,
  },
  CROSS_SITE_REQUEST: {
    class: 'IdpError',
    message: 'The request comes from a page of another site.',
    status: 403,
  },
  NOT_AUTHENTICATED: {
    class: 'IdpError',
    message: 'The request carries no valid session.',
    status: 401,
  },
  INTERNAL_ERROR: {
    class: 'IdpError',
    message: 'An unexpected error occurred.',
    status: 500,
  },
  DISCOVERY_ERROR: {
    class: 'DiscoveryError',
    message: "The provider's metadata could not be loaded or is not usable.",
    status: 502,
  },
  DISCOVERY_TIMEOUT: {
    class: 'DiscoveryError',
    message: "The provider's metadata did not arrive in time.",
    status: 504,
  },
  JWKS_ERROR: {
    class: 'DiscoveryError',
    message: "The provider's signing keys could not be loaded.",
    status: 502,
  },
  OAUTH_ERROR: {
    class: 'OAuthError',
    message: 'The provider rejected the request.',
    status: 502,
  },
  REQUEST_FAILED: {
    class: 'OAuthError',
    message: 'The request to the provider failed.',
    status: 502,
  },
  REQUEST_TIMEOUT: {
    class: 'OAuthError',
    message: 'The provider did not respond in time.',
    status: 504,
  },
  RESPONSE_INVALID: {
    class: 'OAuthError',
    message: "The provider's response is not what the protocol allows.",
    status: 502,
  },
  ID_TOKEN_INVALID: {
    class: 'OAuthError',
    message: "The provider's ID token is not valid.",
    status: 502,
  },
  MISSING_STATE: {
    class: 'CallbackError',
    message: 'The callback has no state parameter.',
    status: 400,
  },
  UNKNOWN_STATE: {
    class: 'CallbackError',
    message: 'The callback does not belong to a login that this browser started.',
    status: 400,
  },
  EXPIRED_STATE: {
    class: 'CallbackError',
    message: 'The login took longer than transactionCookie.maxAge.',
    status: 400,
  },
  REPLAYED_STATE: {
    class: 'CallbackError',
    message: 'This callback was already used.',
    status: 400,
  },
  STATE_HOST_MISMATCH: {
    class: 'CallbackError',
    message: 'The login started on one host and ended on another.',
    status: 400,
  },
  SUPERSEDED_STATE: {
    class: 'CallbackError',
    message: 'A later login in the same browser replaced this one.',
    status: 400,
  },
  POPUP_USER_MISMATCH: {
    class: 'CallbackError',
    message: 'A different user signed in in the popup.',
    status: 400,
  },
  INVALID_CALLBACK: {
    class: 'CallbackError',
    message: 'A required callback parameter is missing or repeated.',
    status: 400,
  },
  ISSUER_MISMATCH: {
    class: 'CallbackError',
    message:
      'The iss parameter of the callback is not the configured issuer, or is missing although the provider announces it.',
    status: 400,
  },
  AUTHORIZATION_ERROR: {
    class: 'CallbackError',
    message: 'The provider ended the login with an error.',
    status: 400,
  },
  AUTHORIZATION_REQUEST_ERROR: {
    class: 'CallbackError',
    message: 'The provider rejected the authorization request.',
    status: 502,
  },
  AUTHORIZATION_CODE_GRANT_REQUEST_ERROR: {
    class: 'CallbackError',
    message: 'The authorization code could not be exchanged now.',
    status: 502,
  },
  AUTHORIZATION_CODE_GRANT_ERROR: {
    class: 'CallbackError',
    message: 'The authorization code could not be exchanged.',
    status: 502,
  },
  USERINFO_ERROR: {
    class: 'CallbackError',
    message: "The provider's UserInfo could not be loaded, or is not about the user of this login.",
    status: 502,
  },
  HOOK_FAILED: {
    class: 'CallbackError',
    message: 'A hook of the application failed.',
    status: 500,
  },
  MISSING_SESSION: {
    class: 'IdpError',
    also: [
      'AccessTokenError',
      'AccessTokenForConnectionError',
      'MfaError',
      'ConnectAccountError',
      'ConnectedAccountsError',
    ],
    message: 'There is no session.',
    status: 401,
  },
  MISSING_SESSION_DATA: {
    class: 'IdpError',
    message: 'The session to save is missing.',
    status: 500,
  },
  SESSION_NOT_WRITABLE: {
    class: 'IdpError',
    message: 'Cookies cannot be written here.',
    status: 500,
  },
  AMBIENT_REQUEST_MISSING: {
    class: 'IdpError',
    message: 'There is no current request.',
    status: 500,
  },
  SESSION_TOO_LARGE: {
    class: 'SessionStoreError',
    message: 'The session does not fit into its cookies.',
    status: 500,
  },
  FAILED_TO_REFRESH_TOKEN: {
    class: 'AccessTokenError',
    message: 'The access token could not be refreshed.',
    status: 401,
  },
  REFRESH_NOT_PERSISTABLE: {
    class: 'AccessTokenError',
    message: 'The access token has expired, and refreshed tokens could not be saved here.',
    status: 503,
  },
  MISSING_REFRESH_TOKEN: {
    class: 'AccessTokenError',
    also: ['AccessTokenForConnectionError'],
    message: 'The access token has expired and there is no refresh token.',
    status: 401,
  },
  FAILED_TO_REVOKE: {
    class: 'AccessTokenError',
    message: 'The refresh token could not be revoked at the provider.',
    status: 502,
  },
  FAILED_TO_EXCHANGE_REFRESH_TOKEN: {
    class: 'AccessTokenForConnectionError',
    message: 'The provider returned no access token for the connection.',
    status: 502,
  },
  MISSING_CONNECTION: {
    class: 'AccessTokenForConnectionError',
    also: ['ConnectAccountError'],
    message: 'The option connection is missing.',
    status: 400,
  },
  MISSING_SUBJECT_TOKEN: {
    class: 'CustomTokenExchangeError',
    message: 'The option subjectToken is missing or blank.',
    status: 400,
  },
  INVALID_SUBJECT_TOKEN_TYPE: {
    class: 'CustomTokenExchangeError',
    message: 'The option subjectTokenType is not a URI of 10 to 100 characters.',
    status: 400,
  },
  MISSING_ACTOR_TOKEN: {
    class: 'CustomTokenExchangeError',
    message: 'The option actorToken is blank.',
    status: 400,
  },
  MISSING_ACTOR_TOKEN_TYPE: {
    class: 'CustomTokenExchangeError',
    message: 'The option actorTokenType is missing; actorToken requires it.',
    status: 400,
  },
  INVALID_ACTOR_TOKEN_TYPE: {
    class: 'CustomTokenExchangeError',
    message: 'The option actorTokenType is not a URI of 10 to 100 characters.',
    status: 400,
  },
  RESERVED_PARAMETER: {
    class: 'CustomTokenExchangeError',
    message: 'additionalParameters contains a parameter that the library sets itself.',
    status: 400,
  },
  EXCHANGE_FAILED: {
    class: 'CustomTokenExchangeError',
    message: 'The token exchange failed.',
    status: 502,
  },
  INVALID_BACKCHANNEL_REQUEST: {
    class: 'BackchannelAuthenticationError',
    message: 'An option of getTokenByBackchannelAuth is missing or invalid.',
    status: 400,
  },
  BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR: {
    class: 'BackchannelAuthenticationError',
    message: 'The provider does not support backchannel authentication (CIBA).',
    status: 501,
  },
  BACKCHANNEL_AUTHENTICATION_ERROR: {
    class: 'BackchannelAuthenticationError',
    message: 'The backchannel authentication failed.',
    status: 502,
  },
  BACKCHANNEL_AUTHENTICATION_ABORTED: {
    class: 'BackchannelAuthenticationError',
    message: 'The backchannel authentication was aborted by its signal.',
    status: 500,
  },
  FETCHER_BASE_URL_MISSING: {
    class: 'IdpError',
    message: 'The fetcher has no baseUrl, and the URL is relative.',
    status: 500,
  },
  FETCHER_URL_REFUSED: {
    class: 'IdpError',
    message: 'The fetcher does not send the access token to this URL; nothing was sent.',
    status: 500,
  },
  FETCHER_TOKEN_UNUSABLE: {
    class: 'IdpError',
    message: 'getAccessToken of the fetcher did not return a usable access token.',
    status: 500,
  },
  FETCHER_TOKEN_BOUND: {
    class: 'IdpError',
    message: 'The access token is DPoP-bound, but DPoP is off for this fetcher; nothing was sent.',
    status: 500,
  },
  FETCHER_NONCE_REFUSED: {
    class: 'IdpError',
    message: 'The API requires a DPoP nonce but sends none, or rejects the one that it sent.',
    status: 502,
  },
  FETCHER_BODY_NOT_REPLAYABLE: {
    class: 'IdpError',
    message: 'The API requires a DPoP nonce, and the request body cannot be sent a second time.',
    status: 502,
  },
  SESSION_STORE_FAILED: {
    class: 'SessionStoreError',
    message: 'The session store could not be read or written.',
    status: 503,
  },
  SESSION_STORE_UNSUPPORTED: {
    class: 'SessionStoreError',
    message: 'There is no session store, or it lacks the method that this operation needs.',
    status: 501,
  },
  BACKCHANNEL_LOGOUT_ERROR: {
    class: 'LogoutTokenError',
    message: 'The logout token is not valid.',
    status: 400,
  },
  LOGOUT_TOKEN_REPLAYED: {
    class: 'LogoutTokenError',
    message: 'The logout token was already used.',
    status: 400,
  },
  BACKCHANNEL_LOGOUT_NOT_SUPPORTED: {
    class: 'LogoutTokenError',
    message:
      'There is no session store, or it lacks deleteByLogoutToken: back-channel logout is not supported.',
    status: 501,
  },
  MFA_REQUIRED: {
    class: 'MfaRequiredError',
    message: 'The provider requires another factor for this token.',
    status: 403,
  },
  MFA_TOKEN_EXPIRED: {
    class: 'MfaError',
    message: 'The mfa_token is older than mfaTokenTtl.',
    status: 401,
  },
  MFA_TOKEN_INVALID: {
    class: 'MfaError',
    message: 'The mfa_token was not issued by this application or belongs to another session.',
    status: 401,
  },
  MFA_NO_AVAILABLE_FACTORS: {
    class: 'MfaError',
    message: 'The provider does not accept a factor of this type here.',
    status: 400,
  },
  MFA_GET_AUTHENTICATORS_ERROR: {
    class: 'MfaError',
    message: 'The enrolled factors could not be listed.',
    status: 400,
  },
  MFA_CHALLENGE_ERROR: {
    class: 'MfaError',
    message: 'The challenge could not be started.',
    status: 400,
  },
  MFA_ENROLLMENT_ERROR: {
    class: 'MfaError',
    message: 'The factor could not be enrolled.',
    status: 400,
  },
  MFA_VERIFY_ERROR: {
    class: 'MfaError',
    message: 'The factor could not be verified.',
    status: 400,
  },
  POPUP_BLOCKED: {
    class: 'MfaError',
    message: 'The browser has blocked the popup.',
    status: 400,
  },
  POPUP_CANCELLED: {
    class: 'MfaError',
    message: 'The popup was closed before the login was complete.',
    status: 400,
  },
  POPUP_TIMEOUT: {
    class: 'MfaError',
    message: 'The login in the popup was not completed in time.',
    status: 400,
  },
  POPUP_IN_PROGRESS: {
    class: 'MfaError',
    message: 'Another popup is open already.',
    status: 400,
  },
  INVALID_EXECUTION_CONTEXT: {
    class: 'MfaError',
    message: 'Popups can only be opened in a browser.',
    status: 400,
  },
  FAILED_TO_INITIATE: {
    class: 'ConnectAccountError',
    message: 'The account connection could not be started.',
    status: 502,
  },
  FAILED_TO_COMPLETE: {
    class: 'ConnectAccountError',
    message: 'The account connection could not be completed.',
    status: 502,
  },
  FAILED_TO_LIST: {
    class: 'ConnectedAccountsError',
    message: 'The connected accounts could not be listed.',
    status: 502,
  },
  FAILED_TO_DELETE: {
    class: 'ConnectedAccountsError',
    message: 'The account could not be disconnected.',
    status: 502,
  },
  MY_ACCOUNT_API_ERROR: {
    class: 'AccountApiError',
    message: "The provider's account API rejected the request.",
    status: 502,
  },
  INSUFFICIENT_USER_AUTHENTICATION: {
    class: 'IdpError',
    message: 'The user has to authenticate again or with another factor.',
    status: 401,
  },
  INSUFFICIENT_SCOPE: {
    class: 'IdpError',
    message: 'The session lacks the required scope.',
    status: 403,
  },
  WRONG_ORGANIZATION: {
    class: 'IdpError',
    message: 'The session belongs to another organization than the required one.',
    status: 403,
  },
} satisfies { readonly [C in Code]: CodeEntry & { class: ClassesOf<C>; also?: readonly ClassesOf<C>[] } }
