/** What one code means: shown to developers in messages and in docs/reference/errors.md, never mixed with input. */
export interface CodeEntry {
  /** Name of the class that carries the code. */
  readonly class: string
  readonly message: string
  /** What the developer or operator can do about it. */
  readonly advice: string
  /** HTTP status when the error surfaces on a mounted route. */
  readonly status: number
}

/** Every code of the library. A new failure is a row here, rarely a new class. */
export const codes = {
  INVALID_CONFIGURATION: {
    class: 'InvalidConfigurationError',
    message: 'The configuration is incomplete or contradictory.',
    advice: 'Set the options or environment variables that the message names.',
    status: 500,
  },
  BASE_URL_UNKNOWN: {
    class: 'InvalidConfigurationError',
    message: 'The base URL of the application cannot be inferred from this request.',
    advice: 'Set appBaseUrl (or APP_BASE_URL), or pass the request to the operation.',
    status: 400,
  },
  BASE_URL_NOT_ALLOWED: {
    class: 'InvalidConfigurationError',
    message: 'The origin of this request is not in the appBaseUrl allow-list.',
    advice: 'Add the origin to appBaseUrl, or correct the proxy that sets the Host header.',
    status: 400,
  },
  NOT_AVAILABLE: {
    class: 'IdpError',
    message: 'This version of the library does not offer that function.',
    advice: 'See docs/reference/conformance.md for what is available.',
    status: 501,
  },
  INVALID_REQUEST: {
    class: 'IdpError',
    message: 'A parameter of the request has an invalid value.',
    advice: 'Correct the parameter that docs/reference/routes.md describes for this route.',
    status: 400,
  },
  METHOD_NOT_ALLOWED: {
    class: 'IdpError',
    message: 'The route does not answer this method.',
    advice: 'Use a method that the Allow header names.',
    status: 405,
  },
  NOT_A_NAVIGATION: {
    class: 'IdpError',
    message: 'The route acts on navigations only.',
    advice: 'Link to it with a plain <a> element or location.assign, not with fetch or a prefetching link.',
    status: 403,
  },
  NOT_AUTHENTICATED: {
    class: 'IdpError',
    message: 'The request carries no valid session.',
    advice: 'Send the user to the login route.',
    status: 401,
  },
  INTERNAL_ERROR: {
    class: 'IdpError',
    message: 'An unexpected error occurred.',
    advice: 'Look for the correlation id in the log.',
    status: 500,
  },
  DISCOVERY_ERROR: {
    class: 'DiscoveryError',
    message: "The provider's metadata could not be loaded or is not usable.",
    advice: 'Check that the domain is right and that this server reaches it; the cause tells more.',
    status: 502,
  },
  DISCOVERY_TIMEOUT: {
    class: 'DiscoveryError',
    message: "The provider's metadata did not arrive within httpTimeout.",
    advice: 'Check the network path to the provider, or raise httpTimeout.',
    status: 504,
  },
  JWKS_ERROR: {
    class: 'DiscoveryError',
    message: "The provider's signing keys could not be loaded.",
    advice: 'Check that this server reaches the jwks_uri of the provider.',
    status: 502,
  },
  OAUTH_ERROR: {
    class: 'OAuthError',
    message: 'The provider refused the request.',
    advice: 'Read error and status of this error; description is untrusted text of the provider.',
    status: 502,
  },
  REQUEST_FAILED: {
    class: 'OAuthError',
    message: 'The request to the provider failed.',
    advice: 'Check the network path to the provider; the cause tells more.',
    status: 502,
  },
  REQUEST_TIMEOUT: {
    class: 'OAuthError',
    message: 'The provider did not answer within httpTimeout.',
    advice: 'Check the provider, or raise httpTimeout.',
    status: 504,
  },
  RESPONSE_INVALID: {
    class: 'OAuthError',
    message: "The provider's answer is not what the protocol allows.",
    advice: 'The cause names the check that failed.',
    status: 502,
  },
  ID_TOKEN_INVALID: {
    class: 'OAuthError',
    message: 'The ID token of the provider was refused.',
    advice:
      'The cause names the check; compare client id, issuer, algorithms and the clocks of both servers.',
    status: 502,
  },
  MISSING_STATE: {
    class: 'CallbackError',
    message: 'The callback has no state parameter.',
    advice: 'Start at the login route; do not link to the callback.',
    status: 400,
  },
  UNKNOWN_STATE: {
    class: 'CallbackError',
    message: 'The callback belongs to no login that this browser has begun.',
    advice:
      'Start at the login route again; check that cookies reach the callback (domain, SameSite, https).',
    status: 400,
  },
  EXPIRED_STATE: {
    class: 'CallbackError',
    message: 'The login took longer than transactionCookie.maxAge.',
    advice: 'Start at the login route again.',
    status: 400,
  },
  REPLAYED_STATE: {
    class: 'CallbackError',
    message: 'This callback was used already.',
    advice: 'Start at the login route again; the back button leads here.',
    status: 400,
  },
  STATE_OTHER_HOST: {
    class: 'CallbackError',
    message: 'The login began on another host than it ended on.',
    advice: 'Send users to one host, or make the callback URL follow the host (appBaseUrl as a list).',
    status: 400,
  },
  SUPERSEDED_STATE: {
    class: 'CallbackError',
    message: 'A later login in the same browser replaced this one.',
    advice: 'Finish the later login, or set enableParallelTransactions to true.',
    status: 400,
  },
  INVALID_CALLBACK: {
    class: 'CallbackError',
    message: 'The callback lacks a required parameter or repeats one.',
    advice: 'Check what the provider sends to the callback URL.',
    status: 400,
  },
  ISSUER_MISMATCH: {
    class: 'CallbackError',
    message:
      'The callback names another issuer than the configured one, or none although the provider promises it.',
    advice: 'Check the domain option; the answer may come from another provider (RFC 9207).',
    status: 400,
  },
  AUTHORIZATION_ERROR: {
    class: 'CallbackError',
    message: 'The provider ended the login with an error.',
    advice: 'Read cause.error: access_denied and login_required are decisions of the user or the provider.',
    status: 400,
  },
  AUTHORIZATION_REQUEST_ERROR: {
    class: 'CallbackError',
    message: 'The authorization request could not be built or was refused.',
    advice: 'Check authorizationParameters; the cause tells what the provider said.',
    status: 502,
  },
  AUTHORIZATION_CODE_GRANT_REQUEST_ERROR: {
    class: 'CallbackError',
    message: 'The authorization code could not be sent to the provider, or its answer was lost.',
    advice: 'The code is never sent twice: start at the login route again.',
    status: 502,
  },
  AUTHORIZATION_CODE_GRANT_ERROR: {
    class: 'CallbackError',
    message: 'The provider refused the authorization code, or its tokens were refused.',
    advice: 'The cause tells which check failed; check client id, client secret and redirect URI.',
    status: 502,
  },
  USERINFO_ERROR: {
    class: 'CallbackError',
    message: "The provider's UserInfo could not be loaded, or is not about the user of this login.",
    advice: 'The cause tells why; set fetchUserInfo to false if the ID token has all claims that you need.',
    status: 502,
  },
  HOOK_FAILED: {
    class: 'CallbackError',
    message: 'A hook of the application threw or returned something that is not part of its contract.',
    advice: 'The cause is the error of the hook; no session was written.',
    status: 500,
  },
  MISSING_SESSION: {
    class: 'IdpError',
    message: 'There is no session.',
    advice: 'Send the user to the login route first.',
    status: 401,
  },
  MISSING_SESSION_DATA: {
    class: 'IdpError',
    message: 'The session to save is missing.',
    advice: 'Pass a SessionData object, as getSession returns it, with the changes in it.',
    status: 500,
  },
  SESSION_VANISHED: {
    class: 'IdpError',
    message: 'The session ended while it was being changed.',
    advice: 'Treat the user as logged out; nothing was written.',
    status: 401,
  },
  SESSION_NOT_WRITABLE: {
    class: 'IdpError',
    message: 'Cookies cannot be written here.',
    advice:
      'Call the operation in a Server Action, route handler, API route or the proxy, before headers are sent.',
    status: 500,
  },
  AMBIENT_REQUEST_MISSING: {
    class: 'IdpError',
    message: 'There is no current request to read the session from.',
    advice: 'Pass the request, or call the operation inside middleware(request, next).',
    status: 500,
  },
  SESSION_TOO_LARGE: {
    class: 'SessionStoreError',
    message: 'The session does not fit into its cookies.',
    advice:
      'Read bytes and fields: drop claims in beforeSessionSaved, raise session.cookie.maxBytes, or set sessionStore.',
    status: 500,
  },
  FAILED_TO_REFRESH_TOKEN: {
    class: 'AccessTokenError',
    message: 'The access token could not be refreshed.',
    advice: 'The cause tells why; with cause.error invalid_grant the user has to log in again.',
    status: 401,
  },
  REFRESH_NOT_PERSISTABLE: {
    class: 'AccessTokenError',
    message: 'The access token has expired, and what a refresh brings could not be kept here.',
    advice:
      'Call getAccessToken(request, response) in the proxy, so that the refreshed session can be written.',
    status: 503,
  },
  MISSING_REFRESH_TOKEN: {
    class: 'AccessTokenError',
    message: 'The access token has expired and there is no refresh token.',
    advice: 'Ask for the scope offline_access, and send the user to the login route.',
    status: 401,
  },
  FAILED_TO_REVOKE: {
    class: 'AccessTokenError',
    message: 'The refresh token could not be revoked at the provider.',
    advice: 'The cause tells why; the session still has the refresh token, so that it can be tried again.',
    status: 502,
  },
  FAILED_TO_EXCHANGE_REFRESH_TOKEN: {
    class: 'AccessTokenForConnectionError',
    message: 'The provider handed out no access token of the connection.',
    advice: 'The cause tells why; the user may have to connect the account again.',
    status: 502,
  },
  MISSING_CONNECTION: {
    class: 'AccessTokenForConnectionError',
    message: 'The option connection is missing.',
    advice: 'Pass the name of the connection as the provider knows it.',
    status: 400,
  },
  MISSING_SUBJECT_TOKEN: {
    class: 'CustomTokenExchangeError',
    message: 'The option subjectToken is missing or blank.',
    advice: 'Pass the token that is to be exchanged.',
    status: 400,
  },
  INVALID_SUBJECT_TOKEN_TYPE: {
    class: 'CustomTokenExchangeError',
    message: 'The option subjectTokenType is no URI of 10 to 100 characters.',
    advice: 'Pass the URL or URN under which the provider knows this kind of token.',
    status: 400,
  },
  MISSING_ACTOR_TOKEN: {
    class: 'CustomTokenExchangeError',
    message: 'The option actorToken is blank.',
    advice: 'Pass the token of the acting party, or leave actorToken out.',
    status: 400,
  },
  MISSING_ACTOR_TOKEN_TYPE: {
    class: 'CustomTokenExchangeError',
    message: 'The option actorTokenType is missing, which actorToken needs.',
    advice: 'Pass the URL or URN under which the provider knows the kind of the actor token.',
    status: 400,
  },
  INVALID_ACTOR_TOKEN_TYPE: {
    class: 'CustomTokenExchangeError',
    message: 'The option actorTokenType is no URI of 10 to 100 characters.',
    advice: 'Pass the URL or URN under which the provider knows the kind of the actor token.',
    status: 400,
  },
  RESERVED_PARAMETER: {
    class: 'CustomTokenExchangeError',
    message: 'additionalParameters names a parameter that the library sets itself.',
    advice: 'Use the option of that parameter, or leave it out.',
    status: 400,
  },
  EXCHANGE_FAILED: {
    class: 'CustomTokenExchangeError',
    message: 'The token exchange failed.',
    advice: 'The cause tells what the provider said or the network did.',
    status: 502,
  },
  INVALID_BACKCHANNEL_REQUEST: {
    class: 'BackchannelAuthenticationError',
    message: 'An option of the backchannel authentication is missing or invalid.',
    advice: 'Correct the option that the message names; nothing was sent.',
    status: 400,
  },
  BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR: {
    class: 'BackchannelAuthenticationError',
    message: 'The provider offers no backchannel authentication.',
    advice: 'Enable CIBA at the provider, so that it advertises backchannel_authentication_endpoint.',
    status: 501,
  },
  BACKCHANNEL_AUTHENTICATION_ERROR: {
    class: 'BackchannelAuthenticationError',
    message: 'The backchannel authentication brought no tokens.',
    advice: 'Read cause.error: access_denied and expired_token are decisions of the user.',
    status: 502,
  },
  BACKCHANNEL_AUTHENTICATION_ABORTED: {
    class: 'BackchannelAuthenticationError',
    message: 'The caller gave up the backchannel authentication.',
    advice: 'The cause is the reason of the signal; the user may still see the request for a while.',
    status: 500,
  },
  FETCHER_BASE_URL_MISSING: {
    class: 'IdpError',
    message: 'A fetcher without baseUrl was given a relative URL.',
    advice: 'Set baseUrl in the options of createFetcher, or pass an absolute URL.',
    status: 500,
  },
  FETCHER_URL_REFUSED: {
    class: 'IdpError',
    message: 'The fetcher does not send the access token to this URL; nothing was sent.',
    advice: 'Use https and the origin of baseUrl; make another fetcher for another API.',
    status: 500,
  },
  FETCHER_TOKEN_UNUSABLE: {
    class: 'IdpError',
    message: 'getAccessToken of the fetcher returned no access token that can be sent.',
    advice: 'Return a string, or an object with token or accessToken and, if it is known, token_type.',
    status: 500,
  },
  FETCHER_TOKEN_BOUND: {
    class: 'IdpError',
    message: 'The access token is bound to a DPoP key, and DPoP is off for this fetcher; nothing was sent.',
    advice: 'Leave useDPoP: false away and set the key pair that the token was issued for.',
    status: 500,
  },
  FETCHER_NONCE_REFUSED: {
    class: 'IdpError',
    message: 'The API asks for a DPoP nonce without giving one, or does not accept the one that it gave.',
    advice: 'Check the nonces of the API: RFC 9449 section 9 wants a DPoP-Nonce header beside the challenge.',
    status: 502,
  },
  FETCHER_BODY_GONE: {
    class: 'IdpError',
    message: 'The API asked for a DPoP nonce, and the body of the request cannot be sent again.',
    advice: 'Pass the body as a string, buffer, blob or form, or call the API without a body before.',
    status: 502,
  },
} as const

codes satisfies Readonly<Record<string, CodeEntry>>

/** A code of this library, upper-case; the server's own `error` stands in the `cause`. */
export type Code = keyof typeof codes
