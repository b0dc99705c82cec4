import type { Code } from './codes.ts'

/**
 * What a developer or operator can do about each code: printed in docs/reference/errors.md. Apart from the codes, since
 * no program needs it and every byte of the codes is loaded with the library.
 */
export const advice: Readonly<Record<Code, string>> = {
  INVALID_CONFIGURATION: 'Set the options or environment variables that the message names.',
  BASE_URL_UNKNOWN: 'Set appBaseUrl (or APP_BASE_URL), or pass the request to the operation.',
  BASE_URL_NOT_ALLOWED: 'Add the origin to appBaseUrl, or correct the proxy that sets the Host header.',
  INVALID_REQUEST: 'Correct the parameter that docs/reference/routes.md describes for this route.',
  INVALID_ARGUMENTS:
    'Pass the arguments in an order that the message names: the request itself, not the context object of a framework.',
  NOT_AUTHENTICATED: 'Send the user to the login route.',
  INTERNAL_ERROR: 'Look for the correlation id in the log.',
  DISCOVERY_ERROR: 'Check that the domain is right and that this server reaches it; the cause tells more.',
  DISCOVERY_TIMEOUT: 'Check the network path to the provider, or raise httpTimeout.',
  JWKS_ERROR: 'Check that this server reaches the jwks_uri of the provider.',
  OAUTH_ERROR: 'Read error and status of this error; description is untrusted text of the provider.',
  REQUEST_FAILED: 'Check the network path to the provider; the cause tells more.',
  REQUEST_TIMEOUT: 'Check the provider, or raise httpTimeout.',
  RESPONSE_INVALID: 'The cause names the check that failed.',
  ID_TOKEN_INVALID:
    'The cause names the check; compare client id, issuer, algorithms and the clocks of both servers.',
  MISSING_STATE: 'Start at the login route; do not link to the callback.',
  UNKNOWN_STATE:
    'Start at the login route again; check that cookies reach the callback (domain, SameSite, https).',
  EXPIRED_STATE: 'Start at the login route again.',
  REPLAYED_STATE: 'Start at the login route again; the back button leads here.',
  STATE_OTHER_HOST:
    'Send users to one host, or make the callback URL follow the host (appBaseUrl as a list).',
  SUPERSEDED_STATE: 'Finish the later login, or set enableParallelTransactions to true.',
  POPUP_OTHER_USER: 'Let the signed-in user authenticate, or log out first; the session is as it was.',
  INVALID_CALLBACK: 'Check what the provider sends to the callback URL.',
  ISSUER_MISMATCH: 'Check the domain option; the answer may come from another provider (RFC 9207).',
  AUTHORIZATION_ERROR:
    'Read cause.error: access_denied and login_required are decisions of the user or the provider.',
  AUTHORIZATION_REQUEST_ERROR: 'Check authorizationParameters; the cause tells what the provider said.',
  AUTHORIZATION_CODE_GRANT_REQUEST_ERROR: 'The code is never sent twice: start at the login route again.',
  AUTHORIZATION_CODE_GRANT_ERROR:
    'The cause tells which check failed; check client id, client secret and redirect URI.',
  USERINFO_ERROR:
    'The cause tells why; set fetchUserInfo to false if the ID token has all claims that you need.',
  HOOK_FAILED: 'The cause is the error of the hook; no session was written.',
  MISSING_SESSION: 'Send the user to the login route first.',
  MISSING_SESSION_DATA: 'Pass a SessionData object, as getSession returns it, with the changes in it.',
  SESSION_NOT_WRITABLE:
    'Call the operation in a Server Action, route handler, API route or the proxy, before headers are sent.',
  AMBIENT_REQUEST_MISSING: 'Pass the request, or call the operation inside middleware(request, next).',
  SESSION_TOO_LARGE:
    'Read bytes and fields: drop claims in beforeSessionSaved, raise session.cookie.maxBytes, or set sessionStore.',
  FAILED_TO_REFRESH_TOKEN:
    'The cause tells why; with cause.error invalid_grant the user has to log in again.',
  REFRESH_NOT_PERSISTABLE:
    'Call getAccessToken(request, response) in the proxy, so that the refreshed session can be written.',
  MISSING_REFRESH_TOKEN: 'Ask for the scope offline_access, and send the user to the login route.',
  FAILED_TO_REVOKE:
    'The cause tells why; the session still has the refresh token, so that it can be tried again.',
  FAILED_TO_EXCHANGE_REFRESH_TOKEN: 'The cause tells why; the user may have to connect the account again.',
  MISSING_CONNECTION: 'Pass the name of the connection as the provider knows it.',
  MISSING_SUBJECT_TOKEN: 'Pass the token that is to be exchanged.',
  INVALID_SUBJECT_TOKEN_TYPE: 'Pass the URL or URN under which the provider knows this kind of token.',
  MISSING_ACTOR_TOKEN: 'Pass the token of the acting party, or leave actorToken out.',
  MISSING_ACTOR_TOKEN_TYPE: 'Pass the URL or URN under which the provider knows the kind of the actor token.',
  INVALID_ACTOR_TOKEN_TYPE: 'Pass the URL or URN under which the provider knows the kind of the actor token.',
  RESERVED_PARAMETER: 'Use the option of that parameter, or leave it out.',
  EXCHANGE_FAILED: 'The cause tells what the provider said or the network did.',
  INVALID_BACKCHANNEL_REQUEST: 'Correct the option that the message names; nothing was sent.',
  BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR:
    'Enable CIBA at the provider, so that it advertises backchannel_authentication_endpoint.',
  BACKCHANNEL_AUTHENTICATION_ERROR:
    'Read cause.error: access_denied and expired_token are decisions of the user.',
  BACKCHANNEL_AUTHENTICATION_ABORTED:
    'The cause is the reason of the signal; the user may still see the request for a while.',
  FETCHER_BASE_URL_MISSING: 'Set baseUrl in the options of createFetcher, or pass an absolute URL.',
  FETCHER_URL_REFUSED: 'Use https and the origin of baseUrl; make another fetcher for another API.',
  FETCHER_TOKEN_UNUSABLE:
    'Return a string, or an object with token or accessToken and, if it is known, token_type.',
  FETCHER_TOKEN_BOUND: 'Leave useDPoP: false away and set the key pair that the token was issued for.',
  FETCHER_NONCE_REFUSED:
    'Check the nonces of the API: RFC 9449 section 9 wants a DPoP-Nonce header beside the challenge.',
  FETCHER_BODY_GONE:
    'Pass the body as a string, buffer, blob or form, or call the API without a body before.',
  SESSION_STORE_FAILED:
    'The cause is the error of the store; sessions stay valid and are found again once it answers.',
  SESSION_STORE_INCAPABLE:
    'Set sessionStore to one that implements the member named in docs/guides/session-stores.md.',
  BACKCHANNEL_LOGOUT_ERROR: 'The message names the check that failed; compare issuer, client id and clocks.',
  LOGOUT_TOKEN_REPLAYED: 'Nothing to do: the first delivery was obeyed.',
  BACKCHANNEL_LOGOUT_NOT_SUPPORTED:
    'Set sessionStore to a store with deleteByLogoutToken, or do not register the route at the provider.',
  MFA_REQUIRED:
    'Pass mfa_token of the error to the methods of idp.mfa, or send the user to the login route with acr_values.',
  MFA_TOKEN_EXPIRED: 'Ask for the token again, which makes a new mfa_token; or raise mfaTokenTtl.',
  MFA_TOKEN_INVALID: 'Pass the mfa_token of the MfaRequiredError as it is, in a request of the same session.',
  MFA_NO_AVAILABLE_FACTORS: 'Use a type that mfa_requirements names, or enroll a factor first.',
  MFA_GET_AUTHENTICATORS_ERROR: 'The cause tells what the provider said or the network did.',
  MFA_CHALLENGE_ERROR: 'The cause tells what the provider said or the network did.',
  MFA_ENROLLMENT_ERROR: 'The cause tells what the provider said or the network did.',
  MFA_VERIFY_ERROR:
    'With cause.error invalid_grant the code was wrong: let the user try again with the same mfa_token.',
  POPUP_BLOCKED: 'Call challengeWithPopup in the handler of a click, before anything is awaited.',
  POPUP_CANCELLED:
    'Nothing to do: the user may try again. A page with Cross-Origin-Opener-Policy same-origin also sees this when it gets the focus.',
  POPUP_TIMEOUT: 'Let the user try again, or raise timeout.',
  POPUP_IN_PROGRESS: 'Wait for the first call to end.',
  INVALID_EXECUTION_CONTEXT: 'Call it in a browser, not while a server renders.',
  FAILED_TO_INITIATE:
    'The cause tells what the account API said; check that connected accounts are enabled there.',
  FAILED_TO_COMPLETE: 'The cause tells what the account API said; the user may begin again.',
  FAILED_TO_LIST: 'The cause tells what the account API said.',
  FAILED_TO_DELETE: 'The cause tells what the account API said.',
  MY_ACCOUNT_API_ERROR:
    'Read type, status and validationErrors; title and detail are untrusted text of the provider.',
  INSUFFICIENT_USER_AUTHENTICATION:
    'Send the user to the login route with the max_age and acr_values of the challenge (RFC 9470).',
  INSUFFICIENT_SCOPE: 'Send the user to the login route with the scope of the challenge.',
  WRONG_ORGANIZATION: 'Send the user to the login route with that organization.',
}
