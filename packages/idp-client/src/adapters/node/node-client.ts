import type { IdpClientOptions } from '../../config/options.ts'
import { IdpError } from '../../errors/base.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import { onlyOptions } from '../../guards/guard-options.ts'
import type { ApiGuardResult, GuardResult, ResultFor } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import type { NodeRequest, NodeResponse } from './binding.ts'
import { NodeHostClient } from './node-host.ts'
import { forbidStoring } from './response.ts'
import { sendResponse } from './send.ts'

/** Continues with the next handler, or with the error handler of the framework. */
export type NodeNext = (error?: unknown) => unknown

/** A handler of Connect, Express and other frameworks whose handlers get request, response and `next`. */
export type NodeHandler<Request, Response> = (req: Request, res: Response, next: NodeNext) => unknown

/** A handler of this library: its promise is that of `next`, or rejects if `next` accepts no error. */
export type NodeMiddleware<Request, Response> = (
  req: Request,
  res: Response,
  next?: NodeNext,
) => Promise<unknown>

/** Validates what the host passes, at each request: peer dependencies are not limited to versions that work. */
function assertHost(method: string, req: Partial<NodeRequest>, res: Partial<NodeResponse>): void {
  if (typeof req?.url === 'string' && typeof res?.setHeader === 'function') return
  const detail = `${method} takes (req, res, next) of Express 4 or 5, or request and response of node:http: ctx.req and ctx.res of Koa, request.raw and reply.raw of Fastify.`
  throw new IdpError('INVALID_ARGUMENTS', { detail })
}

/**
 * Runs a handler and forwards its rejection to the application: by `next` if that accepts an error, because Express 4
 * and Connect ignore promises; otherwise by the promise itself, because on hosts whose `next` accepts none a call would
 * let the request pass. Only objects are forwarded: a falsy value would also let it pass, and Express interprets some
 * strings.
 */
async function forwardRejection(
  next: NodeNext | undefined,
  run: () => MaybePromise<unknown>,
): Promise<unknown> {
  try {
    return await run()
  } catch (thrown) {
    if (next === undefined || next.length === 0) throw thrown
    const isObject = typeof thrown === 'object' && thrown !== null
    return next(isObject ? thrown : new IdpError('INTERNAL_ERROR', { cause: thrown }))
  }
}

/** The client of frameworks whose handlers get request and response of `node:http`, and `next`. */
export abstract class NodeClient<
  Request extends NodeRequest,
  Response extends NodeResponse,
> extends NodeHostClient<Request, Response> {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(options, { toNode: (request, response) => ({ request, response }) })
  }

  /**
   * Responds to requests for the auth routes; passes any other request to the application and extends its session if
   * due. May be mounted before or after body parsers. Bound to the instance.
   *
   * Returns the promise of `next`.
   */
  readonly middleware: NodeMiddleware<Request, Response> = (req, res, next) =>
    forwardRejection(next, () => {
      assertHost('middleware', req, res)
      return this.serve(req, res, {
        next: () => next?.(),
        send: (response) => sendResponse(res, response),
      })
    })

  /**
   * Returns the session of a request for a page, or the response that redirects the browser to a login: without a
   * session, or with one that does not meet the requirements. Throws as `withPageAuthRequired` does.
   *
   * @example
   * const { session, response } = await idp.requireLogin(req)
   * if (response) return sendResponse(res, response)
   */
  async requireLogin(req: Request, options?: HostPageGuardOptions<Request>): Promise<GuardResult> {
    return this.pageGuard(options)(req)
  }

  /**
   * Returns the session of a request to an API, or the response that rejects it, as `withApiAuthRequired` does; with `accept` the
   * caller that it allows, by its session or access token.
   */
  async requireAuth<E extends AcceptEntry = never, S extends string = string>(
    req: Request,
    options?: AnyApiGuardOptions<E, S>,
  ): Promise<ResultFor<E>> {
    return this.apiGuard(options)(req)
  }

  /**
   * Protects pages: without a session, or with one that does not meet the requirements, redirects the browser to a
   * login that requests what is missing and returns to the page afterwards. Mount it before the handler, or pass the
   * handler. Throws `InvalidConfigurationError` for an unknown option. Errors go to `next(error)` (on hosts whose
   * `next` accepts no error the promise rejects), including `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION`
   * and `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements.
   */
  withPageAuthRequired(options?: HostPageGuardOptions<Request>): NodeMiddleware<Request, Response>
  withPageAuthRequired(
    handler: NodeHandler<Request, Response>,
    options?: HostPageGuardOptions<Request>,
  ): NodeMiddleware<Request, Response>
  withPageAuthRequired(
    first?: NodeHandler<Request, Response> | HostPageGuardOptions<Request>,
    second?: HostPageGuardOptions<Request>,
  ): NodeMiddleware<Request, Response> {
    const name = 'withPageAuthRequired'
    const [handler, options] =
      typeof first === 'function' ? [first, second] : [undefined, onlyOptions(name, first, second)]
    return this.#guard(handler, this.pageGuard(options, name))
  }

  /**
   * Protects APIs: without a session responds 401 with a JSON body, never with a redirect. A session that does not meet
   * the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403 (`organization`,
   * `scope`). Mount it before the handler, or pass the handler. With `accept`, `req.idpAuth` is the caller. Throws
   * `InvalidConfigurationError` for an unknown option.
   */
  withApiAuthRequired<E extends AcceptEntry = never, S extends string = string>(
    options?: AnyApiGuardOptions<E, S>,
  ): NodeMiddleware<Request, Response>
  withApiAuthRequired<E extends AcceptEntry = never, S extends string = string>(
    handler: NodeHandler<Request, Response>,
    options?: AnyApiGuardOptions<E, S>,
  ): NodeMiddleware<Request, Response>
  withApiAuthRequired(
    first?: NodeHandler<Request, Response> | AnyApiGuardOptions,
    second?: AnyApiGuardOptions,
  ): NodeMiddleware<Request, Response> {
    const name = 'withApiAuthRequired'
    const [handler, options] =
      typeof first === 'function' ? [first, second] : [undefined, onlyOptions(name, first, second)]
    return this.#guard(handler, this.apiGuard(options, name))
  }

  #guard(
    handler: NodeHandler<Request, Response> | undefined,
    decide: (req: Request) => Promise<ApiGuardResult>,
  ): NodeMiddleware<Request, Response> {
    return (req, res, next) =>
      forwardRejection(next, async () => {
        assertHost('a guard', req, res)
        const result = await decide(req)
        if (result.response) return sendResponse(res, result.response)
        if (result.auth) Reflect.set(req, 'idpAuth', result.auth)
        // The middleware may be missing, which knows the response.
        if (result.session) forbidStoring(res)
        const proceed: NodeNext = next ?? (() => undefined)
        return this.inScope(req, res, () => (handler ? handler(req, res, proceed) : proceed()))
      })
  }
}
