import type { IdpClientOptions } from '../../config/options.ts'
import { IdpError } from '../../errors/base.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import { placeTaken } from '../../host-client.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import type { NodeResponse } from '../node/binding.ts'
import { NodeHostClient } from '../node/node-host.ts'
import type { KoaContext } from './send.ts'
import { runPrivate, sendResponse } from './send.ts'

/** Request type of this entry: the used part of Koa's context. */
export type FrameworkRequest = KoaContext
/** Response type of this entry: that of `node:http`. Operations need none beside the context. */
export type FrameworkResponse = NodeResponse

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/** A middleware of Koa. */
export type KoaMiddleware = (ctx: FrameworkRequest, next: () => Promise<unknown>) => Promise<unknown>

/** Options of the client of `idp-client/koa`. */
export interface KoaClientOptions extends IdpClientOptions {
  /** Name of the property of `ctx.state` in which guards pass the session. Default: `idpSession`. */
  sessionName?: string
}

function isContext(value: Partial<KoaContext>): value is KoaContext {
  return typeof value?.res?.setHeader === 'function' && typeof value.request?.originalUrl === 'string'
}

/**
 * OpenID Connect for Koa 2 and 3. Construct it once per process; it holds no state of any user. Inside `middleware`
 * operations need no arguments, or the context `ctx`.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * const idp = new IdpClient()
 * app.use(idp.middleware)
 * router.get('/account', idp.requireLogin(), (ctx) => {
 *   ctx.body = ctx.state.idpSession.user
 * })
 */
export class IdpClient extends NodeHostClient<FrameworkRequest, FrameworkResponse> {
  readonly #sessionName: string
  /** The session that this client has set, to detect that other code uses the same name. */
  readonly #ownSession = Symbol('idp-client session')

  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor({ sessionName = 'idpSession', ...options }: KoaClientOptions = {}) {
    super(options, {
      mountLine: 'app.use(idp.middleware)',
      isContext,
      // Koa's request has the path before `koa-mount` and the result of a body parser.
      toNode: ({ request, res }) => ({ request, response: res }),
    })
    this.#sessionName = sessionName
  }

  /**
   * Responds to requests for the auth routes; passes any other request to the application and extends its session if
   * due. May be mounted before or after body parsers. Bound to the instance.
   */
  readonly middleware: KoaMiddleware = async (ctx, next) => {
    if (!isContext(ctx)) {
      throw new IdpError('INVALID_ARGUMENTS', {
        detail: 'Mount it as app.use(idp.middleware), with Koa 2 or 3.',
      })
    }
    return this.serve(ctx, undefined, { next, send: (response) => sendResponse(ctx, response) })
  }

  /**
   * Protects pages: without a session, or with one that does not meet the requirements, redirects the browser to a login
   * that requests what is missing and returns to the page afterwards. Handlers find the session in
   * `ctx.state.idpSession`. Throws `InvalidConfigurationError` for an unknown option; the middleware throws
   * `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE` if such a login has just failed to
   * meet the requirements.
   */
  requireLogin(options?: PageGuardOptions): KoaMiddleware {
    return this.#guard(this.pageGuard(options))
  }

  /**
   * Protects APIs: without a session responds 401 with a JSON body, never with a redirect. A session that does not meet
   * the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403 (`organization`,
   * `scope`). Handlers find the session in `ctx.state.idpSession`; with `accept` the caller in `ctx.state.idpAuth`. Throws
   * `InvalidConfigurationError` for an unknown option.
   */
  requireAuth<E extends AcceptEntry = never, S extends string = string>(
    options?: AnyApiGuardOptions<E, S>,
  ): KoaMiddleware {
    return this.#guard(this.apiGuard(options))
  }

  #guard(decide: (ctx: FrameworkRequest) => Promise<ApiGuardResult>): KoaMiddleware {
    return async (ctx, next) => {
      const result = await decide(ctx)
      if (result.response) return sendResponse(ctx, result.response)
      if (result.auth) Reflect.set(ctx.state, 'idpAuth', result.auth)
      if (!result.session) return next()
      this.#setSession(ctx.state, result.session)
      return runPrivate(next)
    }
  }

  #setSession(state: object, session: SessionData): void {
    const name = this.#sessionName
    if (Reflect.get(state, name) !== Reflect.get(state, this.#ownSession))
      throw placeTaken(`ctx.state.${name}`)
    Reflect.set(state, this.#ownSession, session)
    Reflect.set(state, name, session)
  }
}
