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
} as const

export const INTERACTION_PATH = '/interaction'
export const DEV_PATH = '/dev'
export const AVATAR_PATH = '/dev/avatar'

function isFixed(endpoint: Endpoint): endpoint is keyof typeof PATHS {
  return endpoint in PATHS
}

const BY_PATH = new Map<string, Endpoint>(
  ENDPOINTS.filter(isFixed).map((endpoint): [string, Endpoint] => [PATHS[endpoint], endpoint]),
)

/** The endpoint of a path that starts below the issuer's path. */
export function endpointOf(path: string): Endpoint {
  const exact = BY_PATH.get(path)
  if (exact) return exact
  if (path.startsWith(`${PATHS.authorize}/`)) return 'authorize'
  if (path.startsWith(`${PATHS.endSession}/`)) return 'endSession'
  if (path.startsWith(`${INTERACTION_PATH}/`)) return 'interaction'
  if (path === DEV_PATH || path.startsWith(`${DEV_PATH}/`)) return 'dev'
  return 'other'
}
