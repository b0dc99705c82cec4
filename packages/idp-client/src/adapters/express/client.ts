import type {
  NextFunction as ExpressNext,
  Request as ExpressRequest,
  RequestHandler as ExpressRequestHandler,
  Response as ExpressResponse,
} from 'express'
import { allFeatures } from '../../all-features.ts'
import type { Binding } from '../../binding.ts'
import { within } from '../../binding.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { createApplication } from '../../engine.ts'
import { IdpError } from '../../errors/base.ts'
import { onlyOptions, readRequirements } from '../../guards/guard-options.ts'
import { apiRefusal, pageAccess } from '../../guards/guards.ts'
import type { ApiGuardOptions, GuardRequirements } from '../../guards/requirements.ts'
import { headersSink } from '../../http/cookie-text.ts'
import type { Exchange } from '../../http/exchange.ts'
import { redirect } from '../../http/responses.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import { createRequestContext } from '../../lib/request-scope.ts'
import { IdpClientBase } from '../../operations.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { passThrough } from '../../routes/pass-through.ts'
import { bindNode } from '../node/binding.ts'
import { requestTarget } from '../node/request.ts'
import { sendResponse } from '../node/send.ts'

/** Request type of this entry: Express's. */
export type FrameworkRequest = ExpressRequest
/** Response type of this entry: Express's. */
export type FrameworkResponse = ExpressResponse

export interface PageGuardOptions extends GuardRequirements {
  /** Path to redirect to after the login; default: the URL of the request. Always on the application's origin. */
  returnTo?: string | ((req: FrameworkRequest) => string | Promise<string>)
}

const ambient = createRequestContext<Binding>()

/** Decides about one request: a response rejects it, `null` lets it pass. */
type Decision = (exchange: Exchange, req: FrameworkRequest) => Promise<Response | null>

/** Validates what the host passes, at each request: peer dependencies are not limited to versions that work. */
function assertHost(method: string, req: Partial<FrameworkRequest>, res: Partial<FrameworkResponse>): void {
  if (typeof req?.url === 'string' && typeof res?.setHeader === 'function') return
  const detail = `${method} takes (req, res, next) of Express 4 or 5, or request and response of node:http: ctx.req and ctx.res of Koa, request.raw and reply.raw of Fastify.`
  throw new IdpError('INVALID_ARGUMENTS', { detail })
}

/**
 * Runs a handler and forwards its rejection to the application: by `next` if that accepts an error, because Express 4
 * and Connect ignore promises; otherwise by the promise itself, because on Koa, whose `next` accepts none, a call would
 * let the request pass. Only objects are forwarded: a falsy value would also let it pass, and Express interprets some
 * strings.
 */
async function forwardRejection(
  next: ExpressNext | undefined,
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

/**
 * OpenID Connect for Express 4 and 5. Construct it once per process; it holds no state of any user. Mount `middleware`
 * before the routes: inside it, and behind a guard, operations need no arguments. Elsewhere they need `req`, and `res`
 * where a cookie may be written (`AMBIENT_REQUEST_MISSING` otherwise).
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * const idp = new IdpClient()
 * app.use(idp.middleware)
 * app.get('/account', idp.withPageAuthRequired(), async (req, res) => {
 *   const session = await idp.getSession()
 *   res.json(session?.user)
 * })
 */
export class IdpClient extends IdpClientBase<FrameworkRequest, FrameworkResponse> {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(createApplication(options, { features: allFeatures }))
  }

  /**
   * Responds to requests for the auth routes; passes any other request to the application and extends its session if
   * due. May be mounted before or after body parsers. Bound to the instance.
   *
   * Returns the promise of `next`, so that Koa waits for the application.
   */
  readonly middleware: ExpressRequestHandler = (req, res, next) =>
    forwardRejection(next, () => {
      assertHost('middleware', req, res)
      const binding = bindNode(req, res)
      const { exchange } = binding
      return chain(dispatch(this.application, exchange, req), (response) =>
        chain(response ? undefined : passThrough(this.application, exchange), () =>
          chain(binding.commit(), () =>
            response ? sendResponse(res, response) : ambient.run(binding, next),
          ),
        ),
      )
    })

  /**
   * Protects pages: without a session, or with one that does not meet the requirements, redirects the browser to a
   * login that requests what is missing and returns to the page afterwards. Mount it before the handler, or pass the
   * handler. Throws `InvalidConfigurationError` for an unknown option. Errors go to `next(error)` (on hosts whose
   * `next` accepts no error the promise rejects), including `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION`
   * and `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements.
   */
  withPageAuthRequired(options?: PageGuardOptions): ExpressRequestHandler
  withPageAuthRequired(handler: ExpressRequestHandler, options?: PageGuardOptions): ExpressRequestHandler
  withPageAuthRequired(
    first?: ExpressRequestHandler | PageGuardOptions,
    second?: PageGuardOptions,
  ): ExpressRequestHandler {
    const name = 'withPageAuthRequired'
    const [handler, options = {}] =
      typeof first === 'function' ? [first, second] : [undefined, onlyOptions(name, first, second)]
    const requirements = readRequirements(name, options, ['returnTo'])
    const { returnTo } = options
    return this.#guard(handler, async (exchange, req) => {
      const access = await pageAccess(this.application, exchange, {
        requirements,
        returnTo: () => (typeof returnTo === 'function' ? returnTo(req) : (returnTo ?? requestTarget(req))),
      })
      return access.kind === 'granted' ? null : redirect(access.location)
    })
  }

  /**
   * Protects APIs: without a session responds 401 with a JSON body, never with a redirect. A session that does not meet
   * the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403 (`organization`,
   * `scope`). Mount it before the handler, or pass the handler. Throws `InvalidConfigurationError` for an unknown
   * option.
   */
  withApiAuthRequired(options?: ApiGuardOptions): ExpressRequestHandler
  withApiAuthRequired(handler: ExpressRequestHandler, options?: ApiGuardOptions): ExpressRequestHandler
  withApiAuthRequired(
    first?: ExpressRequestHandler | ApiGuardOptions,
    second?: ApiGuardOptions,
  ): ExpressRequestHandler {
    const name = 'withApiAuthRequired'
    const [handler, options = {}] =
      typeof first === 'function' ? [first, second] : [undefined, onlyOptions(name, first, second)]
    const requirements = readRequirements(name, options)
    return this.#guard(handler, (exchange) => apiRefusal(this.application, exchange, requirements))
  }

  #guard(handler: ExpressRequestHandler | undefined, decide: Decision): ExpressRequestHandler {
    return (req, res, next) =>
      forwardRejection(next, async () => {
        assertHost('a guard', req, res)
        const binding = bindNode(req, res)
        const rejection = await decide(binding.exchange, req)
        if (rejection) return sendResponse(res, rejection)
        return ambient.run(binding, () => (handler ? handler(req, res, next) : next()))
      })
  }

  /** @internal */
  protected override async respond(
    req: FrameworkRequest | undefined,
    res: FrameworkResponse | undefined,
    operation: (exchange: Exchange) => Promise<Response>,
  ): Promise<Response> {
    const binding = this.bind(req, res)
    const { cookies } = binding.exchange
    const response = await within(binding, (exchange) => operation({ ...exchange, canWrite: () => true }))
    cookies.flush(headersSink(response.headers))
    return response
  }

  /** @internal */
  protected override bind(req?: FrameworkRequest, res?: FrameworkResponse): Binding {
    const binding = req ? bindNode(req, res) : ambient.get()
    if (!binding) throw new IdpError('AMBIENT_REQUEST_MISSING')
    return binding
  }
}
