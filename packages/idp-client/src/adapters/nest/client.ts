import type { IdpClientOptions } from '../../config/options.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { ApiGuardResult, GuardResult } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import type { ProxyOptions } from '../../proxy/options.ts'
import type { ApiProxy } from '../../proxy/proxy.ts'
import type {
  FrameworkResponse as FastifyReply,
  FrameworkRequest as FastifyRequest,
} from '../fastify/plugin.ts'
import { addHooks, createHook, endRequest, isReply, sendReply } from '../fastify/plugin.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'
import { NodeHostClient } from '../node/node-host.ts'
import { sendResponse as sendNodeResponse } from '../node/send.ts'
import type { ExpressMiddleware, PlatformServer } from './early-middleware.ts'
import { EarlyMiddleware } from './early-middleware.ts'

/** Request type of this entry: that of Express or of Fastify. */
export type FrameworkRequest = NodeRequest | FastifyRequest
/** Response type of this entry: that of Express or of Fastify. */
export type FrameworkResponse = NodeResponse | FastifyReply

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/** The line that mounts the client. */
export const MOUNT_LINE = 'imports: [IdpModule.forRoot()] in the root module.'

/**
 * Sends a Web `Response` through the response of Express or the reply of Fastify: status, headers and body. Other headers are
 * kept, and `Set-Cookie` lines are added.
 *
 * @example
 * \@Get('join')
 * async join(@Res() res: Response) {
 *   await sendResponse(res, await this.idp.startInteractiveLogin({ returnTo: '/welcome' }))
 * }
 */
export async function sendResponse(target: FrameworkResponse, response: Response): Promise<void> {
  if ('raw' in target) await sendReply(target, response)
  else await sendNodeResponse(target, response)
}

/**
 * OpenID Connect for NestJS, on Express and on Fastify. `IdpModule` provides it; inject it by its class. In handlers, guards
 * and services that serve a request operations need no arguments. Elsewhere they need the request, and the response where
 * a cookie may be written (`AMBIENT_REQUEST_MISSING` otherwise).
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 *
 * @example
 * constructor(private readonly idp: IdpClient) {}
 */
export class IdpClient extends NodeHostClient<FrameworkRequest, FrameworkResponse> {
  /** @internal */
  readonly early: EarlyMiddleware = new EarlyMiddleware()

  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(options, {
      mountLine: MOUNT_LINE,
      isResponse: isReply,
      toNode: (request, response) => ({
        request: 'raw' in request ? request.raw : request,
        response: response && ('raw' in response ? response.raw : response),
      }),
    })
  }

  /**
   * Lets pages call an API through the origin of the application: requests below `prefix` are sent on to `target`, with the access
   * token of the session. Pages need no token. Needs a session, and a page of this origin: anything else gets a JSON error with
   * `idp-client-error: 1`. Create it once, in the constructor of a provider or before `app.listen()`: Nest mounts its body parsers
   * then, and a body that they have read cannot be sent on. Throws `InvalidConfigurationError` for a wrong option. No I/O.
   *
   * @example
   * const app = await NestFactory.create(AppModule)
   * app.get(IdpClient).proxy({ prefix: '/api/orders', target: 'https://orders.example.com/v1' })
   * await app.listen(3000)
   */
  override proxy(options: ProxyOptions): ApiProxy<FrameworkRequest, FrameworkResponse> {
    const proxy = super.proxy(options)
    this.early.add((request, response, next) => {
      const isCovered = proxy.covers(this.bind(request, response).exchange.request)
      return isCovered ? this.#onExpress(request, response, next) : next()
    })
    return proxy
  }

  readonly #onExpress: ExpressMiddleware = createHook((request, response, next) =>
    this.serve(request, response, { next, send: (result) => sendNodeResponse(response, result) }),
  )

  /** @internal Serves the auth routes on the server of a platform, in front of its routes. */
  mount(server: PlatformServer): void {
    if ('addHook' in server) {
      addHooks(server, {
        application: this.application,
        serve: (request, reply, next) =>
          this.serve(request, reply, { next, send: (response) => endRequest(reply, response) }),
        inScope: (request, next) => this.inScope(request, undefined, next),
      })
      return
    }
    server.use(this.#onExpress)
  }

  /** @internal Creates the guard of a page. */
  createPageGuard(options?: PageGuardOptions): (request: FrameworkRequest) => Promise<GuardResult> {
    return this.pageGuard(options, 'RequireLogin')
  }

  /** @internal Creates the guard of an API. */
  createApiGuard<E extends AcceptEntry, S extends string>(
    options?: AnyApiGuardOptions<E, S>,
  ): (request: FrameworkRequest) => Promise<ApiGuardResult> {
    return this.apiGuard(options, 'RequireAuth')
  }
}
