import type { Remedy } from './remedy.ts'

/** The pages that log lines, failure pages and fixes name. */
export const DOCS = 'https://github.com/idp-client/idp-client/blob/main/docs'

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
  INVALID_REQUEST: `Correct the parameter; ${DOCS}/reference/routes.md describes each route.`,
  INVALID_ARGUMENTS:
    'Pass the arguments in one of the accepted orders (in production, detail lists them): the request itself, not the context object of a framework.',
  NAVIGATION_REQUIRED:
    'Link to the route with a plain link (a href), or call location.assign: fetch and next/link cannot navigate to the provider.',
  CROSS_SITE_REQUEST:
    'Start it from a page of the application itself. Where a browser sends neither Sec-Fetch-Site nor Origin, a request to a proxy needs the header idp-client: 1, which fetchApi of idp-client/browser sends.',
  IFRAME_REQUIRED:
    "Register the URL as the provider's front-channel logout URL; a document, a script or a prefetch ends no session.",
  FRONTCHANNEL_LOGOUT_ERROR:
    "Let the provider send sid and iss, and compare iss with the issuer. For one that sends no iss, such as Microsoft Entra ID, set frontChannelLogout: { issuer: 'optional' }.",
  TOO_MANY_LOGOUTS: 'Limit the requests for this path in the proxy, and prefer back-channel logout.',
  ACCESS_DENIED:
    'authorize of the guard did not return true: the user lacks a role or a permission of the application.',
  INVALID_TOKEN:
    'Obtain an access token of the provider for the audience of this API. The event REQUEST_FAILED says why this one was refused: set logger to see it, because its level is info.',
  INVALID_DPOP_PROOF:
    'Sign a new proof for every request, with the key that the access token is bound to (RFC 9449). The event REQUEST_FAILED says why this one was refused: set logger to see it, because its level is info.',
  USE_DPOP_NONCE:
    'Repeat the request with a proof that has the nonce of the header DPoP-Nonce (RFC 9449 section 9), as DPoP clients do by themselves.',
  TOKEN_UNDECIDED:
    'Repeat the request after the seconds of Retry-After: its key is not known yet, or too many DPoP proofs or opaque tokens arrive.',
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
    "With access_denied the user or a policy of the provider declined the login, or the requested audience is unknown; with login_required the user has to log in. The provider's log has the reason.",
  AUTHORIZATION_REQUEST_ERROR:
    'Compare authorizationParameters with what the provider accepts; its log has the reason.',
  AUTHORIZATION_CODE_GRANT_REQUEST_ERROR: 'The code is never sent twice: start at the login route again.',
  AUTHORIZATION_CODE_GRANT_ERROR:
    "Look for the reason in the provider's log; client id, client secret and callback URL must be those registered there.",
  USERINFO_ERROR: 'Set fetchUserInfo to false if the ID token has all claims that you need.',
  HOOK_FAILED:
    'Correct the hook: its exception is the cause of this error and, in development, printed on the console.',
  MISSING_SESSION: 'Send the user to the login route first.',
  SESSION_EXPIRED:
    'Send the user to the login route. If that fails, too, compare the claim of session.expiryClaim with the clock.',
  MISSING_SESSION_DATA: 'Pass the changed SessionData object that getSession returned.',
  SESSION_NOT_WRITABLE:
    'Call the operation inside the middleware, a route handler or a Server Action, with the response where there is one, before the headers are sent.',
  AMBIENT_REQUEST_MISSING: 'Pass the request, or call the operation inside the middleware.',
  SESSION_TOO_LARGE:
    'See bytes and fields for the sizes; drop claims in beforeSessionSaved, raise session.cookie.maxBytes, or set sessionStore.',
  FAILED_TO_REFRESH_TOKEN:
    'With invalid_grant (the refresh token was revoked, has expired or was redeemed elsewhere), login_required, interaction_required or consent_required, the user has to log in again. Otherwise a later call may succeed; the session stays.',
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
    'Read cause.error: with access_denied the user declined, with expired_token did not respond in time; with unknown_user_id the hint identifies no user.',
  BACKCHANNEL_AUTHENTICATION_ABORTED:
    "The cause is the signal's reason; the user may still see the request for a while.",
  FETCHER_BASE_URL_MISSING: 'Set baseUrl in the options of createFetcher, or pass an absolute URL.',
  FETCHER_URL_REFUSED: 'Use https and the origin of baseUrl; create another fetcher for another API.',
  FETCHER_TOKEN_UNUSABLE:
    'Return a string, or an object with token or accessToken and, if known, token_type.',
  FETCHER_TOKEN_BOUND: 'Remove useDPoP: false, and set the key pair that the token was issued for.',
  PROXY_METHOD_REFUSED:
    'Use a method that methods of the proxy lists; OPTIONS, TRACE and CONNECT are never sent on.',
  PROXY_PATH_REFUSED:
    'Put values with slashes, backslashes, dots alone, percent signs or control characters into the query instead of the path.',
  PROXY_DOCUMENT_REFUSED:
    'Load it with fetch, or as an image, audio or video; serve documents by a route of the application.',
  PROXY_UPGRADE_REFUSED: 'Use an event stream, or connect to the API directly with a token of its own.',
  PROXY_CONTENT_REFUSED:
    'Send the whole body uncompressed; if the API reads Content-Encoding or Content-Range, name that header in requestHeaders of the proxy.',
  PROXY_BODY_CONSUMED:
    'Mount the middleware in front of whatever reads bodies: express.json(), a body parser of Koa, the hooks of Fastify and Nest; in the Pages Router export config = { api: { bodyParser: false } }.',
  PROXY_STREAM_UNSUPPORTED:
    'Let the page ask in intervals, or run the application on a host that streams responses, and remove eventStreams: false from idp.proxy.',
  PROXY_REDIRECT_REFUSED:
    'Let the API name addresses below target only, or relative ones; the token is never sent anywhere else.',
  PROXY_UPSTREAM_FAILED: 'The log says why: check target, and that this server can reach the API.',
  PROXY_UPSTREAM_TIMEOUT: 'Check the API, or raise idleTimeout of the proxy.',
  FETCHER_NONCE_REFUSED: 'Check the API: RFC 9449 section 9 requires a DPoP-Nonce header with the challenge.',
  FETCHER_BODY_NOT_REPLAYABLE:
    'Pass the body as a string, buffer, blob or form, or send a request without a body first.',
  SESSION_STORE_FAILED:
    "Look for the reason in the store's log: its error is the cause of this one, and may quote data. Sessions stay valid and are found again once the store responds.",
  SESSION_STORE_UNSUPPORTED: `Set sessionStore to a store with that method; see ${DOCS}/guides/session-stores.md.`,
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
    'If a login has just not helped (at a page, or without login in the response of an API), let the provider put the required acr, amr or auth_time into ID tokens. Otherwise send the user to the login route with the query in login.',
  INSUFFICIENT_SCOPE:
    'If a login has just not helped (at a page, or without login in the response of an API), allow the scope for this client and user at the provider. Otherwise send the user to the login route with the query in login.',
  WRONG_ORGANIZATION:
    'If a login has just not helped (at a page, or without login in the response of an API), the user has to be a member of the required organization, and choose it. Otherwise send the user to the login route with the query in login.',

  // Reaching the provider.
  UNKNOWN_HOST:
    'Check the spelling of the host in domain (IDP_DOMAIN), and that this machine can resolve it (DNS, container network, VPN).',
  CONNECTION_REFUSED: 'Start the provider, or correct host and port in domain (IDP_DOMAIN).',
  CONNECTION_LOST:
    'Check the proxy, firewall or load balancer between this server and the provider; an https port also closes http:// connections, and one that demands client certificates those without a valid one.',
  NETWORK_UNREACHABLE:
    "Allow outgoing connections from this server to the provider, or configure the network's proxy.",
  PROVIDER_TIMEOUT:
    'Check that the provider responds and that no firewall drops the connection; raise httpTimeout if it is slow.',
  CERTIFICATE_NOT_TRUSTED:
    "Make Node.js trust the provider's certificate authority: start the process with NODE_EXTRA_CA_CERTS=<file of the CA>.",
  CERTIFICATE_EXPIRED: "Renew the provider's TLS certificate, or correct the clock of this server.",
  CERTIFICATE_HOST:
    'Use the host name that the TLS certificate was issued for in domain (IDP_DOMAIN), or reissue the certificate.',
  NOT_TLS:
    'Use the https port in domain (IDP_DOMAIN); for a local provider on http, write http:// and set allowInsecureRequests.',
  PROVIDER_UNAVAILABLE: "Check the provider's status; its log has the reason.",
  RATE_LIMITED: "Raise the provider's rate limit for this client, or send fewer requests.",
  PROVIDER_REDIRECTS: 'Set domain (IDP_DOMAIN) to the final address.',
  DISCOVERY_NOT_FOUND:
    'Correct the path in domain (IDP_DOMAIN), which includes the realm or tenant. Opened in a browser, that URL must show JSON.',
  DISCOVERY_NOT_JSON:
    'Correct domain (IDP_DOMAIN), or look for a proxy or captive portal that responds in place of the provider.',
  DISCOVERY_ISSUER_MISMATCH:
    'Set domain (IDP_DOMAIN) to exactly the issuer in the document at that URL: scheme, host, port, path and trailing slash count.',
  ENDPOINT_MISSING:
    'Enable the feature at the provider, so that its metadata lists the endpoint, or remove the option that needs it.',
  RESPONSE_NOT_OAUTH:
    'Look for a proxy, firewall or error page that responds in place of the provider (a firewall may reject the Idp-Client header: enableTelemetry).',

  // Rejections by the provider.
  CLIENT_REFUSED:
    'Compare clientId and clientSecret (IDP_CLIENT_ID, IDP_CLIENT_SECRET) with the client at the provider. If it expects the secret in another way, set tokenEndpointAuthMethod (IDP_TOKEN_ENDPOINT_AUTH_METHOD) to client_secret_basic or client_secret_post.',
  CLIENT_ASSERTION_REFUSED:
    'Register the public key of clientAssertionSigningKey for private_key_jwt at the provider; compare key id (clientAssertionSigningKeyId), algorithm (clientAssertionSigningAlg) and the clocks; a provider that expects its token endpoint as audience needs clientAssertionAudience: token_endpoint, and one that expects a typ clientAssertionTyp.',
  CLIENT_CERTIFICATE_REFUSED:
    'Let [customFetch] present a TLS certificate that is valid now and registered for this client at the provider (its subject, or the certificate itself with self_signed_tls_client_auth); a proxy that terminates TLS has to forward it to the provider.',
  CLIENT_NOT_ALLOWED:
    'Allow the grant type for this client at the provider (authorization code with response type code, refresh token, CIBA, token exchange). Microsoft Entra ID also responds like this to an unknown clientId.',
  REDIRECT_URI_REFUSED:
    'Register that redirect URI at the provider, character by character; it is appBaseUrl (APP_BASE_URL) plus routes.callback, by default /auth/callback.',
  CODE_REFUSED:
    'The code was used, has expired, or was issued for another redirect URI, client or key: start the login again; if it happens every time, register that redirect URI, and set useDPoP where the provider demands it.',
  SCOPE_REFUSED:
    'Remove the scope from authorizationParameters.scope, or allow it for this client at the provider; the default scope includes offline_access.',
  AUDIENCE_REFUSED:
    'Register the API at the provider with exactly the requested audience, and allow it for this client.',
  REQUEST_REFUSED:
    'If a redirect URI is named, register it at the provider, character by character. Otherwise compare authorizationParameters, or the options of the call, with what the provider accepts; it may require pushedAuthorizationRequests. Its log has the reason.',
  PAR_REQUIRED: 'Set pushedAuthorizationRequests to true.',
  REQUEST_OBJECT_REQUIRED:
    'Set requestObject to the private key whose public key is registered for signed requests.',
  PAR_NOT_OFFERED: 'Set pushedAuthorizationRequests to false, or enable it at the provider.',
  DPOP_REQUIRED: 'Set useDPoP to true, with a key pair: the provider binds the tokens of this client.',
  DPOP_KEYS: 'Create a pair with generateDpopKeyPair(), and set both keys together.',
  DPOP_NOT_ENABLED: 'Enable DPoP for the client and the API at the provider, or set useDPoP to false.',
  TOKEN_NOT_BOUND:
    'Enable certificate-bound access tokens for this client at the provider (tls_client_certificate_bound_access_tokens), check that [customFetch] presents the certificate at its token endpoint, or set certificateBoundAccessTokens to false.',
  DPOP_PROOF_REFUSED:
    'Compare the clocks of both servers (dpopOptions.clockSkew), and the algorithms that the provider accepts for DPoP (ES256 is used).',
  DPOP_NONCE_REFUSED:
    'Look for something that removes or caches the DPoP-Nonce header between the provider and this server.',

  // Invalid tokens.
  CLOCKS_DIFFER:
    'Synchronize the clocks of this server and of the provider (NTP). If that is impossible, set dpopOptions.clockSkew (IDP_DPOP_CLOCK_SKEW) to the seconds that the provider is ahead; it applies to all tokens, not only to DPoP.',
  ID_TOKEN_MISSING: 'Keep openid in authorizationParameters.scope.',
  ID_TOKEN_ALGORITHM:
    "Configure the provider to sign this client's ID tokens with an algorithm that its metadata lists (id_token_signing_alg_values_supported), or set idTokenSignedResponseAlg (IDP_ID_TOKEN_SIGNED_RESPONSE_ALG) to the one that it uses.",
  ID_TOKEN_ALGORITHM_UNSUPPORTED:
    "Configure the provider to sign this client's ID tokens with RS256, ES256, PS256 or EdDSA; HS256 and none are never accepted.",
  ID_TOKEN_SIGNATURE:
    "Compare the keys at the provider's jwks_uri with the one that signs; a cache or proxy may serve old keys.",
  ID_TOKEN_AUDIENCE:
    'Compare clientId (IDP_CLIENT_ID) with the client that the provider issues ID tokens for.',
  ID_TOKEN_ISSUER:
    "Compare the issuer of the ID token with that of the metadata: a custom domain and the tenant's domain are different issuers.",
  ID_TOKEN_NONCE:
    'The ID token belongs to another login: start again. If it happens every time, something at the provider drops or changes the nonce.',
  ID_TOKEN_ORGANIZATION:
    'Enable organizations for this client at the provider, and compare the value of organization with the id or name of the organization.',
  SESSION_EXPIRY_CLAIM:
    'Let the provider send it in integer seconds since the epoch, or correct session.expiryClaim.',
  MAX_AGE_NOT_MET: 'Configure the provider to apply max_age and send auth_time, or remove max_age.',
  USERINFO_TOKEN_REFUSED:
    'Request the scope openid and no audience of another API, so that UserInfo accepts the access token; or set fetchUserInfo to false.',
  USERINFO_SIGNED: 'Remove userinfo_signed_response_alg from the client at the provider.',

  // The application.
  HOOK_RESULT: `Correct the hook's return value; see ${DOCS}/reference/options.md.`,
  FORWARDED_HEADERS_IGNORED:
    'Set appBaseUrl (APP_BASE_URL), or trustProxy where the proxy overwrites both headers.',
  HTTPS_BASE_URL: 'Use http:// in appBaseUrl (APP_BASE_URL) on this machine, or serve https.',
  BASE_URL_INTERNAL: 'Set appBaseUrl (APP_BASE_URL) to the address that browsers see.',
  BASE_PATH_MISSING: 'Set FRAMEWORK_PUBLIC_BASE_PATH (NEXT_PUBLIC_BASE_PATH in Next.js).',
  PROXY_NOT_REACHED: 'Check file, folder, export and matcher of proxy.ts (middleware.ts before Next.js 16).',
  SESSION_COOKIE_SHARED: 'Give each application on the host a session.cookie.name of its own.',
  LOGOUT_NOT_OFFERED: "Set logoutStrategy: 'local', or enable RP-initiated logout at the provider.",
  HOOK_SIGNATURE: 'Declare one parameter: onCallback({ error, session, returnTo }).',
  SESSION_STORE_UNREACHABLE:
    "Check that the session store's database runs and that this server can reach it (address, port, firewall).",
  SESSION_STORE_CLOCK: 'Synchronize the clocks of this server and of the session store (NTP).',
  SESSION_STORE_LOST_RECORD:
    'Let the session store keep what it is given: free memory, an eviction policy without allkeys, reads from the primary.',
  SESSION_STORE_NOT_SET_UP:
    'Create the tables with migrate(), grant the database user access, and check the connection string.',
  SESSION_STORE_NOT_CONNECTED:
    'Connect the client of the database (await client.connect()) before the first request.',
  SESSION_STORE_UPDATE:
    'Give sessionStore.update the signature update(id, change, expiry), or rename or remove it.',
}
