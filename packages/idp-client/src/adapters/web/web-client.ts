import type { Binding } from '../../binding.ts'
import { within } from '../../binding.ts'
import { IdpError } from '../../errors/base.ts'
import { readRequirements } from '../../guards/guard-options.ts'
import { apiRefusal, pageAccess } from '../../guards/guards.ts'
import type { ApiGuardOptions, GuardRequirements } from '../../guards/requirements.ts'
import type { Exchange } from '../../http/exchange.ts'
import { redirect } from '../../http/responses.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import { createRequestContext } from '../../lib/request-scope.ts'
import { IdpClientBase } from '../../operations.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { passThrough } from '../../routes/pass-through.ts'
import type { WebTarget } from './binding.ts'
import { bindDeferred, bindRequest, flushOnto } from './binding.ts'
import { continueResponse, continueWith } from './continue.ts'

/** Request type of this entry: the Web standard's. */
export type FrameworkRequest = Request
/** Response type of this entry: the Web standard's. */
export type FrameworkResponse = Response

/** A handler of the application: gets the request and any further arguments of its framework. */
export type WebHandler<Rest extends unknown[] = unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>

export interface PageGuardOptions extends GuardRequirements {
  /**
   * Path to redirect to after the login; default: path and query of the request. Always on the application's origin.
   */
  returnTo?: string | ((request: Request) => string | Promise<string>)
}

const ambient = createRequestContext<Binding>()

/** The client of every entry for hosts with Web `Request` and `Response`; the entries differ in their features. */
export abstract class WebClient extends IdpClientBase<FrameworkRequest, Response | Headers> {
  /**
   * Responds to requests for the auth routes. Any other request is passed on: to `next`, inside the ambient scope, or
   * with a continue response (see `isContinue`, `continueWith`) that carries the cookies to set.
   */
  readonly middleware = async (
    request: FrameworkRequest,
    next?: (request: FrameworkRequest) => FrameworkResponse | Promise<FrameworkResponse>,
  ): Promise<FrameworkResponse> => {
    const binding = bindDeferred(request)
    const { exchange } = binding
    const { cookies } = exchange
    const passOn = (): MaybePromise<FrameworkResponse> => {
      if (!next) return continueResponse(cookies)
      const result = ambient.run(binding, () => next(request))
      return chain(result, (response) => continueWith(continueResponse(cookies), response))
    }
    return chain(dispatch(this.application, exchange, request), (response) => {
      if (!response) return chain(passThrough(this.application, exchange), passOn)
      flushOnto(cookies, response.headers)
      return response
    })
  }

  /**
   * Wraps a page handler: without a session, or with one that does not meet the requirements, redirects the browser to
   * a login that requests what is missing and returns to the page afterwards. Throws `InvalidConfigurationError` for an
   * unknown option; the handler throws `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or `INSUFFICIENT_SCOPE`
   * if such a login has just failed to meet the requirements.
   */
  withPageAuthRequired<Rest extends unknown[]>(
    handler: WebHandler<Rest>,
    options: PageGuardOptions = {},
  ): WebHandler<Rest> {
    const requirements = readRequirements('withPageAuthRequired', options, ['returnTo'])
    const { returnTo } = options
    return async (request, ...rest) => {
      const { exchange } = this.bind(request)
      const { pathname, search } = new URL(request.url)
      const access = await pageAccess(this.application, exchange, {
        requirements,
        returnTo: () =>
          typeof returnTo === 'function' ? returnTo(request) : (returnTo ?? pathname + search),
      })
      return access.kind === 'granted' ? handler(request, ...rest) : redirect(access.location)
    }
  }

  /**
   * Wraps an API handler: without a session responds 401 with a JSON body, never with a redirect. A session that does
   * not meet the requirements gets a 401 with the challenge of RFC 9470 (`maxAge`, `acr`, `amr`) or a 403
   * (`organization`, `scope`). Throws `InvalidConfigurationError` for an unknown option.
   */
  withApiAuthRequired<Rest extends unknown[]>(
    handler: WebHandler<Rest>,
    options: ApiGuardOptions = {},
  ): WebHandler<Rest> {
    const requirements = readRequirements('withApiAuthRequired', options)
    return async (request, ...rest) => {
      const rejection = await apiRefusal(this.application, this.bind(request).exchange, requirements)
      return rejection ?? handler(request, ...rest)
    }
  }

  /** @internal */
  protected override async respond(
    request: FrameworkRequest | undefined,
    target: WebTarget | undefined,
    operation: (exchange: Exchange) => MaybePromise<Response>,
  ): Promise<FrameworkResponse> {
    return within(this.bind(request, target), async (exchange) => {
      const response = await operation({ ...exchange, canWrite: () => true })
      flushOnto(exchange.cookies, response.headers)
      return response
    })
  }

  /** @internal */
  protected override bind(request?: FrameworkRequest, response?: WebTarget): Binding {
    const binding = request ? bindRequest(request, response) : ambient.get()
    if (!binding) throw new IdpError('AMBIENT_REQUEST_MISSING')
    return binding
  }
}
