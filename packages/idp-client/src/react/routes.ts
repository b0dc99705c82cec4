/** Paths of the routes that the browser asks, without base path. */
export interface BrowserRoutes {
  /** Default `/auth/login`; variables `NEXT_PUBLIC_LOGIN_ROUTE`, `FRAMEWORK_PUBLIC_LOGIN_ROUTE`. */
  readonly login?: string | undefined
  /** Default `/auth/profile`; variables `NEXT_PUBLIC_PROFILE_ROUTE`, `FRAMEWORK_PUBLIC_PROFILE_ROUTE`. */
  readonly profile?: string | undefined
  /** Default `/auth/access-token`; variables `NEXT_PUBLIC_ACCESS_TOKEN_ROUTE`, `FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE`. */
  readonly accessToken?: string | undefined
}

export interface RouteOptions {
  readonly routes?: BrowserRoutes | undefined
  readonly basePath?: string | undefined
}

/** Addresses as the browser requests them, base path included. */
export interface RouteUrls {
  readonly login: string
  readonly profile: string
  readonly accessToken: string
  /** Puts the base path in front of a path that does not have it yet; an absolute URL stays as it is. */
  locate(path: string): string
}

declare const process: {
  readonly env: {
    readonly NEXT_PUBLIC_BASE_PATH?: string
    readonly NEXT_PUBLIC_LOGIN_ROUTE?: string
    readonly NEXT_PUBLIC_PROFILE_ROUTE?: string
    readonly NEXT_PUBLIC_ACCESS_TOKEN_ROUTE?: string
    readonly FRAMEWORK_PUBLIC_BASE_PATH?: string
    readonly FRAMEWORK_PUBLIC_LOGIN_ROUTE?: string
    readonly FRAMEWORK_PUBLIC_PROFILE_ROUTE?: string
    readonly FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE?: string
  }
}

type Variable = readonly [
  name: string,
  inBundle: () => string | undefined,
  onServer: () => string | undefined,
]

// Bundlers replace `process.env.NAME` only where it is written out, so no name may be computed here.
const variables = {
  basePath: [
    'BASE_PATH',
    () => process.env.NEXT_PUBLIC_BASE_PATH,
    () => process.env.FRAMEWORK_PUBLIC_BASE_PATH,
  ],
  'routes.login': [
    'LOGIN_ROUTE',
    () => process.env.NEXT_PUBLIC_LOGIN_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_LOGIN_ROUTE,
  ],
  'routes.profile': [
    'PROFILE_ROUTE',
    () => process.env.NEXT_PUBLIC_PROFILE_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_PROFILE_ROUTE,
  ],
  'routes.accessToken': [
    'ACCESS_TOKEN_ROUTE',
    () => process.env.NEXT_PUBLIC_ACCESS_TOKEN_ROUTE,
    () => process.env.FRAMEWORK_PUBLIC_ACCESS_TOKEN_ROUTE,
  ],
} satisfies Readonly<Record<string, Variable>>

/** Resolves each address in the order prop, `NEXT_PUBLIC_*`, `FRAMEWORK_PUBLIC_*`, default. */
export function resolveRoutes({ routes = {}, basePath }: RouteOptions): RouteUrls {
  const bare = (setting('basePath', basePath) ?? '').replace(/^\/+|\/+$/g, '')
  const prefix = bare && `/${bare}`
  const locate = (path: string): string => withBasePath(prefix, path)
  const url = (name: keyof BrowserRoutes, last: string): string =>
    locate(setting(`routes.${name}`, routes[name]) ?? `/auth/${last}`)
  return {
    login: url('login', 'login'),
    profile: url('profile', 'profile'),
    accessToken: url('accessToken', 'access-token'),
    locate,
  }
}

function setting(prop: keyof typeof variables, given: string | undefined): string | undefined {
  if (given !== undefined) return given
  const [name, inBundle, onServer] = variables[prop]
  const visible = read(inBundle)
  const hidden = read(onServer)
  if (!visible && hidden && typeof window === 'undefined') warnOnce(name, prop)
  return visible || hidden || undefined
}

// Where there is no `process` a replaced expression still has its value, so asking `typeof process` first would lose it.
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
  const present = rooted.startsWith(prefix) && /^($|[/?#])/.test(rooted.slice(prefix.length))
  return present ? rooted : prefix + rooted
}

const warned: Record<string, boolean> = {}

function warnOnce(name: string, prop: string): void {
  if (warned[name]) return
  warned[name] = true
  // biome-ignore lint/suspicious/noConsole: the browser entry has no logger, and a wrong path would otherwise only show as a 404.
  console.warn(
    `idp-client: browsers do not see FRAMEWORK_PUBLIC_${name}. Set NEXT_PUBLIC_${name} too, or pass ${prop} to <IdpProvider>.`,
  )
}
