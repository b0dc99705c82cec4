import type { IdpClientOptions } from '../../config/options.ts'
import { createApplication } from '../../engine.ts'
import type { AcceptEntry } from '../../guards/accepted-auth.ts'
import type { ApiGuardResult, GuardResult } from '../../guards/guards.ts'
import type { HostPageGuardOptions } from '../../guards/host-guards.ts'
import type { AnyApiGuardOptions } from '../../guards/requirements.ts'
import type {
  FrameworkResponse as FastifyReply,
  FrameworkRequest as FastifyRequest,
  FastifyServer,
} from '../fastify/plugin.ts'
import { addHooks, createHook, endRequest, isReply, sendReply } from '../fastify/plugin.ts'
import type { NodeRequest, NodeResponse } from '../node/binding.ts'
import { NodeHostClient } from '../node/node-host.ts'
import { sendResponse as sendNodeResponse } from '../node/send.ts'

/** Request type of this entry: that of Express or of Fastify. */
export type FrameworkRequest = NodeRequest | FastifyRequest
/** Response type of this entry: that of Express or of Fastify. */
export type FrameworkResponse = NodeResponse | FastifyReply

/** Options of a page guard of this entry. */
export type PageGuardOptions = HostPageGuardOptions<FrameworkRequest>

/** The line that mounts the client. */
export const MOUNT_LINE = 'imports: [IdpModule.forRoot()] in the root module.'

type ExpressMiddleware = (request: NodeRequest, response: NodeResponse, next: (error?: Error) => void) => void

/** The used part of the server of a platform: an application of Express or of Fastify. */
export type PlatformServer = FastifyServer | { use(middleware: ExpressMiddleware): unknown }

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
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(createApplication(options), {
      mountLine: MOUNT_LINE,
      isResponse: isReply,
      toNode: (request, response) => ({
        request: 'raw' in request ? request.raw : request,
        response: response && ('raw' in response ? response.raw : response),
      }),
    })
  }

  /** @internal Serves the auth routes on the server of a platform, in front of its routes. */
  mount(server: PlatformServer): void {
    if ('addHook' in server) {
      addHooks(server, {
        settings: this.application.settings,
        serve: (request, reply, next) =>
          this.serve(request, reply, { next, send: (response) => endRequest(reply, response) }),
        inScope: (request, next) => this.inScope(request, undefined, next),
      })
      return
    }
    const middleware: ExpressMiddleware = createHook((request, response, next) =>
      this.serve(request, response, { next, send: (result) => sendNodeResponse(response, result) }),
    )
    server.use(middleware)
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
