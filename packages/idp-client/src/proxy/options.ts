import { isLoopback } from '../config/base-url.ts'
import { parseHttpUrl } from '../config/http-url.ts'
import { unknownOption } from '../config/unknown-keys.ts'
import { invalidAtStart } from '../errors/configuration.ts'
import type { GuardRequirements } from '../guards/requirements.ts'
import type { FetchFunction } from '../lib/fetch-function.ts'
import { defined, isObject } from '../lib/objects.ts'
import { isForbiddenName } from './headers.ts'
import { isSafePath } from './path.ts'

/** The methods that a proxy can send on. */
export type ProxyMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Options of `idp.proxy`: which requests it sends on, and where. They are fixed when it is called. */
export interface ProxyOptions {
  /**
   * Path of the requests to send on, below the base path, without trailing slash: `/api/orders` covers `/api/orders` and
   * everything below `/api/orders/`. Case counts.
   */
  prefix: string
  /**
   * URL that takes the place of the prefix, without credentials, query and fragment: https, or http on this machine. Responses are
   * sent to the browser, so it must be an API that the application trusts.
   */
  target: string
  /** API that the access token is for; default the one of the login. */
  audience?: string | undefined
  /** Scope that the access token must have, space-delimited; default: the configured one. */
  scope?: string | undefined
  /** Requirements of the session, as for `withApiAuthRequired`. Default: there must be one. */
  guard?: GuardRequirements | undefined
  /** Methods that are sent on; any other gets 405. Default: GET, HEAD, POST, PUT, PATCH and DELETE. */
  methods?: readonly ProxyMethod[] | undefined
  /**
   * Names of further headers of the request that the API gets: `content-encoding` if it decodes compressed bodies, `content-range`
   * if it accepts parts; such bodies are otherwise refused (415). Default: none.
   */
  requestHeaders?: readonly string[] | undefined
  /** Names of further headers of the response that the browser gets. Default: none. */
  responseHeaders?: readonly string[] | undefined
  /**
   * `'none'` forbids caching; `'upstream'` passes on `Cache-Control` (`private` if the API sends none), `Expires` and `Vary` of
   * the API, with `Vary: Cookie`, unless the response carries a cookie of this library. Default: `'none'`.
   */
  cache?: 'none' | 'upstream' | undefined
  /** Whether `target` may be http on another machine: access tokens are readable on the way. Default: false. */
  insecureTarget?: boolean | undefined
  /**
   * `false` on hosts that send only whole responses, such as AWS Lambda without response streaming: an event stream, which would
   * never arrive, gets 501 `PROXY_STREAM_UNSUPPORTED`, and the request to the API ends. Default: true.
   */
  eventStreams?: boolean | undefined
  /**
   * Seconds without a byte in either direction after which a request ends: 504 before the response has begun, later the response
   * is cut. Default: 60.
   */
  idleTimeout?: number | undefined
  /** Seconds after which a response is cut, also if it still sends, as event streams do. Default: 3600. */
  maxDuration?: number | undefined
  /**
   * Sends the requests to the API. Default: the global `fetch` as it is at the time of the request; `[customFetch]` with
   * `certificateBoundAccessTokens`.
   */
  fetch?: FetchFunction | undefined
}

/** The validated options of a proxy; times in seconds. */
export interface ProxyConfig {
  readonly prefix: string
  /** Path without trailing slash. */
  readonly target: URL
  readonly audience?: string
  readonly scope?: string
  readonly methods: readonly string[]
  /** In lower case. */
  readonly requestHeaders: readonly string[]
  readonly responseHeaders: readonly string[]
  readonly cache: 'none' | 'upstream'
  /** Whether tokens are readable on the way. */
  readonly isInsecure: boolean
  readonly eventStreams: boolean
  readonly idleTimeout: number
  readonly maxDuration: number
  readonly fetch?: FetchFunction
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const satisfies readonly ProxyMethod[]

const NAMES = [
  'prefix',
  'target',
  'audience',
  'scope',
  'guard',
  'methods',
  'requestHeaders',
  'responseHeaders',
  'cache',
  'insecureTarget',
  'eventStreams',
  'idleTimeout',
  'maxDuration',
  'fetch',
] as const satisfies readonly (keyof ProxyOptions)[]

const IDLE_SECONDS = 60
const LONGEST_SECONDS = 3600

/** The longest timer, in seconds. */
const LONGEST = 2_147_483

function refuse(what: string): never {
  throw invalidAtStart(`idp.proxy: ${what}`)
}

/** Segments of unreserved characters: a prefix has one spelling only. */
const PREFIX = /^(?:\/[\w.~-]+)+$/

function readPrefix(value: unknown): string {
  const isPrefix = typeof value === 'string' && PREFIX.test(value) && isSafePath(value)
  return isPrefix
    ? value
    : refuse('prefix must be a path such as /api/orders, without trailing slash, query and percent-encoding.')
}

function readTarget(value: unknown, isInsecureAllowed: boolean): URL {
  const url = typeof value === 'string' ? parseHttpUrl(value) : null
  if (!url) return refuse('target must be an absolute URL without credentials, query and fragment.')
  if (url.protocol !== 'https:' && !isLoopback(url.host) && !isInsecureAllowed)
    return refuse(
      'target must be https, or a loopback address: others could read the access tokens. insecureTarget: true allows it in a network that you trust.',
    )
  if (url.pathname.endsWith('/')) url.pathname = url.pathname.replace(/\/+$/, '')
  return url
}

function readText(name: 'audience' | 'scope', value: unknown): string | undefined {
  if (value === undefined || (typeof value === 'string' && /^[\x20-\x7e]+$/.test(value))) return value
  return refuse(`${name} must be a non-empty string.`)
}

function readMethods(value: unknown): readonly string[] {
  const entries: unknown[] = Array.isArray(value) ? Array.from(value) : []
  const isKnown = (entry: unknown): entry is ProxyMethod => METHODS.some((method) => method === entry)
  return entries.length > 0 && entries.every(isKnown)
    ? Object.freeze(entries)
    : refuse(`methods must be a list of ${METHODS.join(', ')}.`)
}

/** Names of headers (RFC 9110 section 5.6.2). */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/

function readHeaders(direction: 'request' | 'response', value: unknown): readonly string[] {
  const name = `${direction}Headers`
  const entries: unknown[] = Array.isArray(value) ? Array.from(value) : [value]
  const names = entries.map((entry) => (typeof entry === 'string' ? entry.toLowerCase() : ''))
  if (!names.every((entry) => HEADER_NAME.test(entry))) refuse(`${name} must be a list of names of headers.`)
  if (names.some((entry) => isForbiddenName(entry, direction)))
    refuse(
      `${name} has a name that is never passed on, such as Cookie, Set-Cookie, Authorization, Host, X-Forwarded-* or Access-Control-*.`,
    )
  return Object.freeze(names)
}

function readSeconds(name: 'idleTimeout' | 'maxDuration', value: unknown): number {
  const isValid = typeof value === 'number' && value > 0 && value <= LONGEST
  return isValid ? value : refuse(`${name} must be a number of seconds, above 0 and at most ${LONGEST}.`)
}

function readFlag(name: 'eventStreams' | 'insecureTarget', value: unknown): boolean {
  return typeof value === 'boolean' ? value : refuse(`${name} must be true or false.`)
}

function readCache(value: unknown): ProxyConfig['cache'] {
  return value === 'none' || value === 'upstream' ? value : refuse("cache must be 'none' or 'upstream'.")
}

function readFetch(value: unknown): ProxyConfig['fetch'] {
  return value === undefined || typeof value === 'function'
    ? (value as ProxyConfig['fetch'])
    : refuse('fetch must be a function.')
}

/** Validates the options of a proxy, except `guard`. Throws `InvalidConfigurationError`. */
export function readProxy(options: unknown): ProxyConfig {
  if (!isObject(options)) return refuse('its options must be an object.')
  const unknown = unknownOption(options, NAMES)
  if (unknown !== undefined) refuse(`it has ${unknown}`)
  const { audience, fetch, prefix, scope } = options
  const { cache = 'none', eventStreams = true, insecureTarget = false, methods = METHODS } = options
  const { idleTimeout = IDLE_SECONDS, maxDuration = LONGEST_SECONDS } = options
  const { requestHeaders = [], responseHeaders = [] } = options
  const target = readTarget(options['target'], readFlag('insecureTarget', insecureTarget))
  const config: ProxyConfig = defined({
    prefix: readPrefix(prefix),
    target,
    audience: readText('audience', audience),
    scope: readText('scope', scope),
    methods: readMethods(methods),
    requestHeaders: readHeaders('request', requestHeaders),
    responseHeaders: readHeaders('response', responseHeaders),
    cache: readCache(cache),
    isInsecure: target.protocol !== 'https:' && !isLoopback(target.host),
    eventStreams: readFlag('eventStreams', eventStreams),
    idleTimeout: readSeconds('idleTimeout', idleTimeout),
    maxDuration: readSeconds('maxDuration', maxDuration),
    fetch: readFetch(fetch),
  })
  return Object.freeze(config)
}
