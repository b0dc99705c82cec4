/** Paths of the routes that the browser asks, without base path. */
export interface BrowserRoutes {
  /** Default `/auth/login`; variables `NEXT_PUBLIC_LOGIN_ROUTE`, `FRAMEWORK_PUBLIC_LOGIN_ROUTE`. */
  readonly login?: string | undefined
  /** Default `/auth/profile`; variables `NEXT_PUBLIC_PROFILE_ROUTE`, `FRAMEWORK_PUBLIC_PROFILE_ROUTE`. */
  readonly profile?: string | undefined
}

export interface RouteOptions {
  readonly routes?: BrowserRoutes | undefined
  readonly basePath?: string | undefined
}

/** Addresses as the browser requests them, base path included. */
export interface RouteUrls {
  readonly login: string
  readonly profile: string
  /** Puts the base path in front of a path that does not have it yet; an absolute URL stays as it is. */
  locate(path: string): string
}

declare const process: {
  readonly env: {
    readonly NEXT_PUBLIC_BASE_PATH?: string
    readonly NEXT_PUBLIC_LOGIN_ROUTE?: string
    readonly NEXT_PUBLIC_PROFILE_ROUTE?: string
    readonly FRAMEWORK_PUBLIC_BASE_PATH?: string
    readonly FRAMEWORK_PUBLIC_LOGIN_ROUTE?: string
    readonly FRAMEWORK_PUBLIC_PROFILE_ROUTE?: string
  }
}

interface Variable {
  readonly name: string
  readonly prop: string
  readonly inBundle: string | undefined
  readonly onServer: string | undefined
}

// Bundlers replace `process.env.NAME` only where it is written out, so no name may be computed here.
const variables = {
  basePath: (): Variable => ({
    name: 'BASE_PATH',
    prop: 'basePath',
    inBundle: read(() => process.env.NEXT_PUBLIC_BASE_PATH),
    onServer: read(() => process.env.FRAMEWORK_PUBLIC_BASE_PATH),
  }),
  login: (): Variable => ({
    name: 'LOGIN_ROUTE',
    prop: 'routes.login',
    inBundle: read(() => process.env.NEXT_PUBLIC_LOGIN_ROUTE),
    onServer: read(() => process.env.FRAMEWORK_PUBLIC_LOGIN_ROUTE),
  }),
  profile: (): Variable => ({
    name: 'PROFILE_ROUTE',
    prop: 'routes.profile',
    inBundle: read(() => process.env.NEXT_PUBLIC_PROFILE_ROUTE),
    onServer: read(() => process.env.FRAMEWORK_PUBLIC_PROFILE_ROUTE),
  }),
}

/** Resolves each address in the order prop, `NEXT_PUBLIC_*`, `FRAMEWORK_PUBLIC_*`, default. */
export function resolveRoutes({ routes = {}, basePath }: RouteOptions): RouteUrls {
  const bare = (setting(basePath, variables.basePath()) ?? '').replace(/^\/+|\/+$/g, '')
  const prefix = bare === '' ? '' : `/${bare}`
  const locate = (path: string): string => withBasePath(prefix, path)
  return {
    login: locate(setting(routes.login, variables.login()) ?? '/auth/login'),
    profile: locate(setting(routes.profile, variables.profile()) ?? '/auth/profile'),
    locate,
  }
}

function setting(prop: string | undefined, variable: Variable): string | undefined {
  if (prop !== undefined) return prop
  if (variable.inBundle) return variable.inBundle
  if (variable.onServer && typeof window === 'undefined') warnOnce(variable)
  return variable.onServer || undefined
}

// Where there is no `process` a replaced expression still has its value, so asking `typeof process` first would lose it.
function read(expression: () => string | undefined): string | undefined {
  try {
    return expression()
  } catch {
    return undefined
  }
}

const absolute = /^(?:[a-z][a-z\d+.-]*:)?\/\//i

function withBasePath(prefix: string, path: string): string {
  if (absolute.test(path)) return path
  const rooted = path.startsWith('/') ? path : `/${path}`
  const present = rooted === prefix || ['/', '?', '#'].some((end) => rooted.startsWith(prefix + end))
  return present ? rooted : prefix + rooted
}

const warned = new Set<string>()

function warnOnce({ name, prop }: Variable): void {
  if (warned.has(name)) return
  warned.add(name)
  // biome-ignore lint/suspicious/noConsole: the browser entry has no logger, and a wrong path would otherwise only show as a 404.
  console.warn(
    `idp-client: FRAMEWORK_PUBLIC_${name} is set, but Next.js does not put it into the browser bundle, where the default ` +
      `would be used. Set NEXT_PUBLIC_${name} to the same value, or pass ${prop} to <IdpProvider>.`,
  )
}
