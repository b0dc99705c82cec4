import type { SameSite } from '../http/cookie-jar.ts'
import { isLoopback, originsOf, protocolsOf } from './base-url.ts'
import type { AppBaseUrl, CookieSettings, Secure } from './config.ts'
import type { Field, Note } from './readers.ts'
import { nameOf, readFlag, readOneOf, readText, refuse } from './readers.ts'

/** What decides about cookies beside their own settings. */
export interface Surroundings {
  readonly production: boolean
  /** Null: given, but wrong, so that no contradiction with it can be judged. */
  readonly appBaseUrl: AppBaseUrl | null
}

export interface CookieFields {
  /** Name or prefix as resolved; a `__Host-` or `__Secure-` name makes demands. */
  readonly name: string
  readonly secure: Field
  readonly sameSite: Field
  readonly path: Field
  readonly domain?: Field
  /** Where the cookie must come along with a cross-site POST, which only SameSite=None does. */
  readonly crossSitePost?: boolean
}

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,128}$/

/** A cookie name, or the beginning of one (RFC 6265bis section 4.1.1). */
export function readCookieName(setting: Field, fallback: string, note: Note): string {
  const name = readText(setting, note)
  if (name === undefined) return fallback
  if (token.test(name)) return name
  refuse(setting, note, "must be a cookie name: up to 128 letters, digits and !#$%&'*+-.^_`|~")
  return fallback
}

function readPath(setting: Field, note: Note): string {
  const path = readText(setting, note)
  if (path === undefined) return '/'
  if (/^\/[!-:<-~]{0,1000}$/.test(path)) return path
  refuse(setting, note, 'must begin with / and contain neither ; nor blanks')
  return '/'
}

const domainName =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*$/

function readDomain(
  setting: Field | undefined,
  appBaseUrl: AppBaseUrl | null,
  note: Note,
): string | undefined {
  const given = setting && readText(setting, note)
  if (!setting || given === undefined) return undefined
  // A leading dot means nothing since RFC 6265; without it writing and deleting name the same domain.
  const domain = given.toLowerCase().replace(/^\./, '')
  if (!domainName.test(domain)) {
    return refuse(setting, note, 'must be a host name like example.com, without protocol and port')
  }
  const hosts = appBaseUrl ? [...originsOf(appBaseUrl)].map((origin) => new URL(origin).hostname) : []
  if (hosts.some((host) => host !== domain && !host.endsWith(`.${domain}`))) {
    note(
      'notice',
      `${nameOf(setting)} does not contain the host of appBaseUrl, so browsers will refuse the cookie.`,
    )
  }
  return domain
}

/** The reason why a cookie must be Secure, in words that continue "because"; undefined without one. */
function demandForSecure(name: string, sameSite: SameSite): string | undefined {
  if (/^__(?:host|secure)-/i.test(name))
    return 'browsers take cookies with such a name only when they are Secure'
  return sameSite === 'none' ? 'browsers take SameSite=None only when it is Secure' : undefined
}

function explicitlyInsecure(
  fields: CookieFields,
  around: Surroundings,
  demand: string | undefined,
  note: Note,
): void {
  const { appBaseUrl, production } = around
  if (demand) {
    refuse(fields.secure, note, `must not be false, because ${demand}`)
  } else if (production && appBaseUrl?.kind === 'inferred') {
    refuse(
      fields.secure,
      note,
      'must not be false in production while the base URL is inferred: remove it, or set appBaseUrl (or APP_BASE_URL)',
    )
  } else if (appBaseUrl && protocolsOf(appBaseUrl).has('https:')) {
    note(
      'notice',
      `${nameOf(fields.secure)} is false although appBaseUrl is https: cookies could leak over plain http.`,
    )
  }
}

function reachedOnlyByPlainHttp(appBaseUrl: AppBaseUrl | null): boolean {
  if (!appBaseUrl) return false
  return [...originsOf(appBaseUrl)].some((origin) => {
    const url = new URL(origin)
    return url.protocol === 'http:' && !isLoopback(url.host)
  })
}

function resolveSecure(fields: CookieFields, around: Surroundings, sameSite: SameSite, note: Note): Secure {
  const explicit = readFlag(fields.secure, note)
  const demand = demandForSecure(fields.name, sameSite)
  const { appBaseUrl, production } = around
  if (explicit === false) {
    explicitlyInsecure(fields, around, demand, note)
    return false
  }
  if (explicit === true) {
    if (reachedOnlyByPlainHttp(appBaseUrl)) {
      note(
        'notice',
        `${nameOf(fields.secure)} is true although appBaseUrl is http: browsers will refuse the cookie.`,
      )
    }
    return true
  }
  if (demand) {
    const plain = appBaseUrl !== null && protocolsOf(appBaseUrl).has('http:')
    if (plain)
      refuse(fields.secure, note, `cannot follow an appBaseUrl that is http, because ${demand}; use https`)
    return true
  }
  return production && appBaseUrl?.kind === 'inferred' ? true : 'from-base-url'
}

function resolveSameSite(fields: CookieFields, note: Note): SameSite {
  const given = readOneOf(fields.sameSite, ['strict', 'lax', 'none'], note)
  if (!fields.crossSitePost) return given ?? 'lax'
  if (given !== undefined && given !== 'none') {
    refuse(
      fields.sameSite,
      note,
      "must be 'none' (or left out) with response_mode 'form_post', which posts across sites",
    )
  }
  return 'none'
}

function refuseHostPrefix(fields: CookieFields, cookie: CookieSettings, note: Note): void {
  if (!/^__host-/i.test(fields.name)) return
  if (cookie.path !== '/') refuse(fields.path, note, 'must be / for a cookie with a __Host- name')
  if (cookie.domain !== undefined && fields.domain) {
    refuse(fields.domain, note, 'must be left out for a cookie with a __Host- name')
  }
}

/** All attributes but name and lifetime; contradictions that browsers answer with silence are refused here. */
export function resolveCookie(fields: CookieFields, around: Surroundings, note: Note): CookieSettings {
  const sameSite = resolveSameSite(fields, note)
  const domain = readDomain(fields.domain, around.appBaseUrl, note)
  const cookie: CookieSettings = {
    path: readPath(fields.path, note),
    ...(domain === undefined ? {} : { domain }),
    secure: resolveSecure(fields, around, sameSite, note),
    sameSite,
  }
  refuseHostPrefix(fields, cookie, note)
  return cookie
}
