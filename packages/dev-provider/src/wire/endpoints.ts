/** The provider's endpoints, as faults and the request log name them. */
export const ENDPOINTS = [
  'discovery',
  'jwks',
  'authorize',
  'par',
  'token',
  'userinfo',
  'revocation',
  'introspection',
  'endSession',
  'v2Logout',
  'backchannelAuthentication',
  'interaction',
  'mfa-authenticators',
  'mfa-challenge',
  'mfa-associate',
  'account-connect',
  'account-complete',
  'account-list',
  'account-delete',
  'connect-page',
  'certificate-api',
  'dev',
  'other',
] as const

export type Endpoint = (typeof ENDPOINTS)[number]

/** Paths below the issuer's path. They differ from oidc-provider's defaults, which use `/me`. */
export const PATHS = {
  discovery: '/.well-known/openid-configuration',
  jwks: '/.well-known/jwks.json',
  authorize: '/authorize',
  par: '/oauth/par',
  token: '/oauth/token',
  userinfo: '/userinfo',
  revocation: '/oauth/revoke',
  introspection: '/oauth/introspect',
  endSession: '/oidc/logout',
  v2Logout: '/v2/logout',
  backchannelAuthentication: '/bc-authorize',
  'mfa-authenticators': '/mfa/authenticators',
  'mfa-challenge': '/mfa/challenge',
  'mfa-associate': '/mfa/associate',
} as const

/** Paths of the account API, from the origin. */
export const ACCOUNT_PATHS = {
  connect: '/me/v1/connected-accounts/connect',
  complete: '/me/v1/connected-accounts/complete',
  list: '/me/v1/connected-accounts/accounts',
} as const

/** The page on which a user connects an account, relative to the origin. */
export const CONNECT_PATH = '/connect/account'

/** The API that takes certificate-bound tokens only, relative to the origin. */
export const CERTIFICATE_API_PATH = '/certificate-api'

export const INTERACTION_PATH = '/interaction'
export const DEV_PATH = '/dev'
export const AVATAR_PATH = '/dev/avatar'
export const INBOX_PATH = '/dev/inbox'
export const ISSUED_PATH = '/dev/issued'

function isFixed(endpoint: Endpoint): endpoint is keyof typeof PATHS {
  return endpoint in PATHS
}

const BY_PATH = new Map<string, Endpoint>(
  ENDPOINTS.filter(isFixed).map((endpoint): [string, Endpoint] => [PATHS[endpoint], endpoint]),
)

const BY_ORIGIN_PATH = new Map<string, Endpoint>([
  [PATHS.v2Logout, 'v2Logout'],
  [PATHS['mfa-authenticators'], 'mfa-authenticators'],
  [PATHS['mfa-challenge'], 'mfa-challenge'],
  [PATHS['mfa-associate'], 'mfa-associate'],
  [ACCOUNT_PATHS.connect, 'account-connect'],
  [ACCOUNT_PATHS.complete, 'account-complete'],
  [ACCOUNT_PATHS.list, 'account-list'],
  [CONNECT_PATH, 'connect-page'],
  [CERTIFICATE_API_PATH, 'certificate-api'],
])

/** The endpoint of a path that hosted providers resolve from the origin, whatever the issuer's path. */
export function toOriginEndpoint(path: string): Endpoint | undefined {
  return path.startsWith(`${ACCOUNT_PATHS.list}/`) ? 'account-delete' : BY_ORIGIN_PATH.get(path)
}

/** The endpoint of a path that starts below the issuer's path. */
export function toEndpoint(path: string): Endpoint {
  const exact = BY_PATH.get(path)
  if (exact) return exact
  if (path.startsWith(`${PATHS.authorize}/`)) return 'authorize'
  if (path.startsWith(`${PATHS.endSession}/`)) return 'endSession'
  if (path.startsWith(`${INTERACTION_PATH}/`)) return 'interaction'
  if (path === DEV_PATH || path.startsWith(`${DEV_PATH}/`)) return 'dev'
  return 'other'
}
