import { reportFrameworkBase } from '../../config/framework-base.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { GuardResult } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions, ApiGuardOptions } from '../../guards/requirements.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { OriginCheckOptions } from '../web/origin-check.ts'
import type { SessionProperty } from '../web/session-property.ts'
import { createSessionProperty } from '../web/session-property.ts'
import { WebHostClient } from '../web/web-host.ts'
import { toLocals } from '../web/with-auth.ts'
import { toActionSession } from './action.ts'
import type { FrameworkRequest, FrameworkResponse } from './context.ts'
import type { AstroMiddleware } from './origin-check.ts'
import { createOriginCheck } from './origin-check.ts'
import { assertPage } from './own-endpoints.ts'
import { isPrerendered, REQUEST_TIME, rejectPrerendered } from './prerendered.ts'
import { assertNotShared, isRewrite, isShared } from './rewrite.ts'
import { behindGuard, withoutRouteCache } from './route-cache.ts'

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/** Options of the client of `idp-client/astro`. */
export interface AstroOptions extends IdpClientOptions {
  /** Name of the property of `Astro.locals` that has the session. Default: `idpSession`. */
  sessionName?: string
}

/** The lines that mount the middleware, and the line without which Astro renders a page at build time. */
export const MOUNT_LINE: string = `integrations: [idp()] in astro.config, or export const onRequest = idp.onRequest in src/middleware.ts. ${REQUEST_TIME}`

/**
 * OpenID Connect for Astro 5 and later. Construct it once per process; it holds no state of any user. Inside `onRequest`
 * operations need no arguments; they also accept the context of an endpoint, and `Astro`.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * // src/middleware.ts
 * export const onRequest = idp.onRequest
 */
export class IdpClient extends WebHostClient<FrameworkRequest> {
  readonly #session: SessionProperty

  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor({ sessionName = 'idpSession', ...options }: AstroOptions = {}) {
    super(options, {
      mountLine: MOUNT_LINE,
      isContext: (value) => 'locals' in value && 'request' in value,
      toRequest: ({ request }) => request,
      // A rewrite replaces the request.
      toIdentity: ({ locals, request }) => (isShared(locals) ? request : locals),
    })
    this.#session = createSessionProperty(sessionName, assertNotShared)
  }

  /**
   * The middleware: responds to requests for the auth routes, passes any other request to the application and extends its
   * session if due. `Astro.locals.idpSession` is the session, or `null`; reading it throws if the session could not be
   * loaded, and in prerendered pages. Once the response has been returned, the request is read-only
   * (`SESSION_NOT_WRITABLE`). Bound to the instance.
   */
  readonly onRequest: AstroMiddleware = async (context, next) => {
    const { locals } = context
    if (isPrerendered(context)) {
      await this.#session.define(locals, rejectPrerendered)
      return next()
    }
    // Astro's bundler puts `base` of its configuration here.
    reportFrameworkBase(this.application.settings, import.meta.env?.BASE_URL)
    if (isRewrite(context) && this.#session.isDefined(locals)) return next()
    const response = await this.serve(context, async () => {
      await this.#session.define(locals, () => this.getSession(context))
      return next()
    })
    return withoutRouteCache(context, response)
  }

  /**
   * Creates a middleware that rejects form posts of other origins with 403, as Astro itself does unless
   * `security.checkOrigin` is off. The origin of the request and those of `appBaseUrl` are its own: behind a proxy Astro
   * knows the origin that browsers see only if `security.allowedDomains` lists it. Behind `onRequest` it checks the
   * requests of the application only: the provider posts to the auth routes from its own origin, or without one.
   *
   * @example
   * export const onRequest = sequence(idp.onRequest, idp.checkOrigin())
   */
  checkOrigin(options?: OriginCheckOptions): AstroMiddleware {
    return createOriginCheck(this.application.settings, options)
  }

  /**
   * Returns the session of a request for a page, or the response that redirects the browser to a login that requests what
   * is missing and returns to the page afterwards. Return that response in the page; components are too late. Throws
   * `INVALID_ARGUMENTS` in actions and server islands, which cannot redirect, and
   * `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE` if such a login has just failed to
   * meet the requirements.
   *
   * @example
   * const { session, response } = await idp.requireLogin(Astro)
   * if (response) return response
   */
  async requireLogin(context: FrameworkRequest, options?: PageGuardOptions): Promise<GuardResult> {
    assertPage(context)
    return this.pageGuard(options)(behindGuard(context))
  }

  /**
   * Wraps an endpoint: without a session responds 401 with a JSON body, never with a redirect. A session that does not
   * meet the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403 (`organization`,
   * `scope`). With `accept`, `context.locals.idpAuth` is the caller. Throws `InvalidConfigurationError` for an unknown
   * option.
   *
   * @example
   * export const GET = idp.requireAuth(async (context) => Response.json(await idp.getSession(context)))
   */
  requireAuth<Context extends FrameworkRequest, E extends AcceptEntry = never, S extends string = string>(
    handler: (context: Context) => FrameworkResponse | Promise<FrameworkResponse>,
    options?: AnyApiGuardOptions<E, S>,
  ): (context: Context) => Promise<FrameworkResponse> {
    const guard = this.apiGuard(options)
    return async (context) =>
      toLocals(context, await guard(behindGuard(context))).response ?? handler(context)
  }

  /**
   * Returns the session of a request for an action. Without a session, or with one that does not meet the requirements,
   * throws an `ActionError` with the code `UNAUTHORIZED` or `FORBIDDEN`. An action is an endpoint of its own: it runs before the
   * guard of the page that its form is on.
   *
   * @example
   * handler: async (input, context) => {
   *   const session = await idp.requireActionAuth(context)
   * }
   */
  async requireActionAuth(context: FrameworkRequest, options?: ApiGuardOptions): Promise<SessionData> {
    return toActionSession(await this.apiGuard(options)(behindGuard(context)))
  }
}
