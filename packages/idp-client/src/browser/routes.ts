import type { PageOptions } from './page.ts'

/** Paths of the routes that the browser requests, without base path. */
export interface BrowserRoutes {
  /** Default `/auth/login`; variables `NEXT_PUBLIC_LOGIN_ROUTE`, `FRAMEWORK_PUBLIC_LOGIN_ROUTE`. */
  readonly login?: string | undefined
  /** Default `/auth/profile`; variables `NEXT_PUBLIC_PROFILE_ROUTE`, `FRAMEWORK_PUBLIC_PROFILE_ROUTE`. */
  readonly profile?: string | undefined
  /** Default `/auth/access-token`; variables `NEXT_PUBLIC_ACCESS_TOKEN_ROUTE`, `FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE`. */
  readonly accessToken?: string | undefined
  /** Default `/auth/mfa/authenticators`; variables `*_PUBLIC_MFA_AUTHENTICATORS_ROUTE` as above. */
  readonly mfaAuthenticators?: string | undefined
  /** Default `/auth/mfa/challenge`; variables `*_PUBLIC_MFA_CHALLENGE_ROUTE`. */
  readonly mfaChallenge?: string | undefined
  /** Default `/auth/mfa/associate`; variables `*_PUBLIC_MFA_ASSOCIATE_ROUTE`. */
  readonly mfaAssociate?: string | undefined
  /** Default `/auth/mfa/verify`; variables `*_PUBLIC_MFA_VERIFY_ROUTE`. */
  readonly mfaVerify?: string | undefined
}

/** URLs as the browser requests them, including the base path. */
export interface RouteUrls {
  readonly login: string
  readonly profile: string
  readonly accessToken: string
  /** Configured paths, for the routes that only few pages request. */
  readonly routes: BrowserRoutes
  /** Adds the base path to a path that does not have it yet; an absolute URL is unchanged. */
  locate(path: string): string
}

type VariableName =
  `${'NEXT' | 'FRAMEWORK'}_PUBLIC_${'BASE_PATH' | 'LOGIN_ROUTE' | 'PROFILE_ROUTE' | 'ACCESS_TOKEN_ROUTE'}`
declare const process: { readonly env: { readonly [Name in VariableName]?: string } }

/** A variable under the name that bundlers inline into pages, and under the other one. */
export type Variable = readonly [inBundle: () => string | undefined, onServer: () => string | undefined]

// Bundlers replace `process.env.NAME` only if it is written out, so names must not be computed here.
const basePathVariable: Variable = [
  () => process.env.NEXT_PUBLIC_BASE_PATH,
  () => process.env.FRAMEWORK_PUBLIC_BASE_PATH,
]
const variables = {
  login: [() => process.env.NEXT_PUBLIC_LOGIN_ROUTE, () => process.env.FRAMEWORK_PUBLIC_LOGIN_ROUTE],
  profile: [() => process.env.NEXT_PUBLIC_PROFILE_ROUTE, () => process.env.FRAMEWORK_PUBLIC_PROFILE_ROUTE],
  accessToken: [
    () => process.env.NEXT_PUBLIC_ACCESS_TOKEN_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE,
  ],
} satisfies { readonly [Route in keyof BrowserRoutes]: Variable }

/** Resolves each URL in the order option, `NEXT_PUBLIC_*`, `FRAMEWORK_PUBLIC_*`, default. */
export function resolveRoutes({
  routes = {},
  basePath,
}: Pick<PageOptions, 'routes' | 'basePath'>): RouteUrls {
  const bare = (basePath ?? variable(basePathVariable) ?? '').replace(/^\/+|\/+$/g, '')
  const prefix = bare && `/${bare}`
  const locate = (path: string): string => withBasePath(prefix, path)
  const url = (route: keyof typeof variables, path: string): string =>
    locate(routes[route] ?? variable(variables[route], route) ?? `/auth/${path}`)
  return {
    login: url('login', 'login'),
    profile: url('profile', 'profile'),
    accessToken: url('accessToken', 'access-token'),
    routes,
    locate,
  }
}

/** Returns the value of a variable; `route` is the route that it sets, or `undefined` for the base path. */
export function variable([inBundle, onServer]: Variable, route?: keyof BrowserRoutes): string | undefined {
  const visible = read(inBundle)
  const hidden = read(onServer)
  if (!visible && hidden && typeof window === 'undefined') warnOnce(route)
  return visible || hidden || undefined
}

// No `typeof process` check: an inlined expression has its value even where `process` is missing.
function read(expression: () => string | undefined): string | undefined {
  try {
    return expression()
  } catch {
    return undefined
  }
}

const absolute = /^([a-z][a-z\d+.-]*:)?\/\//i

function withBasePath(prefix: string, path: string): string {
  if (absolute.test(path)) return path
  const rooted = path.startsWith('/') ? path : `/${path}`
  const isInside = `${rooted.split(/[?#]/)[0]}/`.startsWith(`${prefix}/`)
  return isInside ? rooted : prefix + rooted
}

const warned: Record<string, boolean> = {}

function warnOnce(route?: string): void {
  const prop = route ? `routes.${route}` : 'basePath'
  if (warned[prop]) return
  warned[prop] = true
  const name = (route ? `${route}Route` : prop).replace(/[A-Z]/g, '_$&').toUpperCase()
  // biome-ignore lint/suspicious/noConsole: the browser entry has no logger, and a wrong path would otherwise only show as a 404.
  console.warn(
    `idp-client: browsers do not see FRAMEWORK_PUBLIC_${name}. Set NEXT_PUBLIC_${name} too, or pass ${prop} to <IdpProvider>.`,
  )
}
