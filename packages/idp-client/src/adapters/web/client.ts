import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry, AcceptedAuth } from '../../guards/accepted-auth.ts'
import type { GuardResult, ResultFor } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type {
  AnyApiGuardOptions,
  ApiGuardOptions,
  EitherGuardOptions,
  ResourceGuardOptions,
} from '../../guards/requirements.ts'
import { withoutStoring } from './continue.ts'
import { WEB_REQUEST_HOST, WebHostClient } from './web-host.ts'
import { withAuth } from './with-auth.ts'

/** Request type of this entry: the Web standard's. */
export type FrameworkRequest = Request
/** Response type of this entry: the Web standard's. */
export type FrameworkResponse = Response

/** A handler of the application: gets the request and any further arguments of its framework. */
export type WebHandler<Rest extends unknown[] = unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/**
 * OpenID Connect for hosts with Web `Request` and `Response`. Construct it once per process; it holds no state of any
 * user. Operations without a request need the scope that `middleware(request, next)` opens (`AMBIENT_REQUEST_MISSING`
 * otherwise); all others need the request, and the response or headers for cookies.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 */
export class IdpClient extends WebHostClient {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(options, WEB_REQUEST_HOST)
  }

  /**
   * Responds to requests for the auth routes. Any other request is passed on: to `next`, inside the ambient scope, or
   * with a continue response (see `isContinue`, `continueWith`) that carries the cookies to set, and is not for the browser.
   * Inside `next` operations need no response: their cookies are added to the response of `next`, unless it has set newer
   * ones. Once that response has been returned, the request is read-only (`SESSION_NOT_WRITABLE`).
   */
  readonly middleware = async (
    request: FrameworkRequest,
    next?: (request: FrameworkRequest) => FrameworkResponse | Promise<FrameworkResponse>,
  ): Promise<FrameworkResponse> => this.serve(request, next)

  /**
   * Returns the session of a request for a page, or the response that redirects the browser to a login: without a
   * session, or with one that does not meet the requirements. Throws as `withPageAuthRequired` does.
   *
   * @example
   * const { session, response } = await idp.requireLogin(request)
   * if (response) return response
   */
  async requireLogin(request: FrameworkRequest, options?: PageGuardOptions): Promise<GuardResult> {
    return this.pageGuard(options)(request)
  }

  /**
   * Returns the session of a request to an API, or the response that rejects it, as `withApiAuthRequired` does; with `accept` the
   * caller that it allows, by its session or access token.
   */
  async requireAuth<E extends AcceptEntry = never, S extends string = string>(
    request: FrameworkRequest,
    options?: AnyApiGuardOptions<E, S>,
  ): Promise<ResultFor<E>> {
    return this.apiGuard(options)(request)
  }

  /**
   * Wraps a page handler: without a session, or with one that does not meet the requirements, redirects the browser to
   * a login that requests what is missing and returns to the page afterwards. Throws `InvalidConfigurationError` for an
   * unknown option; the handler throws `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE`
   * if such a login has just failed to meet the requirements.
   */
  withPageAuthRequired<Rest extends unknown[]>(
    handler: WebHandler<Rest>,
    options?: PageGuardOptions,
  ): WebHandler<Rest> {
    const guard = this.pageGuard(options, 'withPageAuthRequired')
    return async (request, ...rest) =>
      (await guard(request)).response ?? withoutStoring(await handler(request, ...rest))
  }

  /**
   * Wraps an API handler: without a session responds 401 with a JSON body, never with a redirect. A session that does
   * not meet the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403
   * (`organization`, `scope`). Throws `InvalidConfigurationError` for an unknown option.
   */
  withApiAuthRequired<Rest extends unknown[]>(
    handler: WebHandler<Rest>,
    options?: ApiGuardOptions,
  ): WebHandler<Rest>
  /** Wraps an API handler that access tokens may call: its second argument has the caller as `auth`. */
  withApiAuthRequired<
    Context extends object,
    Rest extends unknown[],
    E extends AcceptEntry = AcceptEntry,
    S extends string = string,
  >(
    handler: WebHandler<[context: Context & { readonly auth: AcceptedAuth<E> }, ...rest: Rest]>,
    options: ResourceGuardOptions<E, S>,
  ): WebHandler<[context?: Context, ...rest: Rest]>
  withApiAuthRequired(handler: WebHandler<never[]>, options?: EitherGuardOptions): WebHandler {
    const guard = this.apiGuard(options, 'withApiAuthRequired')
    const run = handler as WebHandler
    return async (request, ...rest) => {
      const result = await guard(request)
      if (result.response) return result.response
      const response = await run(request, ...withAuth(result.auth, rest))
      return result.session ? withoutStoring(response) : response
    }
  }
}
