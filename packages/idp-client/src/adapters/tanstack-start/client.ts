import type { IdpClientOptions } from '../../config/options.ts'
import { IdpError } from '../../errors/base.ts'
import type { AcceptEntry, AcceptedAuth } from '../../guards/accepted-auth.ts'
import type { Auth } from '../../guards/auth.ts'
import { isForbidden } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import { createApiGuard, createPageGuard } from '../../guards/host-guards.ts'
import type { ApiGuardOptions, EitherGuardOptions, ResourceGuardOptions } from '../../guards/requirements.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { WebTarget } from '../web/binding.ts'
import { WEB_REQUEST_HOST, WebHostClient } from '../web/web-host.ts'
import { reportBasepath } from './basepath.ts'

/** Request type of this entry: the Web standard's, which middleware and server routes get. */
export type FrameworkRequest = Request
/** Response type of this entry: a response that a server route returns, or its headers. */
export type FrameworkResponse = WebTarget

/** Options of a page guard of this entry. */
export type PageGuardOptions = Omit<HostPageGuardOptions<FrameworkRequest>, 'returnTo'> & {
  /** Path to redirect to after the login; default: that of the request, or `/` for a call of a server function. */
  returnTo?: string
}

/** The used part of the argument of a request middleware. */
export interface MiddlewareOptions {
  readonly request: Request
  readonly next: () => MiddlewareResult | Promise<MiddlewareResult>
}

/** The used part of the result of `next` in a request middleware. */
export interface MiddlewareResult {
  readonly response: Response
}

/** The line that mounts the middleware. */
const MOUNT_LINE = 'requestMiddleware: [createMiddleware().server(idp.middleware)] in src/start.ts'

/** Makes a redirect that TanStack Router follows by a navigation of the browser (`isRedirect`). */
function toDocumentRedirect(response: Response): Response {
  const options = {
    href: response.headers.get('location'),
    statusCode: response.status,
    reloadDocument: true,
  }
  return Object.assign(response, { options })
}

/**
 * OpenID Connect for TanStack Start. Construct it once per process; it holds no state of any user. Mount `middleware` as the
 * first request middleware: inside it operations need no arguments, or the request. Elsewhere they throw
 * `AMBIENT_REQUEST_MISSING`.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * // src/start.ts
 * export const startInstance = createStart(() => ({
 *   requestMiddleware: [createMiddleware().server(idp.middleware)],
 * }))
 */
export class IdpClient extends WebHostClient {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(options, { ...WEB_REQUEST_HOST, mountLine: MOUNT_LINE })
  }

  /**
   * Responds to requests for the auth routes; passes any other request on, inside the ambient scope, and adds the cookies to
   * its response. Bound to the instance.
   */
  readonly middleware = async ({ next, request }: MiddlewareOptions): Promise<Response> => {
    // The middleware of a server function gets none, nor does that of versions without request middleware.
    if (!request) throw new IdpError('INVALID_ARGUMENTS', { detail: `Mount the middleware as ${MOUNT_LINE}` })
    return this.serve(request, async () => (await next()).response)
  }

  /**
   * Returns the session of the current request, for a page. Without a session, or with one that does not meet the
   * requirements, throws a redirect to a login that requests what is missing and returns to the page afterwards. For server
   * functions; `beforeLoad` and loaders, which also run in the browser, call one of those. Throws
   * `InvalidConfigurationError` for an unknown option; `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or
   * `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements. If `authorize` denies access, throws a
   * response with 403, and `ACCESS_DENIED` while a document is rendered.
   */
  async requireLogin(options?: PageGuardOptions): Promise<SessionData> {
    const guard = createPageGuard<undefined>(this.application, 'requireLogin', options)
    const binding = this.bind()
    const { headers, url } = binding.exchange.request
    // The URL of a call of a server function is not that of the page.
    const isCall = headers.has('x-tsr-serverfn')
    const path = isCall || !url ? '/' : url.pathname + url.search
    const { response, session } = await this.decide(binding, (exchange) =>
      guard(exchange, undefined, () => path),
    )
    if (session) return session
    // While a document is rendered, only an error leads to the error page of the application.
    if (isForbidden(response)) throw isCall ? response : new IdpError('ACCESS_DENIED')
    await reportBasepath(this.application.settings)
    throw toDocumentRedirect(response)
  }

  /**
   * Returns the session of the current request, for an API. Otherwise throws the response that rejects it: 401 without a
   * session, with a JSON body, never a redirect; 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or 403
   * (`organization`, `scope`) for a session that does not meet the requirements. For server routes, server functions and
   * their middleware. Throws `InvalidConfigurationError` for an unknown option.
   */
  requireAuth(options?: ApiGuardOptions): Promise<SessionData>
  /** Returns the caller that `accept` allows, by its session or access token. Otherwise throws the response that rejects it. */
  requireAuth<E extends AcceptEntry, S extends string = string>(
    options: ResourceGuardOptions<E, S>,
  ): Promise<AcceptedAuth<E>>
  async requireAuth(options?: EitherGuardOptions): Promise<SessionData | Auth> {
    const guard = createApiGuard(this.application, 'requireAuth', options)
    const result = await this.decide(this.bind(), guard)
    if (result.response) throw result.response
    return result.auth ?? result.session
  }
}
