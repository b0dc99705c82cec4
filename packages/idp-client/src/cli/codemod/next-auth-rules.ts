import type { RemarkRule } from './remarks.ts'

/** The replaced package. */
export const peer = 'next-auth'

const guide = 'https://github.com/idp-client/idp-client/blob/main/docs'
const page = `${guide}/migration/next-auth-v4.md`

/** The variables that next-auth reads itself. */
export const ownVariables: Readonly<Record<string, string>> = {
  NEXTAUTH_URL: 'APP_BASE_URL',
  NEXTAUTH_SECRET: 'IDP_SECRET',
}

/** Properties of a provider, or of the options, whose variables have an equivalent. */
export const settings: Readonly<Record<string, string>> = {
  issuer: 'IDP_DOMAIN',
  clientId: 'IDP_CLIENT_ID',
  clientSecret: 'IDP_CLIENT_SECRET',
  secret: 'IDP_SECRET',
}

/** Exports that are left where they are, so that the compiler reports them. */
export const unavailable: Readonly<Record<string, string>> = {
  default: `and its options are the client here: move what callbacks, events, pages and the adapter do (${page}#authoptions-callbacks-and-token-refresh), then delete them`,
  NextAuthOptions: 'is IdpClientOptions here, with other options; delete it with the options',
  AuthOptions: 'is IdpClientOptions here, with other options; delete it with the options',
  Session: 'is SessionData of idp-client/next here',
  DefaultSession: 'has no counterpart: augment User of idp-client/next',
  JWT: 'has no counterpart: tokens are refreshed by getAccessToken()',
  getServerSession: 'is idp.getSession() here',
  getSession:
    'is idp.getSession(request) on the server; in the browser useUser() of idp-client/react, or fetchUser() of idp-client/browser',
  getToken: 'is idp.getSession(request), and idp.getAccessToken(request, response) for a token',
  decode: 'has no counterpart: idp.getSession() reads the cookie',
  encode: 'has no counterpart: idp.updateSession() changes the session',
  useSession: 'is useUser() of idp-client/react, which returns user, isLoading and invalidate',
  signIn: 'is a link to /auth/login?returnTo=…, or window.location.assign() of it',
  signOut: 'is a link to /auth/logout?returnTo=…, or window.location.assign() of it',
  getCsrfToken: 'has no counterpart',
  getProviders: 'has no counterpart: one client has one provider',
}

export const texts = {
  session:
    'The session has user (claims: picture, not image) and tokenSet; what callbacks.session added is not in it.',
  user: 'user has the claims of the provider (picture, not image), and nothing that callbacks.session added.',
  provider: 'IdpProvider takes user, routes and basePath, not the properties of SessionProvider.',
  logout: 'The logout also ends the session at the provider: register the URL to return to there.',
  options: `Move what callbacks, events, pages and the adapter do to the client (${page}#authoptions-callbacks-and-token-refresh), then delete this file.`,
  middleware: `The matcher of withAuth protects pages, APIs and Server Actions; here guards protect pages and APIs, and each Server Action checks the session. callbacks.authorized is authorize of the guards: ${page}#withauth-and-the-matcher.`,
  client: `Add takeOver: nextAuth({ secret: process.env.NEXTAUTH_SECRET, until, map }), so that nobody has to log in again, and read what behaves differently: ${page}.`,
  callback:
    'Set routes.callback to /api/auth/callback/<provider id> to keep the registered URL, or register /auth/callback.',
  lifetime: 'Set session.inactivityDuration to session.maxAge of the former options, if they have it.',
}

/** Code to review by hand in every source file: it does not name the package. */
export const remarksEverywhere: readonly RemarkRule[] = [
  {
    pattern: /['"`]\/api\/auth\/(?:signin|signout|session|csrf|providers)\b/,
    text: 'The routes are /auth/login, /auth/logout and /auth/profile here.',
  },
  { pattern: /from\s+['"]next-auth\/middleware['"]/, text: texts.middleware },
]
