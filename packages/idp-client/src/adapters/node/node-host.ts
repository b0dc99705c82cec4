import type { IdpClientOptions } from '../../config/options.ts'
import { HostClient } from '../../host-client.ts'
import { headersSink } from '../../http/cookie-text.ts'
import type { Binding, Exchange } from '../../http/exchange.ts'
import { within } from '../../http/exchange.ts'
import type { HostKinds } from '../../http/host-arguments.ts'
import { openBinding, openRequest } from '../../http/host-state.ts'
import { noStore } from '../../http/responses.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import { requestContext } from '../../lib/request-scope.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { passThrough } from '../../routes/pass-through.ts'
import type { NodeRequest, NodeResponse } from './binding.ts'
import { bindNode } from './binding.ts'
import { requestTarget } from './request.ts'

/** Request and response of Node that a framework wraps. */
export interface NodePair {
  readonly request: NodeRequest
  /** Absent where the framework passes only the request. */
  readonly response?: NodeResponse | undefined
}

/** How a framework on `node:http` passes requests to its handlers. */
export interface NodeHost<Context extends object, FrameworkResponse extends object> extends HostKinds {
  /** The line that mounts the middleware; if there is one, guards require it. */
  readonly mountLine?: string
  /** Returns what the framework wraps; the response is the one that the operation got, if any. */
  toNode(context: Context, response?: FrameworkResponse): NodePair
}

interface Serving<Sent, Passed> {
  send(response: Response): Sent
  next(): Passed
  /** The binding of a request that the application sends to itself. */
  readonly binding?: Binding | undefined
}

const ambient = requestContext<Binding>('node/2')

/**
 * The client of a framework on `node:http`. Operations accept the framework's request or context. Inside the middleware
 * they need no response. Once the head of the response has been sent, the request is read-only.
 */
export abstract class NodeHostClient<
  Context extends object,
  FrameworkResponse extends object,
> extends HostClient<Context, Context, FrameworkResponse> {
  readonly #host: NodeHost<Context, FrameworkResponse>

  /** @internal */
  protected constructor(options: IdpClientOptions, host: NodeHost<Context, FrameworkResponse>) {
    super(options, {
      ...host,
      isOpen: (context) => openBinding(host.toNode(context).request) !== undefined,
      toPath: (context) => requestTarget(host.toNode(context).request),
    })
    this.#host = host
  }

  /**
   * @internal Responds to requests for the auth routes with `send`; passes any other request to `next`, inside the ambient
   * scope. Returns what that returned.
   */
  protected serve<Sent, Passed>(
    context: Context,
    response: FrameworkResponse | undefined,
    { next, send, binding: given }: Serving<Sent, Passed>,
  ): MaybePromise<Awaited<Sent> | Awaited<Passed>> {
    const { request, response: target } = this.#host.toNode(context, response)
    const binding = given ?? bindNode(request, target)
    const { exchange } = binding
    openRequest(request, binding, this, this.#host.mountLine)
    return chain(dispatch(this.application, exchange, context), (routed) =>
      chain(routed ? undefined : passThrough(this.application, exchange), () =>
        chain(binding.commit(), () => (routed ? send(routed) : ambient.run(binding, next))),
      ),
    ) as MaybePromise<Awaited<Sent> | Awaited<Passed>>
  }

  /** @internal Runs a handler inside the ambient scope of its request. */
  protected inScope<T>(context: Context, response: FrameworkResponse | undefined, handler: () => T): T {
    return ambient.run(this.bind(context, response), handler)
  }

  /** @internal */
  protected override async respond(
    context: Context | undefined,
    response: FrameworkResponse | undefined,
    operation: (exchange: Exchange) => MaybePromise<Response>,
  ): Promise<Response> {
    const binding = this.bind(context, response)
    const result = await within(binding, (exchange) => operation({ ...exchange, canWrite: () => true }))
    const { cookies } = binding.exchange
    // Cookies that no response of Node took.
    if (cookies.isPending) noStore(result.headers)
    cookies.flush(headersSink(result.headers))
    return result
  }

  /** @internal */
  protected override bind(context?: Context, response?: FrameworkResponse): Binding {
    if (!context) {
      const binding = ambient.getStore()
      if (binding) return binding
      throw this.requestMissing()
    }
    const { request, response: target } = this.#host.toNode(context, response)
    return (target ? undefined : openBinding(request)) ?? bindNode(request, target)
  }
}
