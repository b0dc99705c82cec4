import type { Application, ProxyRoute } from '../engine.ts'
import { invalidAtStart } from '../errors/configuration.ts'
import type { ApiGuardResult } from '../guards/guards.ts'
import type { ApiGuard } from '../guards/host-guards.ts'
import { createApiGuard } from '../guards/host-guards.ts'
import type { Exchange, RequestView } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { lazyPromise } from '../lib/request-scope.ts'
import { isBelow } from '../lib/url.ts'
import { exactPathBelow } from '../routes/dispatch.ts'
import type { ProxyConfig, ProxyOptions } from './options.ts'
import { readProxy } from './options.ts'
import { isSafePath, toLenient } from './path.ts'

const load = lazyPromise(() => import('./respond.ts'))

/** Returns what distinguishes options, except the code of their functions. */
function toIdentity(options: ProxyOptions): string {
  return JSON.stringify(options, (_name, value: unknown) =>
    typeof value === 'function' ? 'function' : value,
  )
}

/** Runs an operation on a request of the host, and writes its cookies. */
export type Respond<HostRequest, HostResponse> = (
  request: HostRequest | undefined,
  response: HostResponse | undefined,
  operation: (exchange: Exchange) => MaybePromise<Response>,
) => Promise<Response>

function register({ proxies }: Application, proxy: ProxyRoute): void {
  const other = proxies.get(proxy.prefix)
  // Development servers run modules again.
  if (other && other.identity !== proxy.identity) {
    const detail = 'idp.proxy: two proxies have the same prefix and different options.'
    throw invalidAtStart(detail)
  }
  proxies.set(proxy.prefix, proxy)
}

const TOKENS_IN_BROWSER =
  'idp.proxy keeps access tokens out of the browser, but the route of access tokens gives them to scripts: set enableAccessTokenEndpoint to false, or to true if pages call other APIs directly.'

function reportRisks(
  { settings: { log, production, sendsTokensByDefault } }: Application,
  config: ProxyConfig,
): void {
  if (sendsTokensByDefault) log.once(TOKENS_IN_BROWSER)
  if (config.isInsecure && production)
    log.once(
      'idp.proxy sends access tokens over plain http (insecureTarget): everybody on that network can read them.',
    )
}

/** Returns the path of a request as it arrived, or `null` where the host does not tell. */
function rawPath({ target }: RequestView): string | null {
  if (target === undefined) return null
  const [path = ''] = target.split('?', 1)
  // The absolute form of a request target (RFC 9112 section 3.2.2).
  return path.startsWith('/') ? path : path.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*/i, '') || '/'
}

/**
 * An API to which requests of the application's pages are sent on, with the access token of their session. `idp.proxy()` creates it;
 * the middleware serves it.
 */
export class ApiProxy<HostRequest extends object = object, HostResponse extends object = object> {
  /** Path of its requests, below the base path. */
  readonly prefix: string
  /** @internal */
  readonly identity: string
  readonly #application: Application
  readonly #config: ProxyConfig
  readonly #guard: ApiGuard<ApiGuardResult> | undefined
  readonly #respond: Respond<HostRequest, HostResponse>

  /** @internal */
  constructor(application: Application, options: ProxyOptions, respond: Respond<HostRequest, HostResponse>) {
    this.#application = application
    this.#config = readProxy(options)
    const guard = createApiGuard(application, 'idp.proxy', options.guard)
    this.#guard = options.guard && guard
    this.#respond = respond
    this.prefix = this.#config.prefix
    this.identity = toIdentity(options)
    register(application, this)
    reportRisks(application, this.#config)
  }

  /** @internal Returns whether a request is for this API, by its path as it was parsed or as it arrived. */
  covers(request: RequestView): boolean {
    const { basePath } = this.#application.settings
    const raw = rawPath(request)
    const parsed = exactPathBelow(basePath, request)
    const prefixes = [request.prefix ?? '', basePath].map((base) => base + this.prefix)
    return (
      (parsed !== null && isBelow(this.prefix, parsed)) ||
      (raw !== null && prefixes.some((prefix) => isBelow(prefix, raw)))
    )
  }

  /**
   * Returns whether the API may read a path as one of a longer prefix, whose proxy may require more: by another spelling, which does
   * not reach that proxy.
   */
  #mayBelongToAnother(path: string): boolean {
    const lenient = toLenient(path)
    const others = [...this.#application.proxies.keys()].filter((other) => isBelow(this.prefix, other))
    return others.some((other) => other !== this.prefix && isBelow(toLenient(other), lenient))
  }

  /** @internal Responds to a request that it covers. */
  async respond(exchange: Exchange): Promise<Response> {
    const { respond } = await load()
    const { request } = exchange
    const raw = rawPath(request)
    const parsed = exactPathBelow(this.#application.settings.basePath, request)
    const isSafe =
      parsed !== null &&
      !this.#mayBelongToAnother(parsed) &&
      isBelow(this.prefix, parsed) &&
      [raw ?? '/', parsed].every(isSafePath)
    const rest = isSafe ? parsed.slice(this.prefix.length) : null
    return respond(this.#application, exchange, { config: this.#config, guard: this.#guard }, rest)
  }

  /**
   * Sends a request on, where no middleware of the client serves it, and returns the response; `null` if its path is not below the
   * prefix. Never throws for a failure of the API or of the session: the response says what is wrong.
   *
   * @param response for cookies, on hosts whose operations take one
   */
  async handle(request?: HostRequest, response?: HostResponse): Promise<Response | null> {
    let isCovered = true
    const result = await this.#respond(request, response, (exchange) => {
      isCovered = this.covers(exchange.request)
      return isCovered ? this.respond(exchange) : new Response(null, { status: 404 })
    })
    return isCovered ? result : null
  }
}
