import type { IdpClientOptions } from '../../config/options.ts'
import { IdpError } from '../../errors/base.ts'
import { HostClient } from '../../host-client.ts'
import { headersSink } from '../../http/cookie-text.ts'
import type { Binding, Exchange, RequestView } from '../../http/exchange.ts'
import { within } from '../../http/exchange.ts'
import { markResponded, openBinding, openRequest } from '../../http/host-state.ts'
import { noStore } from '../../http/responses.ts'
import type { AsyncContext } from '../../lib/async-context.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain, conclude, recover } from '../../lib/chain.ts'
import { requestContext } from '../../lib/request-scope.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { isOwnCookie, passThrough } from '../../routes/pass-through.ts'
import type { DeferredBinding, WebTarget } from './binding.ts'
import { bindDeferred, bindRequest, flushOnto, WebRequestView } from './binding.ts'
import { continueResponse, withCookies, withoutStoring } from './continue.ts'

/** How a framework on Web `Request` and `Response` passes requests to its handlers. */
export interface WebHost<Context extends object> {
  /** The line that mounts the middleware; if there is one, guards require it. */
  readonly mountLine?: string
  /** Page guards return the session, so that they throw what is no redirect. */
  readonly redirectsOnly?: boolean
  /** Recognizes a context of the framework among the arguments of an operation. */
  isContext(value: object): boolean
  /** Returns the Web request of a context. */
  toRequest(context: Context): Request
  /** Returns the object that all contexts of one request share, if that is not the Web request. */
  toIdentity?(context: Context): object
  /** Returns path and query of a page, if the framework tells; default: those of the URL of its request. */
  toPath?(context: Context, url: URL): string | undefined
  /** Returns the view of a request, if the framework may have read its body and keeps it. */
  toView?(context: Context): RequestView
}

/** A host that passes the Web request itself to its handlers. */
export const WEB_REQUEST_HOST: WebHost<Request> = {
  isContext: () => false,
  toRequest: (request) => request,
}

/** The binding of the request that the current middleware serves. */
export const ambient: AsyncContext<Binding> = requestContext('web/2')

/**
 * The client of a framework on Web `Request` and `Response`. Operations accept the framework's context or a `Request`.
 * Inside the middleware cookies are written to the response that it returns; afterwards the request is read-only.
 */
export abstract class WebHostClient<Context extends object = Request> extends HostClient<
  Context,
  Context | Request,
  WebTarget
> {
  readonly #host: WebHost<Context>

  /** @internal */
  protected constructor(options: IdpClientOptions, host: WebHost<Context>) {
    const toPath = host.toPath ?? ((_context: Context, { pathname, search }: URL) => pathname + search)
    super(options, {
      ...host,
      isOpen: (context) => openBinding(this.#toIdentity(context)) !== undefined,
      toPath: (context, { request: { url } }) => (url ? toPath(context, url) : undefined),
    })
    this.#host = host
  }

  #isContext(given: Context | Request): given is Context {
    return this.#host.isContext(given)
  }

  #toRequest(given: Context | Request): Request {
    return this.#isContext(given) ? this.#host.toRequest(given) : given
  }

  #toIdentity(given: Context | Request): object {
    return (this.#isContext(given) && this.#host.toIdentity?.(given)) || this.#toRequest(given)
  }

  /**
   * @internal Responds to requests for the auth routes; passes any other request to `next`, inside the ambient scope, and
   * adds the cookies to its response. Without `next` returns a continue response, if the host needs no middleware: another
   * one would send that to the browser.
   */
  protected serve(
    context: Context,
    next?: (context: Context) => MaybePromise<Response>,
  ): MaybePromise<Response> {
    const request = this.#toRequest(context)
    const { mountLine = 'idp.middleware(request, next)' } = this.#host
    if (typeof next !== 'function' && (next || this.#host.mountLine)) {
      throw new IdpError('INVALID_ARGUMENTS', { detail: `Mount the middleware with next: ${mountLine}` })
    }
    const view = this.#host.toView?.(context) ?? new WebRequestView(request)
    const binding = bindDeferred(request, view)
    const { exchange } = binding
    // Operations find the binding by the context and by its request.
    const keys = new Set([this.#toIdentity(context), request])
    const leaves = [...keys].map((key) => openRequest(key, binding, this, mountLine))
    const passOn = (): MaybePromise<Response> =>
      next ? this.#respondWith(binding, () => next(context)) : continueResponse(exchange.cookies)
    return conclude(
      () =>
        chain(dispatch(this.application, exchange, request), (routed) => {
          if (!routed) return chain(passThrough(this.application, exchange), passOn)
          flushOnto(exchange.cookies, routed.headers)
          return routed
        }),
      () => {
        binding.close()
        for (const leave of leaves) leave()
        // Without `next` the application responds later, and around an inner middleware after it.
        if (next && !openBinding(request)) markResponded(request)
      },
    )
  }

  /** Returns the response of the application, or throws the one that it throws, with the cookies of the request. */
  #respondWith(binding: DeferredBinding, next: () => MaybePromise<Response>): MaybePromise<Response> {
    const { cookies } = binding.exchange
    const older = cookies.pending()
    const isOurs = (name: string): boolean => isOwnCookie(this.application, name)
    const complete = (response: Response): Response => {
      const result = withCookies({ cookies, isOurs, older }, response)
      return binding.isPrivate() ? withoutStoring(result) : result
    }
    const result = recover(
      () => ambient.run(binding, next),
      (thrown) => {
        throw thrown instanceof Response ? complete(thrown) : thrown
      },
    )
    return chain(result, complete)
  }

  /** @internal */
  protected override async respond(
    request: Context | Request | undefined,
    target: WebTarget | undefined,
    operation: (exchange: Exchange) => MaybePromise<Response>,
  ): Promise<Response> {
    const binding = this.bind(request, target)
    return within(binding, async (exchange) => {
      const { cookies } = exchange
      const isDeferred = !target && exchange.canWrite()
      const response = await operation({ ...exchange, canWrite: () => true })
      if (!isDeferred) flushOnto(cookies, response.headers)
      // The middleware writes them, too: applications may pass on nothing but the location.
      else if (cookies.isPending) {
        cookies.copyTo(headersSink(response.headers))
        noStore(response.headers)
      }
      return response
    })
  }

  /** @internal */
  protected override bind(request?: Context | Request, target?: WebTarget): Binding {
    if (request) {
      const open = openBinding(this.#toIdentity(request))
      return open && !target ? open : bindRequest(this.#toRequest(request), target, open?.exchange)
    }
    const binding = ambient.getStore()
    if (!binding) throw this.requestMissing()
    return binding
  }
}
