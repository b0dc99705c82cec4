import type { Code } from './code.ts'

/**
 * One code, as developers see it in messages and in
 * https://github.com/idp-client/idp-client/blob/main/docs/reference/errors.md, never mixed with input.
 */
export interface CodeEntry {
  readonly message: string
  /** HTTP status when the error surfaces on a mounted route. */
  readonly status: number
}

/** Every code of the library. A new failure is a row here and a name in `codesByClass`, rarely a new class. */
export const codes: Readonly<Record<Code, CodeEntry>> = {
  INVALID_CONFIGURATION: { status: 500, message: 'The configuration is incomplete or contradictory.' },
  SERVER_ONLY: {
    status: 500,
    message: "IdpClient works on the server only: in client components call useUser from 'idp-client/react'.",
  },
  BASE_URL_UNKNOWN: {
    status: 400,
    message: 'The base URL of the application cannot be inferred from this request.',
  },
  BASE_URL_NOT_ALLOWED: {
    status: 400,
    message: 'The origin of this request is not in the appBaseUrl allow-list.',
  },
  INVALID_REQUEST: { status: 400, message: 'A parameter of the request has an invalid value.' },
  INVALID_ARGUMENTS: {
    status: 500,
    message: 'An operation was called with arguments that it does not take.',
  },
  NAVIGATION_REQUIRED: {
    status: 403,
    message:
      'This route responds to navigations of the browser only: use a link or location.assign, not fetch.',
  },
  CROSS_SITE_REQUEST: { status: 403, message: 'The request comes from a page of another site.' },
  IFRAME_REQUIRED: {
    status: 403,
    message: 'This route responds only to an iframe on a page of the provider.',
  },
  FRONTCHANNEL_LOGOUT_ERROR: { status: 400, message: 'The front-channel logout request is not valid.' },
  TOO_MANY_LOGOUTS: { status: 503, message: 'Too many front-channel logout requests arrive at once.' },
  ACCESS_DENIED: { status: 403, message: 'The application denies the user access.' },
  INVALID_TOKEN: { status: 401, message: 'The access token is not valid for this API.' },
  INVALID_DPOP_PROOF: { status: 401, message: 'The DPoP proof is not valid for this request.' },
  USE_DPOP_NONCE: { status: 401, message: 'The DPoP proof needs the nonce of this response.' },
  TOKEN_UNDECIDED: { status: 503, message: 'Whether the access token is valid cannot be decided now.' },
  NOT_AUTHENTICATED: { status: 401, message: 'The request is not authenticated.' },
  INTERNAL_ERROR: { status: 500, message: 'An unexpected error occurred.' },
  DISCOVERY_ERROR: { status: 502, message: "The provider's metadata could not be loaded or is not usable." },
  DISCOVERY_TIMEOUT: { status: 504, message: "The provider's metadata did not arrive in time." },
  JWKS_ERROR: { status: 502, message: "The provider's signing keys could not be loaded." },
  OAUTH_ERROR: { status: 502, message: 'The provider rejected the request.' },
  REQUEST_FAILED: { status: 502, message: 'The request to the provider failed.' },
  REQUEST_TIMEOUT: { status: 504, message: 'The provider did not respond in time.' },
  RESPONSE_INVALID: { status: 502, message: "The provider's response is not what the protocol allows." },
  ID_TOKEN_INVALID: { status: 502, message: "The provider's ID token is not valid." },
  MISSING_STATE: { status: 400, message: 'The callback has no state parameter.' },
  UNKNOWN_STATE: {
    status: 400,
    message: 'The callback does not belong to a login that this browser started.',
  },
  EXPIRED_STATE: {
    status: 400,
    message: 'The login took longer than transactionCookie.maxAge, or than the provider allows.',
  },
  REPLAYED_STATE: { status: 400, message: 'This callback was already used.' },
  STATE_HOST_MISMATCH: { status: 400, message: 'The login started on one host and ended on another.' },
  SUPERSEDED_STATE: { status: 400, message: 'A later login in the same browser replaced this one.' },
  POPUP_USER_MISMATCH: { status: 400, message: 'A different user signed in in the popup.' },
  INVALID_CALLBACK: { status: 400, message: 'A required callback parameter is missing or repeated.' },
  ISSUER_MISMATCH: {
    status: 400,
    message:
      'The iss parameter of the callback is not the configured issuer, or is missing although the provider announces it.',
  },
  AUTHORIZATION_ERROR: { status: 400, message: 'The provider ended the login with an error.' },
  AUTHORIZATION_REQUEST_ERROR: { status: 502, message: 'The provider rejected the authorization request.' },
  AUTHORIZATION_CODE_GRANT_REQUEST_ERROR: {
    status: 502,
    message: 'The authorization code could not be exchanged now.',
  },
  AUTHORIZATION_CODE_GRANT_ERROR: { status: 502, message: 'The authorization code could not be exchanged.' },
  USERINFO_ERROR: {
    status: 502,
    message: "The provider's UserInfo could not be loaded, or is not about the user of this login.",
  },
  HOOK_FAILED: { status: 500, message: 'A hook of the application failed.' },
  MISSING_SESSION: { status: 401, message: 'There is no session.' },
  SESSION_EXPIRED: { status: 401, message: 'The session has ended at the provider.' },
  MISSING_SESSION_DATA: { status: 500, message: 'The session to save is missing.' },
  SESSION_NOT_WRITABLE: { status: 500, message: 'Cookies cannot be written here.' },
  AMBIENT_REQUEST_MISSING: { status: 500, message: 'There is no current request.' },
  SESSION_TOO_LARGE: { status: 500, message: 'The session does not fit into its cookies.' },
  FAILED_TO_REFRESH_TOKEN: { status: 401, message: 'The access token could not be refreshed.' },
  REFRESH_NOT_PERSISTABLE: {
    status: 503,
    message: 'The access token has expired, and refreshed tokens could not be saved here.',
  },
  MISSING_REFRESH_TOKEN: {
    status: 401,
    message: 'The access token has expired and there is no refresh token.',
  },
  FAILED_TO_REVOKE: { status: 502, message: 'The refresh token could not be revoked at the provider.' },
  FAILED_TO_EXCHANGE_REFRESH_TOKEN: {
    status: 502,
    message: 'The provider returned no access token for the connection.',
  },
  MISSING_CONNECTION: { status: 400, message: 'The option connection is missing.' },
  MISSING_SUBJECT_TOKEN: { status: 400, message: 'The option subjectToken is missing or blank.' },
  INVALID_SUBJECT_TOKEN_TYPE: {
    status: 400,
    message: 'The option subjectTokenType is not a URI of 10 to 100 characters.',
  },
  MISSING_ACTOR_TOKEN: { status: 400, message: 'The option actorToken is blank.' },
  MISSING_ACTOR_TOKEN_TYPE: {
    status: 400,
    message: 'The option actorTokenType is missing; actorToken requires it.',
  },
  INVALID_ACTOR_TOKEN_TYPE: {
    status: 400,
    message: 'The option actorTokenType is not a URI of 10 to 100 characters.',
  },
  RESERVED_PARAMETER: {
    status: 400,
    message: 'additionalParameters contains a parameter that the library sets itself.',
  },
  EXCHANGE_FAILED: { status: 502, message: 'The token exchange failed.' },
  INVALID_BACKCHANNEL_REQUEST: {
    status: 400,
    message: 'An option of getTokenByBackchannelAuth is missing or invalid.',
  },
  BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR: {
    status: 501,
    message: 'The provider does not support backchannel authentication (CIBA).',
  },
  BACKCHANNEL_AUTHENTICATION_ERROR: { status: 502, message: 'The backchannel authentication failed.' },
  BACKCHANNEL_AUTHENTICATION_ABORTED: {
    status: 500,
    message: 'The backchannel authentication was aborted by its signal.',
  },
  FETCHER_BASE_URL_MISSING: { status: 500, message: 'The fetcher has no baseUrl, and the URL is relative.' },
  FETCHER_URL_REFUSED: {
    status: 500,
    message: 'The fetcher does not send the access token to this URL; nothing was sent.',
  },
  FETCHER_TOKEN_UNUSABLE: {
    status: 500,
    message: 'getAccessToken of the fetcher did not return a usable access token.',
  },
  FETCHER_TOKEN_BOUND: {
    status: 500,
    message: 'The access token is DPoP-bound, but DPoP is off for this fetcher; nothing was sent.',
  },
  FETCHER_NONCE_REFUSED: {
    status: 502,
    message: 'The API requires a DPoP nonce but sends none, or rejects the one that it sent.',
  },
  FETCHER_BODY_NOT_REPLAYABLE: {
    status: 502,
    message: 'The API requires a DPoP nonce, and the request body cannot be sent a second time.',
  },
  PROXY_METHOD_REFUSED: { status: 405, message: 'The proxy sends on no requests of this method.' },
  PROXY_PATH_REFUSED: {
    status: 400,
    message: 'The path is ambiguous: another server may read it as a different one.',
  },
  PROXY_DOCUMENT_REFUSED: {
    status: 403,
    message:
      'The proxy sends on requests of scripts and media only, not for documents, frames, scripts or styles.',
  },
  PROXY_UPGRADE_REFUSED: {
    status: 501,
    message: 'The proxy cannot change the protocol of a connection (WebSocket).',
  },
  PROXY_CONTENT_REFUSED: {
    status: 415,
    message: 'The proxy does not forward compressed or partial bodies of requests.',
  },
  PROXY_BODY_CONSUMED: {
    status: 500,
    message: 'The body of the request was read before it reached the proxy; nothing was sent.',
  },
  PROXY_STREAM_UNSUPPORTED: {
    status: 501,
    message: 'The API responded with an event stream, which this host cannot send on.',
  },
  PROXY_REDIRECT_REFUSED: {
    status: 502,
    message: 'The API names an address that is not below the target of the proxy.',
  },
  PROXY_UPSTREAM_FAILED: { status: 502, message: 'The API behind the proxy did not respond.' },
  PROXY_UPSTREAM_TIMEOUT: { status: 504, message: 'The API behind the proxy did not respond in time.' },
  SESSION_STORE_FAILED: { status: 503, message: 'The session store could not be read or written.' },
  SESSION_STORE_UNSUPPORTED: {
    status: 501,
    message: 'There is no session store, or it lacks the method that this operation needs.',
  },
  BACKCHANNEL_LOGOUT_ERROR: { status: 400, message: 'The logout token is not valid.' },
  LOGOUT_TOKEN_REPLAYED: { status: 400, message: 'The logout token was already used.' },
  BACKCHANNEL_LOGOUT_NOT_SUPPORTED: {
    status: 501,
    message:
      'There is no session store, or it lacks deleteByLogoutToken: back-channel logout is not supported.',
  },
  MFA_REQUIRED: { status: 403, message: 'The provider requires another factor for this token.' },
  MFA_TOKEN_EXPIRED: { status: 401, message: 'The mfa_token is older than mfaTokenTtl.' },
  MFA_TOKEN_INVALID: {
    status: 401,
    message: 'The mfa_token was not issued by this application or belongs to another session.',
  },
  MFA_NO_AVAILABLE_FACTORS: {
    status: 400,
    message: 'The provider does not accept a factor of this type here.',
  },
  MFA_GET_AUTHENTICATORS_ERROR: { status: 400, message: 'The enrolled factors could not be listed.' },
  MFA_CHALLENGE_ERROR: { status: 400, message: 'The challenge could not be started.' },
  MFA_ENROLLMENT_ERROR: { status: 400, message: 'The factor could not be enrolled.' },
  MFA_VERIFY_ERROR: { status: 400, message: 'The factor could not be verified.' },
  POPUP_BLOCKED: { status: 400, message: 'The browser has blocked the popup.' },
  POPUP_CANCELLED: { status: 400, message: 'The popup was closed before the login was complete.' },
  POPUP_TIMEOUT: { status: 400, message: 'The login in the popup was not completed in time.' },
  POPUP_IN_PROGRESS: { status: 400, message: 'Another popup is open already.' },
  INVALID_EXECUTION_CONTEXT: { status: 400, message: 'Popups can only be opened in a browser.' },
  FAILED_TO_INITIATE: { status: 502, message: 'The account connection could not be started.' },
  FAILED_TO_COMPLETE: { status: 502, message: 'The account connection could not be completed.' },
  FAILED_TO_LIST: { status: 502, message: 'The connected accounts could not be listed.' },
  FAILED_TO_DELETE: { status: 502, message: 'The account could not be disconnected.' },
  MY_ACCOUNT_API_ERROR: { status: 502, message: "The provider's account API rejected the request." },
  INSUFFICIENT_USER_AUTHENTICATION: {
    status: 401,
    message: 'The user has to authenticate again or with another factor.',
  },
  INSUFFICIENT_SCOPE: { status: 403, message: 'The required scope was not granted.' },
  WRONG_ORGANIZATION: {
    status: 403,
    message: 'The session belongs to another organization than the required one.',
  },
}
