import type { RequestView } from '../http/exchange.ts'
import { isLoopback, parseUrls, resolveBaseUrl } from './base-url.ts'
import type { Config } from './config.ts'
import { parseHost } from './http-url.ts'
import { isInternal } from './request-host.ts'

const FORWARDED =
  'X-Forwarded-Host or X-Forwarded-Proto names another address than the request itself, and is ignored. Behind a proxy ' +
  'that overwrites both headers set trustProxy: true, or better set appBaseUrl (APP_BASE_URL) to the address that ' +
  'browsers see.'

const PLAIN_HTTP =
  'appBaseUrl (APP_BASE_URL) is https, but this server received a request for that host over plain http: the provider ' +
  'sends browsers back to an https address where perhaps no server listens. On this machine use http://, or serve https.'

const MOUNTED =
  'The auth routes are mounted below a path that the base path does not name, so callback URL and redirects miss it. Set ' +
  'FRAMEWORK_PUBLIC_BASE_PATH (in Next.js NEXT_PUBLIC_BASE_PATH) to the path that browsers see.'

const INTERNAL =
  'The base URL is inferred from the Host header, which names an address of an internal network: the provider would send ' +
  'browsers there. Set appBaseUrl (APP_BASE_URL) to the address that browsers see.'

type AddressConfig = Pick<Config, 'appBaseUrl' | 'log' | 'production' | 'trustProxy'>

function tryBaseUrl(config: AddressConfig, request: RequestView): string | null {
  try {
    return resolveBaseUrl(config, request)
  } catch {
    return null
  }
}

function ignoresHeaders(config: AddressConfig, request: RequestView): boolean {
  const { headers } = request
  if (config.trustProxy || config.appBaseUrl.kind === 'static') return false
  if (!headers.has('x-forwarded-host') && !headers.has('x-forwarded-proto')) return false
  const believed = tryBaseUrl({ ...config, trustProxy: true }, request)
  return believed !== null && believed !== tryBaseUrl(config, request)
}

/** A proxy on this machine that terminates TLS sends a forwarded header; on other hosts some do not. */
function speaksPlainHttp({ appBaseUrl }: AddressConfig, { headers, url }: RequestView): boolean {
  if (appBaseUrl.kind !== 'static' || url?.protocol !== 'http:') return false
  const expected = new URL(appBaseUrl.url)
  if (expected.protocol !== 'https:' || !isLoopback(expected.host)) return false
  if (parseHost(headers.get('host') ?? url.host) !== expected.host) return false
  return !/https/i.test(`${headers.get('x-forwarded-proto')} ${headers.get('forwarded')}`)
}

/** On this machine there may be no proxy; a forwarded header says that there is one. */
function infersInternalAddress(config: AddressConfig, request: RequestView): boolean {
  if (!config.production || config.appBaseUrl.kind !== 'inferred') return false
  const url = tryBaseUrl(config, request)
  if (url === null) return false
  const { host, hostname } = new URL(url)
  const { headers } = request
  return isLoopback(host)
    ? headers.has('x-forwarded-for') || headers.has('forwarded') || headers.has('via')
    : isInternal(hostname)
}

/** Reports, once per process, headers of a request that do not match the options. */
export function reportAddress(config: AddressConfig, request: RequestView): void {
  if (ignoresHeaders(config, request)) config.log.once(FORWARDED, 'FORWARDED_HEADERS_IGNORED')
  if (speaksPlainHttp(config, request)) config.log.once(PLAIN_HTTP, 'HTTPS_BASE_URL')
}

/** The same for a request for an auth route: an address that only a proxy uses, and the path of the routes. */
export function reportRouteAddress(config: Config, request: RequestView): void {
  const { appBaseUrl, basePath, log } = config
  if (!ignoresHeaders(config, request) && infersInternalAddress(config, request))
    log.once(INTERNAL, 'BASE_URL_INTERNAL')
  const { prefix } = request
  if (prefix === undefined || prefix === basePath) return
  const isKnown = parseUrls(appBaseUrl).some(({ pathname }) => pathname === prefix)
  if (!isKnown) log.once(MOUNTED, 'BASE_PATH_MISSING')
}
