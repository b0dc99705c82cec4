import type { RemarkRule } from './remarks.ts'
import type { Variables } from './variables.ts'

/** The replaced package. */
export const peer = 'express-openid-connect'

const guide = 'https://github.com/idp-client/idp-client/blob/main/docs'

export const variables: Variables = {
  ISSUER_BASE_URL: 'IDP_DOMAIN',
  CLIENT_ID: 'IDP_CLIENT_ID',
  CLIENT_SECRET: 'IDP_CLIENT_SECRET',
  BASE_URL: 'APP_BASE_URL',
  SECRET: 'IDP_SECRET',
}

/** Options of `auth()` with another name and the same meaning. */
export const renamedOptions: Readonly<Record<string, string>> = {
  issuerBaseURL: 'domain',
  baseURL: 'appBaseUrl',
  clientID: 'clientId',
  idTokenSigningAlg: 'idTokenSignedResponseAlg',
}

/** Options with the same name and meaning. */
export const sameOptions: ReadonlySet<string> = new Set([
  'clientSecret',
  'clientAssertionSigningKey',
  'clientAssertionSigningAlg',
  'httpTimeout',
  'enableTelemetry',
  'pushedAuthorizationRequests',
])

/** Options whose value `false` is what this package does anyway. */
export const offByDefault: ReadonlySet<string> = new Set([
  'attemptSilentLogin',
  'errorOnRequiredAuth',
  'backchannelLogout',
  'useMtls',
  'auth0Logout',
  'legacySameSiteCookie',
])

/** Options that are left as they are, so that the compiler and the client report them. */
export const unavailableOptions: Readonly<Record<string, string>> = {
  afterCallback: 'is beforeSessionSaved(session) here, and onCallback where it rejects or redirects',
  getLoginState: 'has no counterpart: returnTo is stored by itself',
  attemptSilentLogin: `has no counterpart: see ${guide}/guides/sign-up-and-silent-login.md#silent-login`,
  errorOnRequiredAuth: 'has no counterpart: use withApiAuthRequired() for APIs',
  identityClaimFilter: 'is a choice of beforeSessionSaved here',
  backchannelLogout: 'needs a session store with deleteByLogoutToken here, and no option',
  logoutParams: 'has no counterpart: links to the logout route have parameters of their own',
  tokenEndpointParams: 'has no counterpart',
  discoveryCacheMaxAge: 'has no counterpart',
  httpUserAgent: 'has no counterpart',
  httpAgent: `is [customFetch] here: see ${guide}/guides/deploy/network.md`,
  customFetch: 'is a symbol exported by idp-client/express: { [customFetch]: … }',
  clockTolerance: 'is dpopOptions.clockTolerance here',
  transactionCookie: 'has prefix in place of name; sameSite is in lower case',
  clientAuthMethod: 'follows from what is configured here: a secret (tokenEndpointAuthMethod) or a key',
  useMtls: 'has no counterpart',
  legacySameSiteCookie: 'has no counterpart',
  requestObjectSigningKey: 'has no counterpart',
  requestObjectSigningAlg: 'has no counterpart',
  requestObjectSigningKeyId: 'has no counterpart',
  postLogoutRedirect: 'is returnTo of links to the logout route here',
  name: 'is session.cookie.name here; give this cookie a name of its own',
  store: `is the option sessionStore here; stores of express-session do not fit: see ${guide}/guides/session-stores.md`,
  genid: 'has no counterpart',
  signSessionStoreCookie: 'has no counterpart: the cookie is always encrypted',
  requireSignedSessionStoreCookie: 'has no counterpart: the cookie is always encrypted',
}

/** Exports without an equivalent that a file may use. */
export const unavailable: Readonly<Record<string, string>> = {
  auth: 'has to become new IdpClient(options) and idp.middleware; only app.use(auth(…)), once and on a line of its own, is rewritten',
  requiresAuth:
    'with a condition is withPageAuthRequired({ authorize }) here: authorize returns true for users who may pass, the condition for requests that need a login',
  claimCheck:
    'is withPageAuthRequired({ authorize: ({ claims }) => … }) here, which responds 403 to other users',
  claimEquals: 'is withPageAuthRequired({ authorize: ({ claims }) => … }) here',
  claimIncludes: 'is withPageAuthRequired({ authorize: ({ claims }) => … }) here',
  attemptSilentLogin: `has no counterpart: see ${guide}/guides/sign-up-and-silent-login.md#silent-login`,
}

export const texts = {
  guard:
    'withPageAuthRequired() redirects every request to the login; use withApiAuthRequired() where scripts call the route.',
  claims: 'A signed-in user without the claim gets a 403 here, not another login.',
  includes: 'claimIncludes also accepted a string of names separated by spaces; this accepts a list only.',
  flow: 'The login uses the authorization code flow with PKCE: allow it at the provider, and set a client secret or a key.',
  client: `Add takeOver: expressOpenidConnect({ secret: process.env.SECRET, until }), so that nobody has to log in again, and read what behaves differently: ${guide}/migration/express-openid-connect.md.`,
  options: 'These options are set elsewhere: rename them by the table of the migration page.',
  value: 'is not written out here, and was left as it is',
  returnTo: 'Without returnTo the login ends at signInReturnToPath, not at the requested URL.',
  import:
    'Import idp from the module that creates it; first move it to a module of its own if that one imports this file.',
  promise: 'Express 4 ignores the promise of this handler: forward its errors to next.',
  exported:
    'Export the client in place of these names: modules that import them use idp.withPageAuthRequired() and so on.',
  guardEverywhere: 'authRequired was not written out: every route behind this line needs a login.',
}

/** Matches the access to a property, up to its name. */
export const access = '\\s*!?\\s*\\??\\.\\s*'

/** Matches the access to a claim that the user of a session does not have; a computed name may be one. */
export const protocolClaim: string = `(?:${access}(?:iss|aud|exp|iat|nbf|nonce|at_hash|c_hash|s_hash|azp|sid|jti|auth_time|typ)\\b|\\s*!?\\s*(?:\\?\\.\\s*)?\\[)`

/** Code to review by hand in every source file. */
export const remarksEverywhere: readonly RemarkRule[] = [
  {
    pattern:
      /\boidc\s*\??\.\s*accessToken\b|\{[^{}]*\baccessToken\b[^{}]*\}\s*=\s*\w+\.oidc\b|\baccessToken\?*\.(?:isExpired|refresh)\(/,
    text: 'await idp.getAccessToken() returns { token }, refreshes it if necessary, and throws without a session.',
  },
  {
    pattern: /\boidc\s*\??\.\s*login\b/,
    text: 'res.oidc.login(options) is sendResponse(res, await idp.startInteractiveLogin(options)) in an async function; authorizationParams is authorizationParameters.',
  },
  {
    pattern: /\boidc\s*\??\.\s*logout\b/,
    text: "res.oidc.logout({ returnTo }) is a redirect to the logout route: res.redirect('/logout?returnTo=…').",
  },
  {
    pattern: /\boidc\s*\??\.\s*callback\b/,
    text: 'res.oidc.callback() has no counterpart: the callback is a route of idp.middleware.',
  },
  {
    pattern: new RegExp(
      `\\boidc${access}(?:user(?=${protocolClaim})|idTokenClaims\\b(?:(?=${protocolClaim})|(?!${access}\\w)))`,
    ),
    text: 'The user of a session has no claims of the protocol, such as auth_time and exp: use withPageAuthRequired({ maxAge }) or authorize({ claims }), and session.internal.sid.',
  },
  {
    pattern:
      /\boidc\s*\??\.\s*(?:isAuthenticated|user|idTokenClaims|idToken|refreshToken)\b|\{(?![^{}]*\baccessToken\b)[^{}]*\}\s*=\s*\w+\.oidc\b/,
    text: 'await idp.getSession() returns the session or null, with user and tokenSet; the function around it has to be async.',
  },
  {
    pattern:
      /\boidc\s*\??\.\s*(?:refresh|tokenSet|customTokenExchange|fetchUserInfo|requestSessionTransferToken)\b/,
    text: 'This method of req.oidc is one of the client here: see the names of the migration page.',
  },
  {
    pattern: /\bappSession\b/,
    text: 'req.appSession is the session of idp.getSession(), and updateSession changes it.',
  },
]
