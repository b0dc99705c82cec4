import type { Remark } from './code.ts'
import { blank, lineAt, literalString } from './code.ts'
import {
  offByDefault,
  renamedOptions,
  sameOptions,
  texts,
  unavailableOptions,
  variables,
} from './express-openid-connect-rules.ts'
import type { Property } from './object-literal.ts'
import { parseObject, printObject } from './object-literal.ts'
import { renameEnvironmentReads } from './variables.ts'

export interface RewrittenOptions {
  readonly text: string
  /** Whether every route needs a login, as it is the default of `auth()`. */
  readonly needsGuard: boolean
  readonly remarks: readonly Remark[]
}

/** The options while they are rewritten. */
interface Draft {
  readonly properties: string[]
  /** The properties that `auth()` has by default. */
  readonly defaults: string[]
  /** Whether a property may be in a spread, which then takes precedence over its default. */
  hasSpread: boolean
  readonly remarks: string[]
  readonly seen: Map<string, string | undefined>
  /** Of the line on which the object begins. */
  readonly indent: string
  /** Properties of `routes` with the paths that `auth()` has, by its names. */
  readonly defaultRoutes: Readonly<Record<string, string>>
}

const newDraft = (indent: string, defaultRoutes: Draft['defaultRoutes']): Draft => ({
  properties: [],
  defaults: [],
  hasSpread: false,
  remarks: [],
  seen: new Map(),
  indent,
  defaultRoutes,
})

const toDefaultRoutes = (found: readonly Property[]): Draft['defaultRoutes'] => ({
  login: "login: '/login'",
  logout: "logout: '/logout'",
  callback: "callback: '/callback'",
  ...(found.some(({ name, value }) => name === 'backchannelLogout' && value !== 'false') && {
    backchannelLogout: "backChannelLogout: '/backchannel-logout'",
  }),
})

/** Writes a property under another name. */
function rename({ name = '', value, text }: Property, wanted: string): string {
  if (name === wanted) return text
  if (value === undefined && blank(text).trim() === name) return text.replace(name, `${wanted}: ${name}`)
  const at = text.lastIndexOf(name, blank(text).search(/[:(]|$/))
  const quoted = /['"]/.test(text.charAt(at - 1)) ? 1 : 0
  return text.slice(0, at - quoted) + wanted + text.slice(at + name.length + quoted)
}

const replaceValue = ({ name = '', text, value = '' }: Property, changed: string, wanted = name): string => {
  const at = text.indexOf(value, text.indexOf(name) + name.length)
  return rename({ name, value, text: text.slice(0, at) + changed + text.slice(at + value.length) }, wanted)
}

const toProperties = ({ defaults, hasSpread, properties }: Draft): string[] =>
  hasSpread ? [...defaults, ...properties] : [...properties, ...defaults]

function keepUnavailable(draft: Draft, { name, text }: Property): void {
  draft.properties.push(text)
  draft.hasSpread ||= name === undefined
  draft.remarks.push(
    name === undefined ? texts.options : `${name} ${unavailableOptions[name] ?? 'has no counterpart'}.`,
  )
}

/** Rewrites the properties of a nested object; another expression is kept and reported. */
function nested(draft: Draft, property: Property, [wanted, rewriteEach]: NestedRule): void {
  const { name = '', value = '' } = property
  const found = parseObject(value)
  if (found === null) {
    draft.properties.push(rename(property, wanted))
    draft.remarks.push(`${name} ${texts.value}.`)
    return
  }
  const inner = newDraft(`${draft.indent}  `, draft.defaultRoutes)
  rewriteEach(inner, found)
  draft.remarks.push(...inner.remarks)
  const properties = toProperties(inner)
  if (properties.length === 0) return
  draft.properties.push(replaceValue(property, printObject(value, properties, inner.indent), wanted))
}

type NestedRule = readonly [wanted: string, rewriteEach: (draft: Draft, found: Property[]) => void]

function rewriteRoutes(draft: Draft, found: readonly Property[]): void {
  for (const property of found) {
    const { name = '', value, text } = property
    draft.seen.set(name, value)
    if (name === 'backchannelLogout') draft.properties.push(rename(property, 'backChannelLogout'))
    else if (value === 'false') {
      draft.properties.push(text)
      draft.remarks.push(
        `routes.${name}: false has no counterpart; choose a path that the application does not use.`,
      )
    } else if (['login', 'logout', 'callback'].includes(name)) draft.properties.push(text)
    else keepUnavailable(draft, property)
  }
  for (const [name, text] of Object.entries(draft.defaultRoutes))
    if (!draft.seen.has(name)) draft.defaults.push(text)
}

const sameSession = new Set(['rolling', 'absoluteDuration', 'rollingDuration', 'cookie'])
const week = 'absoluteDuration: 7 * 24 * 60 * 60'
/** `auth()` always ends sessions by this claim. */
const expiry = "expiryClaim: 'session_expiry'"

function rewriteCookie(draft: Draft, found: readonly Property[]): void {
  for (const property of found) {
    const { name = '', value = '', text } = property
    const literal = literalString(value)
    if (name === 'httpOnly') continue
    if (property.name === undefined) keepUnavailable(draft, property)
    else if (name === 'sameSite' && literal !== undefined)
      draft.properties.push(replaceValue(property, `'${literal.toLowerCase()}'`))
    else draft.properties.push(text)
  }
}

function rewriteSession(draft: Draft, found: readonly Property[]): void {
  for (const property of found) {
    const { name = '', value, text } = property
    draft.seen.set(name, value)
    if (!sameSession.has(name)) keepUnavailable(draft, property)
    else if (name === 'cookie') nested(draft, property, ['cookie', rewriteCookie])
    else if (value === 'false' && name !== 'rolling') {
      draft.properties.push(text)
      draft.remarks.push(`session.${name}: false has no counterpart; set a number of seconds.`)
    } else draft.properties.push(name === 'rollingDuration' ? rename(property, 'inactivityDuration') : text)
  }
  if (!draft.seen.has('absoluteDuration')) draft.defaults.push(week)
  draft.defaults.push(expiry)
}

function rewriteParameters(draft: Draft, found: readonly Property[]): void {
  for (const property of found) {
    const { name, value = '', text } = property
    if (name === undefined) {
      keepUnavailable(draft, property)
      continue
    }
    draft.seen.set(name, literalString(value) ?? value)
    const isDefault =
      name === 'response_type' || (name === 'response_mode' && literalString(value) !== 'form_post')
    if (!isDefault) draft.properties.push(text)
  }
  if (!draft.seen.has('scope')) draft.defaults.push(defaultScope)
  if (draft.seen.get('response_type') !== 'code') draft.remarks.push(texts.flow)
}

const defaultScope = "scope: 'openid profile email'"

const nestedRules: Readonly<Record<string, NestedRule>> = {
  routes: ['routes', rewriteRoutes],
  session: ['session', rewriteSession],
  authorizationParams: ['authorizationParameters', rewriteParameters],
}

function rewriteOption(draft: Draft, property: Property): void {
  const { name, value, text } = property
  if (name === undefined) {
    keepUnavailable(draft, property)
    return
  }
  draft.seen.set(name, value)
  const rule = Object.hasOwn(nestedRules, name) ? nestedRules[name] : undefined
  if (name === 'authRequired' || (value === 'false' && offByDefault.has(name))) return
  if ((name === 'idpLogout' || name === 'auth0Logout') && /^(?:true|false)$/.test(value ?? '')) return
  if (rule !== undefined) nested(draft, property, rule)
  else if (name === 'secret') draft.properties.push(renameEnvironmentReads(text, variables))
  else if (sameOptions.has(name)) draft.properties.push(text)
  else if (Object.hasOwn(renamedOptions, name))
    draft.properties.push(rename(property, renamedOptions[name] ?? name))
  else keepUnavailable(draft, property)
}

/** Adds what `auth()` did without being told, so that lifetimes, paths and logouts stay as they are. */
function addDefaults({ defaultRoutes, defaults, remarks, seen }: Draft): void {
  if (!seen.has('routes')) defaults.push(`routes: { ${Object.values(defaultRoutes).join(', ')} }`)
  if (!seen.has('session')) defaults.push(`session: { ${week}, ${expiry} }`)
  if (!seen.has('authorizationParams')) {
    defaults.push(`authorizationParameters: { ${defaultScope} }`)
    remarks.push(texts.flow)
  }
  if (seen.get('auth0Logout') === 'true') defaults.push("logoutStrategy: 'v2'")
  else if (!seen.has('idpLogout') || seen.get('idpLogout') === 'false')
    defaults.push("logoutStrategy: 'local'")
  if (seen.has('authRequired') && !/^(?:true|false)$/.test(seen.get('authRequired') ?? ''))
    remarks.push(texts.guardEverywhere)
}

/** Rewrites the options of `auth()`, an object literal; null if they are something else. */
export function rewriteOptions(text: string, indent: string): RewrittenOptions | null {
  const found = parseObject(text)
  if (found === null) return null
  const draft = newDraft(indent, toDefaultRoutes(found))
  for (const property of found) rewriteOption(draft, property)
  addDefaults(draft)
  const printed = printObject(`${text}\n`, toProperties(draft), indent)
  return {
    text: printed,
    needsGuard: draft.seen.get('authRequired') !== 'false',
    remarks: draft.remarks.map((remark) => ({ line: lineOfRemark(printed, remark), text: remark })),
  }
}

/** Returns the line of the option that a remark begins with, else the first one. */
function lineOfRemark(text: string, remark: string): number {
  const name = /^(?:\w+\.)?(\w+)/.exec(remark)?.[1] ?? ''
  const at = blank(text).search(new RegExp(`(?<![\\w$.])${name}(?=\\s*[:(,])`))
  return at === -1 ? 1 : lineAt(text, at)
}
