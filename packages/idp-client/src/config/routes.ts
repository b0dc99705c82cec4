import { frozenSet } from '../lib/freeze.ts'
import type { RouteKey, RoutePaths } from './config.ts'
import type { Env } from './env.ts'
import { toHostVariable } from './env.ts'
import type { TextRow, WithDefault } from './option-rows.ts'
import { optionRows } from './option-rows.ts'
import type { IdpClientOptions } from './options.ts'
import type { AddIssue, Field } from './readers.ts'
import {
  field,
  invalid,
  isPresent,
  isSet,
  readFlag,
  readText,
  toField,
  toName,
  wrongKind,
} from './readers.ts'

const routeKeys = Object.keys(optionRows).flatMap((path) =>
  path.startsWith('routes.') ? [path.slice(7) as RouteKey] : [],
)

/**
 * A setting with a public variable. The host's own spelling (`NEXT_PUBLIC_*`) reaches the browser, ours may not: two
 * different values would mount a route where the browser does not look for it.
 */
function withHostVariable<Row>(setting: Field<Row>, env: Env, addIssue: AddIssue): Field<Row> {
  const variable = setting.variable ? toHostVariable(setting.variable) : undefined
  if (!variable || isPresent(setting.given)) return setting
  const { text } = toField(setting.option, undefined, env, variable)
  if (text === undefined) return setting
  if (setting.text === undefined) return { ...setting, variable, text }
  if (setting.text !== text) {
    addIssue(
      'wrong-variable',
      `${setting.variable} and ${variable} have different values; give both the same, or set only one.`,
    )
  }
  return setting
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

function readPath(setting: Field<WithDefault<TextRow>>, addIssue: AddIssue): string {
  const path = plainPath(readText(setting, addIssue))
  if (path !== null && path !== '/') return path
  invalid(
    setting,
    addIssue,
    'must be a path like /auth/name, without origin, query, fragment or dot segments',
  )
  return setting.row.default
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
  const settings = new Map<RouteKey, Field>()
  const routes: Partial<Record<RouteKey, string>> = {}
  for (const key of routeKeys) {
    const setting = withHostVariable(field(`routes.${key}`, options, env), env, addIssue)
    settings.set(key, setting)
    const resolved = readPath(setting, addIssue)
    if (basePath !== '' && isSet(setting) && resolved.startsWith(`${basePath}/`)) {
      addIssue(
        'notice',
        `${toName(setting)} begins with the base path, which is put in front of it once more.`,
      )
    }
    routes[key] = resolved
  }
  const disabled: RouteKey[] = []
  if (!readFlag(field('enableAccessTokenEndpoint', options), addIssue)) disabled.push('accessToken')
  if (!readFlag(field('enableConnectAccountEndpoint', options), addIssue)) disabled.push('connectAccount')
  const table = { routes: routes as RoutePaths, disabledRoutes: frozenSet(disabled) }
  refuseDuplicates(settings, table, addIssue)
  return table
}

/** `''` or `/path`; there is no option, since the host's build has to know it as well. */
export function resolveBasePath(env: Env, addIssue: AddIssue): string {
  const name = 'FRAMEWORK_PUBLIC_BASE_PATH'
  const setting = withHostVariable(toField(name, undefined, env, name), env, addIssue)
  if (setting.text === undefined) return ''
  const path = plainPath(setting.text)
  if (path !== null) return path === '/' ? '' : path
  addIssue(
    wrongKind(setting),
    `${toName(setting)} must be a path like /docs, without origin, query or fragment.`,
  )
  return ''
}
