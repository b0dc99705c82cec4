import { IdpError } from '../errors/base.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import type { FetchFunction } from '../lib/fetch-function.ts'
import { defined } from '../lib/objects.ts'
import { isBelow, parseUrl } from '../lib/url.ts'
import { isLoopback } from './base-url.ts'
import type { Config } from './config.ts'
import type { GetAccessTokenOptions } from './token-options.ts'
import { printable, toCorrection } from './unknown-keys.ts'

/**
 * An access token with what is known of it: what `getAccessToken`, `getAccessTokenForConnection` and
 * `customTokenExchange` return fits, a `TokenSet` as well. The type is `Bearer` or `DPoP`, in any spelling.
 */
export type TypedAccessToken = ({ token: string } | { accessToken: string }) & {
  token_type?: string | undefined
  tokenType?: string | undefined
}

/**
 * Returns the access token for one call of a fetcher; called again for each call, with its token options. Its
 * exception is thrown to the caller. A plain string has no type: `useDPoP` decides then.
 */
export type AccessTokenFactory = (
  options: GetAccessTokenOptions,
) => string | TypedAccessToken | Promise<string | TypedAccessToken>

/** Options of `createFetcher`. */
export interface FetcherOptions {
  /**
   * Overrides the client-wide `useDPoP` for this fetcher; true needs a key pair. It never changes a token that names its
   * type: a `Bearer` token is sent as such, and one of type `DPoP` is refused while this is false.
   */
  useDPoP?: boolean | undefined
  /** Where tokens come from; default: the session, refreshed when need be. */
  getAccessToken?: AccessTokenFactory | undefined
  /**
   * URL of the API, https unless on this machine; a path in it is kept. Relative URLs continue it, and once it is set
   * the token goes to no other origin. Default: none, so every URL has to be absolute.
   */
  baseUrl?: string | undefined
  /**
   * Carries the calls to the API, and nothing else. Default: the global `fetch` as it is at the time of the call; `[customFetch]` for
   * tokens that `certificateBoundAccessTokens` binds to the certificate: those of the session unless they visibly are not (`cnf` of a
   * JWT), others if they visibly are.
   */
  fetch?: FetchFunction | undefined
}

/** A fetcher's options, checked. */
export interface FetcherConfig {
  /** Whether tokens without a type are bound to the key pair, and tokens bound to it may be sent. */
  readonly bound: boolean
  readonly base: URL | null
  readonly getAccessToken?: AccessTokenFactory
  readonly fetch?: FetchFunction
  /** Plain http to other machines; never in production. */
  readonly allowInsecureRequests: boolean
}

function wrong(detail: string): InvalidConfigurationError {
  return new InvalidConfigurationError('INVALID_CONFIGURATION', {
    detail: `Option of createFetcher: ${detail}`,
  })
}

/** Anyone on the network path could read an access token in plain text: RFC 6750 section 5.3 requires TLS. */
function isConfidential({ protocol, host }: URL, allowInsecureRequests: boolean): boolean {
  if (protocol === 'https:') return true
  return protocol === 'http:' && (allowInsecureRequests || isLoopback(host))
}

function readBase(given: unknown, allowInsecureRequests: boolean): URL | null {
  if (given === undefined) return null
  const url = typeof given === 'string' ? parseUrl(given) : null
  if (!url) throw wrong('baseUrl must be an absolute URL, such as https://api.example.com/v1.')
  if (!isConfidential(url, allowInsecureRequests))
    throw wrong('baseUrl must be https, or a loopback address; tokens are not sent in plain text.')
  if (url.username || url.password || url.search || url.hash)
    throw wrong('baseUrl must have neither credentials nor query nor fragment.')
  return url
}

const NAMES = [
  'useDPoP',
  'getAccessToken',
  'baseUrl',
  'fetch',
] as const satisfies readonly (keyof FetcherOptions)[]

/** A misspelt `baseUrl` would not keep the token from other origins. */
function checkNames(options: object): void {
  for (const [name, value] of Object.entries(options)) {
    if (value === undefined || NAMES.some((known) => known === name)) continue
    const shown = printable.test(name) ? name : 'a key'
    throw wrong(`${shown} is not a known option. ${toCorrection(name, NAMES)}`)
  }
}

/**
 * Checks the options of one fetcher. `InvalidConfigurationError` names what is wrong: an unknown option or one of the
 * wrong kind, a `baseUrl` that no token may be sent to, `useDPoP: true` without a key pair.
 */
export function resolveFetcher(options: FetcherOptions, config: Config): FetcherConfig {
  checkNames(options)
  const { baseUrl, fetch, getAccessToken, useDPoP } = options
  const { allowInsecureRequests, dpop } = config
  if (useDPoP !== undefined && typeof useDPoP !== 'boolean') throw wrong('useDPoP must be true or false.')
  if (fetch !== undefined && typeof fetch !== 'function') throw wrong('fetch must be a function.')
  if (getAccessToken !== undefined && typeof getAccessToken !== 'function')
    throw wrong('getAccessToken must be a function.')
  if (useDPoP && dpop.keys.kind === 'none')
    throw wrong(
      'useDPoP needs a key pair: set dpopKeyPair of the client, or the variables IDP_DPOP_PUBLIC_KEY and ' +
        'IDP_DPOP_PRIVATE_KEY.',
    )
  return defined({
    bound: useDPoP ?? dpop.enabled,
    base: readBase(baseUrl, allowInsecureRequests),
    getAccessToken,
    fetch,
    allowInsecureRequests,
  })
}

/** Appends any path to the base: `//host` must not become another origin. */
function continued({ href }: URL, path: string): string {
  if (path === '' || path.startsWith('?') || path.startsWith('#')) return href + path
  return `${href.endsWith('/') ? href.slice(0, -1) : href}/${path.replace(/^\/+/, '')}`
}

function refused(detail: string): IdpError<'FETCHER_URL_REFUSED'> {
  return new IdpError('FETCHER_URL_REFUSED', { detail })
}

/**
 * The address of one call: absolute as it is, relative behind the base. Throws `FETCHER_BASE_URL_MISSING` and
 * `FETCHER_URL_REFUSED`, before anything was sent or refreshed.
 */
export function apiUrl({ allowInsecureRequests, base }: FetcherConfig, address: string): URL {
  // A path is no absolute URL. Parsing it as one would throw in most calls, which takes 17 µs.
  const isPath = base !== null && /^(?:[/?#]|$)/.test(address)
  const absolute = isPath ? null : parseUrl(address)
  const url = absolute ?? (base && new URL(continued(base, address)))
  if (!url) throw new IdpError('FETCHER_BASE_URL_MISSING')
  if (base && url.origin !== base.origin) throw refused('Its origin is not the one of baseUrl.')
  // By dot segments (RFC 3986 section 5.2.4).
  if (base && !absolute && !isBelow(base.pathname, url.pathname))
    throw refused('It leaves the path of baseUrl.')
  if (!isConfidential(url, allowInsecureRequests))
    throw refused('It is neither https nor on this machine, so that the token could be read on the way.')
  if (url.username || url.password) throw refused('It contains credentials.')
  return url
}
