import { frozenSet } from '../lib/freeze.ts'
import { parseUrl } from '../lib/url.ts'
import type { RouteKey, RoutePaths } from './config.ts'
import { toHostVariable } from './env.ts'
import { isFrontChannelLogoutOn } from './front-channel-logout.ts'
import type { TextRow, WithDefault } from './option-rows.ts'
import { optionRows } from './option-rows.ts'
import type { Field, Source } from './readers.ts'
import {
  getField,
  invalid,
  isPresent,
  isSet,
  notice,
  readFlag,
  readText,
  toField,
  toName,
} from './readers.ts'

const routeKeys = Object.keys(optionRows).flatMap((path) =>
  path.startsWith('routes.') ? [path.slice(7) as RouteKey] : [],
)

/**
 * Returns a field with its public variable. Bundlers inline the host's spelling (`NEXT_PUBLIC_*`) into pages, but not ours:
 * two different values would mount a route at a path that the browser does not request.
 */
function withHostVariable<Row>(field: Field<Row>, source: Source): Field<Row> {
  const variable = field.variable ? toHostVariable(field.variable) : undefined
  if (!variable || isPresent(field.given)) return field
  const { text } = toField(field.option, undefined, source, variable)
  if (text === undefined) return field
  if (field.text === undefined) return { ...field, variable, text }
  if (field.text !== text) {
    field.addIssue(
      'wrong-variable',
      `${field.variable} and ${variable} have different values; give both the same, or set only one.`,
    )
  }
  return field
}

const unsafe = /[\s\\?#]|\/\/|\p{Cc}|(?:^|\/)\.{1,2}(?:\/|$)|%2e|%2f|%5c/iu
const schemed = /^[a-z][a-z0-9+.-]*:/i

/** `/a/b` in the spelling of `URL.pathname`, without trailing slashes; null for what is no plain path. */
function plainPath(text: string): string | null {
  if (schemed.test(text)) return null
  const rooted = `/${text.replace(/^\//, '')}`.replace(/\/$/, '')
  if (unsafe.test(rooted)) return null
  return parseUrl(rooted, 'http://path.invalid')?.pathname ?? null
}

function readPath(field: Field<WithDefault<TextRow>>): string {
  const path = plainPath(readText(field))
  if (path !== null && path !== '/') return path
  invalid(field, 'must be a path like /auth/name, without origin, query, fragment or dot segments')
  return field.row.default
}

export interface RouteTable {
  readonly routes: RoutePaths
  readonly disabledRoutes: ReadonlySet<RouteKey>
  readonly sendsTokensByDefault: boolean
}

function refuseDuplicates(fields: ReadonlyMap<RouteKey, Field>, table: RouteTable): void {
  const owners = new Map<string, Field>()
  for (const [key, field] of fields) {
    if (table.disabledRoutes.has(key)) continue
    const path = table.routes[key]
    const other = owners.get(path)
    if (!other) {
      owners.set(path, field)
      continue
    }
    const byVariable = [other, field].every(({ given }) => !isPresent(given))
    field.addIssue(
      byVariable ? 'wrong-variable' : 'wrong-option',
      `${toName(other)} and ${toName(field)} name the same path; every route needs its own.`,
    )
  }
}

/**
 * Option → variable → default, per route. Disabled routes keep their path, so that they can be recognized. Without sessions all
 * are disabled.
 */
export function resolveRoutes(source: Source, basePath: string, sessions: boolean): RouteTable {
  const fields = new Map<RouteKey, Field>()
  const routes: Partial<Record<RouteKey, string>> = {}
  for (const key of routeKeys) {
    const field = withHostVariable(getField(`routes.${key}`, source), source)
    fields.set(key, field)
    const resolved = readPath(field)
    if (basePath !== '' && isSet(field) && resolved.startsWith(`${basePath}/`)) {
      notice(field, 'begins with the base path, which is put in front of it once more')
    }
    routes[key] = resolved
  }
  const disabled: RouteKey[] = sessions ? [] : [...routeKeys]
  const tokenField = getField('enableAccessTokenEndpoint', source)
  if (!readFlag(tokenField)) disabled.push('accessToken')
  if (!readFlag(getField('enableConnectAccountEndpoint', source))) disabled.push('connectAccount')
  if (!readFlag(getField('enableJwksEndpoint', source))) disabled.push('jwks')
  if (!isFrontChannelLogoutOn(source)) disabled.push('frontChannelLogout')
  const table = {
    routes: routes as RoutePaths,
    disabledRoutes: frozenSet(disabled),
    sendsTokensByDefault: !isSet(tokenField) && !disabled.includes('accessToken'),
  }
  refuseDuplicates(fields, table)
  return table
}

/** `''` or `/path`; there is no option, since the host's build has to know it as well. */
export function resolveBasePath(source: Source): string {
  const name = 'FRAMEWORK_PUBLIC_BASE_PATH'
  const field = withHostVariable(toField(name, undefined, source, name), source)
  if (field.text === undefined) return ''
  const path = plainPath(field.text)
  if (path !== null) return path === '/' ? '' : path
  invalid(field, 'must be a path like /docs, without origin, query or fragment')
  return ''
}
