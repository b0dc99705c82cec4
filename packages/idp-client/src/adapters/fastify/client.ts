import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { Auth } from '../../guards/auth.ts'
import type { ApiGuardResult } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import type { SessionData } from '../../session/model/session-data.ts'
import { NodeHostClient } from '../node/node-host.ts'
import type { FastifyPlugin, FrameworkRequest, FrameworkResponse } from './plugin.ts'
import { createPlugin, endRequest, isReply } from './plugin.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The session, behind a guard of `idp-client/fastify`; `null` elsewhere. */
    idpSession: SessionData | null
    /** The caller, behind a guard with `accept`; absent elsewhere. */
    idpAuth?: Auth
  }
}

/** Options of a page guard of this entry. */
export type PageGuardOptions<Request extends FrameworkRequest = FrameworkRequest> =
  HostPageGuardOptions<Request>

/** A guard: an asynchronous hook of Fastify. It resolves only if it lets the request pass. */
export type Guard<Request extends FrameworkRequest = FrameworkRequest> = (
  request: Request,
  reply: FrameworkResponse,
) => Promise<unknown>

/** Options of the client of `idp-client/fastify`. */
export interface FastifyClientOptions extends IdpClientOptions {
  /** Name of the property of the request in which guards pass the session. Default: `idpSession`. */
  sessionName?: string
}

/**
 * OpenID Connect for Fastify 4 and 5. Construct it once per process; it holds no state of any user. Below the server that
 * has registered `plugin` operations need no arguments, or the request.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * const idp = new IdpClient()
 * await app.register(idp.plugin)
 * app.get('/account', { preHandler: idp.requireLogin() }, async (request) => request.idpSession?.user)
 */
export class IdpClient extends NodeHostClient<FrameworkRequest, FrameworkResponse> {
  readonly #sessionName: string
  /**
   * Serves the auth routes; extends the session of any other request if due. Register it after plugins whose headers the
   * responses need (CORS, Helmet), and before routes and hooks that need a session. Like most plugins it is not
   * encapsulated: its hooks apply to the server that registers it, and to the servers below. Bound to the instance.
   */
  readonly plugin: FastifyPlugin

  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor({ sessionName = 'idpSession', ...options }: FastifyClientOptions = {}) {
    super(options, {
      mountLine: 'await app.register(idp.plugin)',
      isResponse: isReply,
      toNode: (request, reply) => ({ request: request.raw, response: reply?.raw }),
    })
    this.#sessionName = sessionName
    this.plugin = createPlugin(sessionName, {
      application: this.application,
      serve: (request, reply, next) =>
        this.serve(request, reply, { next, send: (response) => endRequest(reply, response) }),
      inScope: (request, next) => this.inScope(request, undefined, next),
    })
  }

  /**
   * Protects pages: without a session, or with one that does not meet the requirements, redirects the browser to a login
   * that requests what is missing and returns to the page afterwards. Handlers find the session in `request.idpSession`.
   * Throws `InvalidConfigurationError` for an unknown option; the hook throws `INSUFFICIENT_USER_AUTHENTICATION`,
   * `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements.
   */
  requireLogin(options?: PageGuardOptions): Guard
  requireLogin<Request extends FrameworkRequest>(options: PageGuardOptions<Request>): Guard<Request>
  requireLogin<Request extends FrameworkRequest>(options?: PageGuardOptions<Request>): Guard<Request> {
    return this.#guard(this.pageGuard(options))
  }

  /**
   * Protects APIs: without a session responds 401 with a JSON body, never with a redirect. A session that does not meet
   * the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403 (`organization`,
   * `scope`). Handlers find the session in `request.idpSession`; with `accept` the caller in `request.idpAuth`. Throws
   * `InvalidConfigurationError` for an unknown option.
   */
  requireAuth<E extends AcceptEntry = never, S extends string = string>(
    options?: AnyApiGuardOptions<E, S>,
  ): Guard {
    return this.#guard(this.apiGuard(options))
  }

  #guard<Request extends FrameworkRequest>(
    decide: (request: Request) => Promise<ApiGuardResult>,
  ): Guard<Request> {
    return async (request, reply) => {
      const result = await decide(request)
      if (result.response) return endRequest(reply, result.response)
      if (result.auth) Reflect.set(request, 'idpAuth', result.auth)
      if (result.session) Reflect.set(request, this.#sessionName, result.session)
      return undefined
    }
  }
}
