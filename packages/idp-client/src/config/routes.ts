import { frozenSet } from '../lib/freeze.ts'
import type { RouteKey, RoutePaths } from './config.ts'
import type { Env, PublicName, VariableName } from './env.ts'
import type { IdpClientOptions } from './options.ts'
import type { AddIssue, Field } from './readers.ts'
import { field, invalid, isPresent, isSet, readGroup, readText, toName, wrongKind } from './readers.ts'

interface RouteDefault {
  readonly path: string
  readonly variable?: PublicName
}

const defaults: Readonly<Record<RouteKey, RouteDefault>> = {
  login: { path: '/auth/login', variable: 'LOGIN_ROUTE' },
  logout: { path: '/auth/logout' },
  callback: { path: '/auth/callback' },
  profile: { path: '/auth/profile', variable: 'PROFILE_ROUTE' },
  accessToken: { path: '/auth/access-token', variable: 'ACCESS_TOKEN_ROUTE' },
  connectAccount: { path: '/auth/connect' },
  backChannelLogout: { path: '/auth/backchannel-logout' },
  mfaAuthenticators: { path: '/auth/mfa/authenticators', variable: 'MFA_AUTHENTICATORS_ROUTE' },
  mfaChallenge: { path: '/auth/mfa/challenge', variable: 'MFA_CHALLENGE_ROUTE' },
  mfaAssociate: { path: '/auth/mfa/associate', variable: 'MFA_ASSOCIATE_ROUTE' },
  mfaVerify: { path: '/auth/mfa/verify', variable: 'MFA_VERIFY_ROUTE' },
}

const routeKeys = Object.keys(defaults) as RouteKey[]

/**
 * A setting with a public variable. The host's own spelling (`NEXT_PUBLIC_*`) reaches the browser, ours may not: two
 * different values would mount a route where the browser does not look for it.
 */
function publicField(
  { option, given }: Pick<Field, 'option' | 'given'>,
  name: PublicName,
  env: Env,
  addIssue: AddIssue,
): Field {
  const ours: VariableName = `FRAMEWORK_PUBLIC_${name}`
  const hosts: VariableName = `NEXT_PUBLIC_${name}`
  const setting = field(option, given, env, ours)
  const hostSetting = field(option, given, env, hosts)
  if (isPresent(given) || hostSetting.text === undefined) return setting
  if (setting.text !== undefined && setting.text !== hostSetting.text) {
    addIssue(
      'wrong-variable',
      `${ours} and ${hosts} have different values; give both the same, or set only one.`,
    )
  }
  return setting.text === undefined ? hostSetting : setting
}

const unsafe = /[\s\\?#]|\/\/|\p{Cc}|(?:^|\/)\.{1,2}(?:\/|$)|%2e|%2f|%5c/iu
const schemed = /^[a-z][a-z0-9+.-]*:/i

/** `/a/b` in the spelling of `URL.pathname`, without trailing slashes; null for what is no plain path. */
function plainPath(text: string): string | null {
  if (schemed.test(text)) return null
  const rooted = `/${text.replace(/^\//, '')}`.replace(/\/$/, '')
  if (unsafe.test(rooted)) return null
  return URL.canParse(rooted, 'http://path.invalid') ? new URL(rooted, 'http://path.invalid').pathname : null
}

function readPath(setting: Field, fallback: string, addIssue: AddIssue): string {
  const text = readText(setting, addIssue)
  if (text === undefined) return fallback
  const path = plainPath(text)
  if (path !== null && path !== '/') return path
  invalid(
    setting,
    addIssue,
    'must be a path like /auth/name, without origin, query, fragment or dot segments',
  )
  return fallback
}

export interface RouteTable {
  readonly routes: RoutePaths
  readonly disabledRoutes: ReadonlySet<RouteKey>
}

function refuseDuplicates(
  settings: ReadonlyMap<RouteKey, Field>,
  table: RouteTable,
  addIssue: AddIssue,
): void {
  const owners = new Map<string, Field>()
  for (const [key, setting] of settings) {
    if (table.disabledRoutes.has(key)) continue
    const path = table.routes[key]
    const other = owners.get(path)
    if (!other) {
      owners.set(path, setting)
      continue
    }
    const byVariable = [other, setting].every(({ given }) => !isPresent(given))
    addIssue(
      byVariable ? 'wrong-variable' : 'wrong-option',
      `${toName(other)} and ${toName(setting)} name the same path; every route needs its own.`,
    )
  }
}

/** Option → variable → default, per route. Switched-off routes keep their path, so that they can be told apart. */
export function resolveRoutes(
  options: IdpClientOptions,
  env: Env,
  basePath: string,
  addIssue: AddIssue,
): RouteTable {
  const given = readGroup('routes', options.routes, addIssue)
  const settings = new Map<RouteKey, Field>()
  const routes: Partial<Record<RouteKey, string>> = {}
  for (const key of routeKeys) {
    const { path, variable } = defaults[key]
    const option = `routes.${key}`
    const setting = variable
      ? publicField({ option, given: given[key] }, variable, env, addIssue)
      : field(option, given[key])
    settings.set(key, setting)
    const resolved = readPath(setting, path, addIssue)
    if (basePath !== '' && isSet(setting) && resolved.startsWith(`${basePath}/`)) {
      addIssue(
        'notice',
        `${toName(setting)} begins with the base path, which is put in front of it once more.`,
      )
    }
    routes[key] = resolved
  }
  const disabled: RouteKey[] = []
  if (options.enableAccessTokenEndpoint === false) disabled.push('accessToken')
  if (options.enableConnectAccountEndpoint !== true) disabled.push('connectAccount')
  const table = { routes: routes as RoutePaths, disabledRoutes: frozenSet(disabled) }
  refuseDuplicates(settings, table, addIssue)
  return table
}

/** `''` or `/path`; there is no option, since the host's build has to know it as well. */
export function resolveBasePath(env: Env, addIssue: AddIssue): string {
  const setting = publicField(
    { option: 'FRAMEWORK_PUBLIC_BASE_PATH', given: undefined },
    'BASE_PATH',
    env,
    addIssue,
  )
  if (setting.text === undefined) return ''
  const path = plainPath(setting.text)
  if (path !== null) return path === '/' ? '' : path
  addIssue(
    wrongKind(setting),
    `${toName(setting)} must be a path like /docs, without origin, query or fragment.`,
  )
  return ''
}
