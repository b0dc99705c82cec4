import type { Remedy } from './remedy.ts'
import { reasons } from './remedy.ts'

/**
 * Fixes for failures, for developers and operators: the one closed list that events, the default logger, failure pages
 * and docs share. A code has one row; where one code has several reasons, each reason has a row of its own, which an
 * error names in `remedy`. Messages of errors contain them: none names a value of the configuration.
 */
export const remedies: Readonly<Record<Remedy, string>> = {
  INVALID_CONFIGURATION:
    'Set the named options or environment variables (in production, detail and the log name them).',
  SERVER_ONLY:
    'Construct the client in a module that no client component imports; without React use idp-client/browser.',
  BASE_URL_UNKNOWN: 'Set appBaseUrl (or APP_BASE_URL), or pass the request to the operation.',
  BASE_URL_NOT_ALLOWED: 'Add the origin to appBaseUrl, or correct the proxy that sets the Host header.',
  INVALID_REQUEST:
    'Correct the parameter; https://github.com/idp-client/idp-client/blob/main/docs/reference/routes.md describes each route.',
  INVALID_ARGUMENTS:
    'Pass the arguments in one of the accepted orders (in production, detail lists them): the request itself, not the context object of a framework.',
  NAVIGATION_REQUIRED:
    'Link to the route with a plain link (a href), or call location.assign: fetch and next/link cannot navigate to the provider.',
  CROSS_SITE_REQUEST: 'Start it from a page of the application itself.',
  NOT_AUTHENTICATED: 'Send the user to the login route.',
  INTERNAL_ERROR: 'Look for the correlation id in the log.',
  DISCOVERY_ERROR: 'Check domain (IDP_DOMAIN), and that this server can reach it.',
  DISCOVERY_TIMEOUT: 'Check the network path to the provider, or raise httpTimeout.',
  JWKS_ERROR: 'Check that this server can reach the jwks_uri of the provider.',
  OAUTH_ERROR:
    "Look for the reason in the provider's log; error, providerStatus and description of this error are the provider's own, untrusted.",
  REQUEST_FAILED: 'Check the network path to the provider.',
  REQUEST_TIMEOUT: 'Check the provider, or raise httpTimeout.',
  RESPONSE_INVALID: "Check the provider's response against the protocol; a proxy in between may change it.",
  ID_TOKEN_INVALID: "Check the provider's ID tokens against OpenID Connect Core 3.1.3.7.",
  MISSING_STATE: 'Start at the login route; do not link to the callback.',
  UNKNOWN_STATE:
    'Start at the login route again; check that cookies reach the callback (domain, SameSite, https).',
  EXPIRED_STATE: 'Start at the login route again.',
  REPLAYED_STATE: "Start at the login route again; the browser's back button causes this.",
  STATE_HOST_MISMATCH:
    'Send users to one host, or make the callback URL follow the host (appBaseUrl as a list).',
  SUPERSEDED_STATE: 'Finish the later login, or set enableParallelTransactions to true.',
  POPUP_USER_MISMATCH: 'Authenticate as the signed-in user, or log out first; the session is unchanged.',
  INVALID_CALLBACK: 'Check what the provider sends to the callback URL.',
  ISSUER_MISMATCH: 'Check the domain option; the response may come from another provider (RFC 9207).',
  AUTHORIZATION_ERROR:
    "access_denied and login_required are decisions of the user or the provider; for anything else see the provider's log.",
  AUTHORIZATION_REQUEST_ERROR:
    'Compare authorizationParameters with what the provider accepts; its log has the reason.',
  AUTHORIZATION_CODE_GRANT_REQUEST_ERROR: 'The code is never sent twice: start at the login route again.',
  AUTHORIZATION_CODE_GRANT_ERROR:
    "Look for the reason in the provider's log; client id, client secret and callback URL must be those registered there.",
  USERINFO_ERROR: 'Set fetchUserInfo to false if the ID token has all claims that you need.',
  HOOK_FAILED:
    'Correct the hook: its exception is the cause of this error and, in development, printed on the console.',
  MISSING_SESSION: 'Send the user to the login route first.',
  MISSING_SESSION_DATA: 'Pass the changed SessionData object that getSession returned.',
  SESSION_NOT_WRITABLE:
    'Call the operation inside the middleware, a route handler or a Server Action, with the response where there is one, before the headers are sent.',
  AMBIENT_REQUEST_MISSING: 'Pass the request, or call the operation inside the middleware.',
  SESSION_TOO_LARGE:
    'See bytes and fields for the sizes; drop claims in beforeSessionSaved, raise session.cookie.maxBytes, or set sessionStore.',
  FAILED_TO_REFRESH_TOKEN:
    'With invalid_grant the refresh token was revoked, has expired or was redeemed elsewhere: the user has to log in again. Otherwise a later call may succeed; the session stays.',
  REFRESH_NOT_PERSISTABLE:
    'Call getAccessToken(request, response) in the proxy or middleware, or set sessionStore.',
  MISSING_REFRESH_TOKEN:
    'Allow refresh tokens for this client at the provider, and request the scope that it requires for them (offline_access at many providers, none at others). Then send the user to the login route.',
  FAILED_TO_REVOKE: 'Call it again: the session still has the refresh token.',
  FAILED_TO_EXCHANGE_REFRESH_TOKEN: 'The user may have to connect the account again.',
  MISSING_CONNECTION: 'Pass the name of the connection at the provider.',
  MISSING_SUBJECT_TOKEN: 'Pass the token to exchange.',
  INVALID_SUBJECT_TOKEN_TYPE: 'Pass the URL or URN that the provider uses for this token type.',
  MISSING_ACTOR_TOKEN: 'Pass the token of the acting party, or leave actorToken out.',
  MISSING_ACTOR_TOKEN_TYPE: 'Pass the URL or URN that the provider uses for this actor token type.',
  INVALID_ACTOR_TOKEN_TYPE: 'Pass the URL or URN that the provider uses for this actor token type.',
  RESERVED_PARAMETER: 'Use the option for that parameter, or remove it.',
  EXCHANGE_FAILED: "Look for the reason in the provider's log.",
  INVALID_BACKCHANNEL_REQUEST: 'Correct the named option (in production, detail names it); nothing was sent.',
  BACKCHANNEL_AUTHENTICATION_NOT_SUPPORTED_ERROR:
    'Enable CIBA at the provider, so that it advertises backchannel_authentication_endpoint.',
  BACKCHANNEL_AUTHENTICATION_ERROR:
    'Read cause.error: access_denied and expired_token are decisions of the user.',
  BACKCHANNEL_AUTHENTICATION_ABORTED:
    "The cause is the signal's reason; the user may still see the request for a while.",
  FETCHER_BASE_URL_MISSING: 'Set baseUrl in the options of createFetcher, or pass an absolute URL.',
  FETCHER_URL_REFUSED: 'Use https and the origin of baseUrl; create another fetcher for another API.',
  FETCHER_TOKEN_UNUSABLE:
    'Return a string, or an object with token or accessToken and, if known, token_type.',
  FETCHER_TOKEN_BOUND: 'Remove useDPoP: false, and set the key pair that the token was issued for.',
  FETCHER_NONCE_REFUSED: 'Check the API: RFC 9449 section 9 requires a DPoP-Nonce header with the challenge.',
  FETCHER_BODY_NOT_REPLAYABLE:
    'Pass the body as a string, buffer, blob or form, or send a request without a body first.',
  SESSION_STORE_FAILED:
    "Look for the reason in the store's log: its error is the cause of this one, and may quote data. Sessions stay valid and are found again once the store responds.",
  SESSION_STORE_UNSUPPORTED:
    'Set sessionStore to a store with that method; see https://github.com/idp-client/idp-client/blob/main/docs/guides/session-stores.md.',
  BACKCHANNEL_LOGOUT_ERROR: 'Compare issuer, client id and clocks with those of the provider.',
  LOGOUT_TOKEN_REPLAYED: 'Nothing to do: the first delivery was processed.',
  BACKCHANNEL_LOGOUT_NOT_SUPPORTED:
    'Set sessionStore to a store with deleteByLogoutToken, or do not register the route at the provider.',
  MFA_REQUIRED:
    'Pass the mfa_token of the error to idp.mfa, or send the user to the login route with acr_values.',
  MFA_TOKEN_EXPIRED: 'Request the token again for a new mfa_token, or raise mfaTokenTtl.',
  MFA_TOKEN_INVALID:
    'Pass the mfa_token of the MfaRequiredError unchanged, in a request of the same session.',
  MFA_NO_AVAILABLE_FACTORS: 'Use a type listed in mfa_requirements, or enroll a factor first.',
  MFA_GET_AUTHENTICATORS_ERROR: "Look for the reason in the provider's log.",
  MFA_CHALLENGE_ERROR: "Look for the reason in the provider's log.",
  MFA_ENROLLMENT_ERROR: "Look for the reason in the provider's log.",
  MFA_VERIFY_ERROR:
    'With cause.error invalid_grant the code was wrong: the user may retry with the same mfa_token.',
  POPUP_BLOCKED: 'Call challengeWithPopup in the handler of a click, before anything is awaited.',
  POPUP_CANCELLED:
    'Nothing to do: the user may try again. A page with Cross-Origin-Opener-Policy same-origin also sees this when it gets the focus.',
  POPUP_TIMEOUT: 'Let the user try again, or raise timeout.',
  POPUP_IN_PROGRESS: 'Wait for the first call to end.',
  INVALID_EXECUTION_CONTEXT: 'Call it in a browser, not while a server renders.',
  FAILED_TO_INITIATE:
    'Check that connected accounts are enabled at the provider, and that the API is allowed for this client.',
  FAILED_TO_COMPLETE: 'The user may start again.',
  FAILED_TO_LIST: "Look for the reason in the provider's log.",
  FAILED_TO_DELETE: "Look for the reason in the provider's log.",
  MY_ACCOUNT_API_ERROR:
    'Read type, providerStatus and validationErrors; title and detail are untrusted text of the provider.',
  INSUFFICIENT_USER_AUTHENTICATION:
    'Send the user to the login route with the query in login of the response; where login is missing, such a login has just not helped.',
  INSUFFICIENT_SCOPE: 'Send the user to the login route with the query in login of the response.',
  WRONG_ORGANIZATION: 'Send the user to the login route with the query in login of the response.',
  ...reasons,
}

/** Retrying does not help: the setup of the application or the provider has to be corrected. */
export const setupMistakes: ReadonlySet<Remedy> = new Set<Remedy>([
  'INVALID_CONFIGURATION',
  'BASE_URL_UNKNOWN',
  'BASE_URL_NOT_ALLOWED',
  'UNKNOWN_HOST',
  'CERTIFICATE_NOT_TRUSTED',
  'CERTIFICATE_EXPIRED',
  'CERTIFICATE_HOST',
  'NOT_TLS',
  'PROVIDER_REDIRECTS',
  'DISCOVERY_NOT_FOUND',
  'DISCOVERY_NOT_JSON',
  'DISCOVERY_ISSUER_MISMATCH',
  'ENDPOINT_MISSING',
  'CLIENT_REFUSED',
  'CLIENT_ASSERTION_REFUSED',
  'CLIENT_NOT_ALLOWED',
  'REDIRECT_URI_REFUSED',
  'SCOPE_REFUSED',
  'AUDIENCE_REFUSED',
  'REQUEST_REFUSED',
  'PAR_REQUIRED',
  'PAR_NOT_OFFERED',
  'DPOP_REQUIRED',
  'DPOP_KEYS',
  'DPOP_NOT_ENABLED',
  'DPOP_PROOF_REFUSED',
  'CLOCKS_DIFFER',
  'ID_TOKEN_MISSING',
  'ID_TOKEN_ALGORITHM',
  'ID_TOKEN_ALGORITHM_UNSUPPORTED',
  'ID_TOKEN_AUDIENCE',
  'ID_TOKEN_ISSUER',
  'MAX_AGE_NOT_MET',
  'USERINFO_TOKEN_REFUSED',
  'USERINFO_SIGNED',
  'HOOK_RESULT',
  'SESSION_TOO_LARGE',
  'SESSION_STORE_NOT_SET_UP',
  'SESSION_STORE_NOT_CONNECTED',
  'SESSION_STORE_UPDATE',
])
