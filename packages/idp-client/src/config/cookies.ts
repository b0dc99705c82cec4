import type { CookieSettings, SameSite } from '../http/cookie-jar.ts'
import { defined } from '../lib/objects.ts'
import { isLoopback, parseUrls } from './base-url.ts'
import type { AppBaseUrl } from './config.ts'
import type { ChoiceRow, FlagRow, TextRow, WithDefault } from './option-rows.ts'
import type { Field } from './readers.ts'
import { invalid, notice, readFlag, readOneOf, readText, withRow } from './readers.ts'

/** Settings that decide about cookies besides their own. */
export interface CookieContext {
  readonly production: boolean
  /** Null: given, but wrong, so that no contradiction with it can be judged. */
  readonly appBaseUrl: AppBaseUrl | null
}

export interface CookieFields {
  /** Name or prefix as resolved; a `__Host-`, `__Http-` or `__Secure-` name makes demands. */
  readonly name: string
  readonly secure: Field<FlagRow>
  readonly sameSite: Field<WithDefault<ChoiceRow<SameSite>>>
  readonly path: Field<WithDefault<TextRow>>
  readonly domain?: Field<TextRow>
  /** Where the cookie must come along with a cross-site POST, which only SameSite=None does. */
  readonly crossSitePost?: boolean
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/

/** A cookie name, or the beginning of one (RFC 6265bis section 4.1.1). */
export function readCookieName(field: Field<WithDefault<TextRow>>): string {
  const name = readText(field)
  if (token.test(name)) return name
  invalid(field, "must be a cookie name: up to 128 letters, digits and !#$%&'*+-.^_`|~")
  return field.row.default
}

function readPath(field: Field<WithDefault<TextRow>>): string {
  const path = readText(field)
  if (/^\/[!-:<-~]{0,1000}$/.test(path)) return path
  invalid(field, 'must begin with / and contain neither ; nor blanks')
  return field.row.default
}

const domainName =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/

function readDomain(field: Field<TextRow> | undefined, appBaseUrl: AppBaseUrl | null): string | undefined {
  const given = field && readText(field)
  if (!field || given === undefined) return undefined
  // A leading dot means nothing since RFC 6265; without it writing and deleting name the same domain.
  const domain = given.toLowerCase().replace(/^\./, '')
  if (!domainName.test(domain)) {
    return invalid(field, 'must be a host name like example.com, without protocol and port')
  }
  if (parseUrls(appBaseUrl).some(({ hostname }) => !`.${hostname}`.endsWith(`.${domain}`))) {
    notice(field, 'does not contain the host of appBaseUrl, so browsers will refuse the cookie')
  }
  return domain
}

/** Returns why a cookie must be Secure, to follow "because" in a message; undefined if it need not be. */
function demandForSecure(name: string, sameSite: SameSite): string | undefined {
  if (/^__(?:host|http|secure)-/i.test(name))
    return 'browsers take cookies with such a name only when they are Secure'
  return sameSite === 'none' ? 'browsers take SameSite=None only when it is Secure' : undefined
}

function explicitlyInsecure(fields: CookieFields, around: CookieContext, demand: string | undefined): void {
  const { appBaseUrl, production } = around
  if (demand) {
    invalid(fields.secure, `must not be false, because ${demand}`)
  } else if (production && appBaseUrl?.kind === 'inferred') {
    invalid(
      fields.secure,
      'must not be false in production while the base URL is inferred: remove it, or set appBaseUrl (or APP_BASE_URL)',
    )
  } else if (parseUrls(appBaseUrl).some(({ protocol }) => protocol === 'https:')) {
    notice(fields.secure, 'is false although appBaseUrl is https: cookies could leak over plain http')
  }
}

/** Returns whether a base URL is http, and not on this machine. */
export function isPlainHttp(appBaseUrl: AppBaseUrl | null): boolean {
  return parseUrls(appBaseUrl).some(({ host, protocol }) => protocol === 'http:' && !isLoopback(host))
}

function resolveSecure(
  fields: CookieFields,
  around: CookieContext,
  sameSite: SameSite,
): CookieSettings['secure'] {
  const explicit = readFlag(fields.secure)
  const demand = demandForSecure(fields.name, sameSite)
  const { appBaseUrl, production } = around
  if (explicit === false) {
    explicitlyInsecure(fields, around, demand)
    return false
  }
  if (explicit === true) {
    if (isPlainHttp(appBaseUrl)) {
      notice(fields.secure, 'is true although appBaseUrl is http: browsers will refuse the cookie')
    }
    return true
  }
  if (demand) {
    if (parseUrls(appBaseUrl).some(({ protocol }) => protocol === 'http:'))
      invalid(fields.secure, `cannot follow an appBaseUrl that is http, because ${demand}; use https`)
    return true
  }
  return production && appBaseUrl?.kind === 'inferred' ? true : 'from-base-url'
}

function resolveSameSite({ crossSitePost, sameSite }: CookieFields): SameSite {
  if (!crossSitePost) return readOneOf(sameSite)
  if (readOneOf(withRow(sameSite, { default: 'none' })) !== 'none') {
    invalid(sameSite, "must be 'none' (or left out) with response_mode 'form_post', which posts across sites")
  }
  return 'none'
}

function refuseHostPrefix(fields: CookieFields, cookie: CookieSettings): void {
  if (!/^__host-/i.test(fields.name)) return
  if (cookie.path !== '/') invalid(fields.path, 'must be / for a cookie with a __Host- name')
  if (cookie.domain !== undefined && fields.domain) {
    invalid(fields.domain, 'must be left out for a cookie with a __Host- name')
  }
}

/** All attributes but name and lifetime; rejects contradictions, because browsers ignore such cookies silently. */
export function resolveCookie(fields: CookieFields, around: CookieContext): CookieSettings {
  const sameSite = resolveSameSite(fields)
  const domain = readDomain(fields.domain, around.appBaseUrl)
  const cookie: CookieSettings = defined({
    path: readPath(fields.path),
    domain,
    secure: resolveSecure(fields, around, sameSite),
    sameSite,
  })
  refuseHostPrefix(fields, cookie)
  return cookie
}
