import type { Context, MiddlewareHandler } from 'hono'
import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry, AcceptedAuth } from '../../guards/accepted-auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { ApiGuardOptions, EitherGuardOptions, ResourceGuardOptions } from '../../guards/requirements.ts'
import { placeTaken } from '../../host-client.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import { WebHostClient } from '../web/web-host.ts'
import { assertContext, isContext, replaceResponse, sendResponse } from './context.ts'
import { HonoRequestView } from './request-view.ts'

/** Request type of this entry: Hono's context. */
export type FrameworkRequest = Context
/** Response type of this entry: the Web standard's. */
export type FrameworkResponse = Response

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/** A guard: its handlers find the session in the variable of this name. */
export type Guard<Name extends string> = MiddlewareHandler<{ Variables: Record<Name, SessionData> }>

/** A guard with `accept`: its handlers find the caller in this variable. */
export type AuthGuard<E extends AcceptEntry = AcceptEntry> = MiddlewareHandler<{
  Variables: { idpAuth: AcceptedAuth<E> }
}>

/** Options of the client of `idp-client/hono`. */
export interface HonoClientOptions<Name extends string = 'idpSession'> extends IdpClientOptions {
  /** Name of the variable in which guards pass the session: `c.var.idpSession`. Default: `idpSession`. */
  sessionName?: Name
}

/**
 * OpenID Connect for Hono 4.8 and later, in every runtime. Construct it once per process; it holds no state of any user. Inside
 * `middleware` operations accept the context `c`, `c.req.raw` or, where the runtime has `AsyncLocalStorage`, nothing.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * const idp = new IdpClient()
 * app.use(idp.middleware)
 * app.get('/account', idp.requireLogin(), (c) => c.json(c.var.idpSession.user))
 */
export class IdpClient<Name extends string = 'idpSession'> extends WebHostClient<FrameworkRequest> {
  readonly #sessionName: string
  /** The session that this client has set, to detect that other code uses the same name. */
  readonly #ownSession = Symbol('idp-client session')

  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor({ sessionName, ...options }: HonoClientOptions<Name> = {}) {
    super(options, {
      mountLine: 'app.use(idp.middleware)',
      isContext,
      toRequest: (c) => c.req.raw,
      // Other middleware may replace the request of the context.
      toIdentity: (c) => c,
      toView: ({ req }) => new HonoRequestView(req),
    })
    this.#sessionName = sessionName ?? 'idpSession'
  }

  /**
   * Responds to requests for the auth routes; passes any other request to the application and extends its session if
   * due. Mount it in front of everything else. Bound to the instance.
   */
  readonly middleware: MiddlewareHandler = async (c, next) => {
    assertContext(c)
    let passed: Response | undefined
    const response = await this.serve(c, async () => {
      await next()
      passed = c.res
      return passed
    })
    if (!passed) sendResponse(c, response)
    else if (response !== passed && c.finalized) replaceResponse(c, response)
  }

  /**
   * Protects pages: without a session, or with one that does not meet the requirements, redirects the browser to a login
   * that requests what is missing and returns to the page afterwards. Handlers find the session in `c.var.idpSession`.
   * Throws `InvalidConfigurationError` for an unknown option; the middleware throws `INSUFFICIENT_USER_AUTHENTICATION`,
   * `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements.
   */
  requireLogin(options?: PageGuardOptions): Guard<Name> {
    return this.#guard(this.pageGuard(options))
  }

  /**
   * Protects APIs: without a session responds 401 with a JSON body, never with a redirect. A session that does not meet
   * the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403 (`organization`,
   * `scope`). Handlers find the session in `c.var.idpSession`. Throws `InvalidConfigurationError` for an unknown option.
   */
  requireAuth(options?: ApiGuardOptions): Guard<Name>
  /** Protects APIs that access tokens may call: handlers find the caller in `c.var.idpAuth`. */
  requireAuth<E extends AcceptEntry, S extends string>(options: ResourceGuardOptions<E, S>): AuthGuard<E>
  requireAuth(options?: EitherGuardOptions): MiddlewareHandler {
    return this.#guard(this.apiGuard(options))
  }

  #guard(decide: (c: Context) => Promise<ApiGuardResult>): MiddlewareHandler {
    return async (c, next) => {
      const result = await decide(c)
      if (result.response) return sendResponse(c, result.response)
      if (result.auth) c.set('idpAuth', result.auth)
      if (result.session) this.#setSession(c, result.session)
      await next()
    }
  }

  #setSession(c: Context, session: SessionData): void {
    const name = this.#sessionName
    if (c.get(name) !== c.get(this.#ownSession)) throw placeTaken(`c.var.${name}`)
    c.set(this.#ownSession, session)
    c.set(name, session)
  }
}
