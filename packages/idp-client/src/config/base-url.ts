import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { RequestView } from '../http/exchange.ts'
import type { AppBaseUrl, Config } from './config.ts'
import { parseHost, parseHttpUrl, toHint } from './http-url.ts'
import type { Field, Source } from './readers.ts'
import { getField, invalid, isPresent, toName } from './readers.ts'

const rule = 'must be a URL like https://app.example.com, without user name, query or fragment'

interface Entry {
  readonly origin: string
  readonly url: string
}

function parseEntry(value: unknown): Entry | null {
  const url = typeof value === 'string' ? parseHttpUrl(value) : null
  return url && { origin: url.origin, url: `${url.origin}${url.pathname.replace(/\/+$/, '')}` }
}

/** Adds the problem of a wrong value. Null: what depends on the base URL is then not judged. */
function refuse(field: Field, what: string): null {
  invalid(field, what)
  return null
}

function allowList(field: Field, given: readonly unknown[]): AppBaseUrl | null {
  if (given.length === 0)
    return refuse(field, 'is an empty list: name at least one URL, or leave it out to infer it from requests')
  const entries = new Map<string, Entry>()
  for (const value of given) {
    const entry = parseEntry(value)
    if (!entry) {
      const hint = toHint(value, 'each URL is an entry of its own')
      return refuse(field, `has an entry that is not usable: each ${rule}${hint}`)
    }
    const same = entries.get(entry.origin)
    if (same && same.url !== entry.url)
      return refuse(field, 'names one origin with two paths; requests cannot tell them apart')
    entries.set(entry.origin, entry)
  }
  return { kind: 'allow-list', entries: [...entries.values()] }
}

function fixed(field: Field, value: unknown): AppBaseUrl | null {
  const entry = parseEntry(value)
  if (entry) return { kind: 'static', url: entry.url }
  return refuse(field, `${rule}${toHint(value, 'for several URLs pass an array')}`)
}

/** The configured base URLs; empty if they are inferred from requests, or wrong. */
export function toUrls(appBaseUrl: AppBaseUrl | null): readonly string[] {
  if (appBaseUrl?.kind === 'static') return [appBaseUrl.url]
  return appBaseUrl?.kind === 'allow-list' ? appBaseUrl.entries.map(({ url }) => url) : []
}

/** The same, parsed. */
export function parseUrls(appBaseUrl: AppBaseUrl | null): readonly URL[] {
  return toUrls(appBaseUrl).map((url) => new URL(url))
}

/** Paths that must not be in the base URL, because they are put behind it. */
interface AppPaths {
  readonly basePath: string
  readonly callback: string
}

/** Null when a value is there but wrong: what depends on the base URL is then not judged. */
export function resolveAppBaseUrl(source: Source, { basePath, callback }: AppPaths): AppBaseUrl | null {
  const field = getField('appBaseUrl', source)
  const resolved = read(field)
  const paths = parseUrls(resolved).map(({ pathname }) => pathname)
  if (paths.some((path) => path.endsWith(callback)))
    return refuse(
      field,
      `must be the URL of the application, not its callback URL: remove ${callback}, which is added to it`,
    )
  if (basePath !== '' && paths.some((path) => path !== '/'))
    return refuse(
      field,
      'has a path although FRAMEWORK_PUBLIC_BASE_PATH (in Next.js NEXT_PUBLIC_BASE_PATH, or the framework) gives the path as well: ' +
        `keep the path in one of them, best by naming only the origin in ${toName(field)}`,
    )
  return resolved
}

function read(field: Field): AppBaseUrl | null {
  const { given, text } = field
  if (Array.isArray(given)) return allowList(field, given)
  if (isPresent(given)) return fixed(field, given)
  if (text === undefined) return { kind: 'inferred' }
  if (!text.includes(',')) return fixed(field, text)
  const parts = text.split(',').map((part) => part.trim())
  return allowList(
    field,
    parts.filter((part) => part !== ''),
  )
}

export function isLoopback(host: string): boolean {
  const { hostname } = new URL(`http://${host}`)
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127(?:\.\d{1,3}){3}$/.test(hostname)
  )
}

/**
 * Returns the first entry of a forwarded header, which the proxy nearest to the browser wrote; undefined if the
 * header is empty.
 */
export function forwarded(request: RequestView, name: string): string | undefined {
  const value = request.headers.get(name)
  if (value === null || value.trim() === '') return undefined
  return value.split(',', 1)[0]?.trim()
}

function unknown(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('BASE_URL_UNKNOWN', { detail })
}

type BaseUrlConfig = Pick<Config, 'appBaseUrl' | 'trustProxy' | 'production'>

function resolveHost(config: BaseUrlConfig, request: RequestView): string {
  const proxied = config.trustProxy ? forwarded(request, 'x-forwarded-host') : undefined
  const given = proxied ?? request.headers.get('host') ?? request.url?.host
  if (given === undefined) throw unknown('The request names no host.')
  const host = parseHost(given)
  if (host === null) throw unknown('The host that the request names is not valid.')
  return host
}

/** Returns the scheme between browser and application according to the request. */
function statedScheme(config: BaseUrlConfig, request: RequestView): 'http' | 'https' {
  const proxied = config.trustProxy ? forwarded(request, 'x-forwarded-proto')?.toLowerCase() : undefined
  // Without a URL from the host (a Server Component) or a proxy, the protocol is http, which only local servers use.
  // Some proxies, such as Traefik, name that of a WebSocket, whose handshake is a request of http or https.
  const scheme = (proxied ?? request.url?.protocol.slice(0, -1) ?? 'http').replace(/^ws/, 'http')
  if (scheme === 'http' || scheme === 'https') return scheme
  throw unknown('The protocol that the request names is neither http nor https.')
}

function toOrigin(scheme: string, host: string): string {
  return new URL(`${scheme}://${host}`).origin
}

/**
 * Where the application lives for this request: absolute, without trailing slash. Depends on nothing but its arguments,
 * so one request never influences another.
 *
 * @param request null where an operation runs without one; only a fixed base URL is known then.
 * @throws InvalidConfigurationError `BASE_URL_UNKNOWN` without a usable host, `BASE_URL_NOT_ALLOWED` for an origin
 * outside the allow-list.
 */
export function resolveBaseUrl(config: BaseUrlConfig, request: RequestView | null): string {
  const { appBaseUrl } = config
  if (appBaseUrl.kind === 'static') return appBaseUrl.url
  if (!request) throw unknown('There is no request to infer it from.')
  const host = resolveHost(config, request)
  const presumed = config.production && !isLoopback(host) ? 'https' : statedScheme(config, request)
  if (appBaseUrl.kind === 'inferred') return toOrigin(presumed, host)
  // An http origin in the list is intended: the protocol of the request is used if https is not in the list.
  const listed = (scheme: string): string | undefined =>
    appBaseUrl.entries.find(({ origin }) => origin === toOrigin(scheme, host))?.url
  const url = listed(presumed) ?? listed(statedScheme(config, request))
  if (url === undefined) {
    const detail = `Allowed: ${toUrls(appBaseUrl).join(', ')}.`
    throw new InvalidConfigurationError('BASE_URL_NOT_ALLOWED', { detail })
  }
  return url
}
