import type { GetServerSideProps, NextApiHandler, NextApiRequest, NextApiResponse } from 'next'
import type { NextRequest, NextResponse } from 'next/server.js'
import type { ReactNode } from 'react'
import type { PageRouteKey, RoutePaths } from '../../config/config.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { createApplication } from '../../engine.ts'
import type { AcceptEntry, AcceptedAuth } from '../../guards/accepted-auth.ts'
import { onlyOptions } from '../../guards/guard-options.ts'
import type { ApiGuardOptions, EitherGuardOptions, ResourceGuardOptions } from '../../guards/requirements.ts'
import type { Binding, Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import { IdpClientBase } from '../../operations.ts'
import type { ProxyOptions } from '../../proxy/options.ts'
import type { User } from '../../session/model/session-data.ts'
import type { HostRequest, HostResponse } from './binding.ts'
import { bind } from './binding.ts'
import type { AppHandlers } from './handlers.ts'
import { appHandlers, pagesHandler, respondByRoute } from './handlers.ts'
import type { NextStep } from './middleware.ts'
import { runMiddleware } from './middleware.ts'
import { reportUnreached } from './mount-check.ts'
import type { AppRouteHandler, AuthApiHandler } from './protect-api.ts'
import { protectApi } from './protect-api.ts'
import type { PageComponent, PageGuardOptions, PagesGuardOptions } from './protect-page.ts'
import { protectAppPage, protectPagesPage } from './protect-page.ts'
import { NextApiProxy } from './proxy.ts'
import { respondWith } from './respond.ts'
import { isWebRequest } from './web.ts'

/** Request type of this entry. Operations also accept a plain `Request`, and `req` of the Pages Router. */
export type FrameworkRequest = NextRequest
/** Response type of this entry. Operations also write to any `Response`, and to `res` of the Pages Router. */
export type FrameworkResponse = NextResponse

/** Paths of the routes that pages link to or call, without base path. */
export type PublicRoutes = Pick<RoutePaths, PageRouteKey>

/**
 * OpenID Connect for Next.js, App Router and Pages Router. Construct it once, in a module that proxy, pages and route
 * handlers import; it holds no state of any user. Operations without a request work wherever `headers()` of Next.js
 * does; all others need the request, and the response for cookies. In the proxy pass request and response: there
 * Next.js replaces the cookies of the response by what `cookies()` wrote.
 *
 * Every operation throws `InvalidConfigurationError` while a required option is missing.
 */
export class IdpClient extends IdpClientBase<HostRequest, HostResponse, FrameworkResponse> {
  /** Throws `InvalidConfigurationError` for a wrong option; missing options are only logged. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    super(createApplication(options, 'next'))
  }

  /** Paths for `<IdpProvider routes={idp.routes} basePath={idp.basePath}>`: the browser cannot read every variable. */
  get routes(): PublicRoutes {
    const {
      connectAccount: _connect,
      callback: _callback,
      backChannelLogout: _notice,
      frontChannelLogout: _frame,
      jwks: _keys,
      ...publicRoutes
    } = this.application.settings.routes
    return publicRoutes
  }

  /** Base path, `''` or `/path`, from `NEXT_PUBLIC_BASE_PATH` or `FRAMEWORK_PUBLIC_BASE_PATH`. */
  get basePath(): string {
    return this.application.settings.basePath
  }

  /**
   * The proxy (`middleware` before Next.js 16): responds to requests for the auth routes and lets every other request
   * pass. With another middleware as `next`, returns its response (including rewrites, redirects and request headers)
   * with our cookies added; the same as `isContinue(response) ? continueWith(response, other) : response`.
   */
  readonly middleware = (
    request: FrameworkRequest | Request,
    next?: NextStep | object,
  ): Promise<FrameworkResponse> => runMiddleware(this.application, request, next)

  /**
   * Returns the auth routes as a catch-all route handler, instead of the proxy: `export const { GET, POST, ... } =
   * idp.handlers()`.
   */
  handlers(): AppHandlers {
    return appHandlers(respondByRoute(this.application))
  }

  /**
   * Lets pages call an API through the origin of the application, with the access token of the session; pages need no token. A
   * route serves it, below `prefix`. Needs a session, and a page of this origin: anything else gets a JSON error with
   * `idp-client-error: 1`. Create it once. Throws `InvalidConfigurationError` for a wrong option. No I/O.
   *
   * @example
   * // app/api/orders/[[...path]]/route.ts
   * const orders = idp.proxy({ prefix: '/api/orders', target: 'https://orders.example.com/v1' })
   * export const { GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS } = orders.handlers
   */
  override proxy(options: ProxyOptions): NextApiProxy {
    return new NextApiProxy(this.application, options)
  }

  /**
   * Returns the auth routes as a catch-all API route of the Pages Router, instead of the proxy: the default export of
   * `pages/api/auth/[...idp].ts`, with `routes` below `/api/auth`.
   */
  pagesHandler(): (request: NextApiRequest, response: NextApiResponse) => Promise<void> {
    return pagesHandler(respondByRoute(this.application))
  }

  /**
   * Protects a page: without a session, or with one that does not meet the requirements, redirects the browser to a
   * login that requests what is missing and returns to the page afterwards. The first argument is a component (App
   * Router); without one the result is a `getServerSideProps` (Pages Router) that adds the prop `user`, unless the page
   * has one of that name. Throws `InvalidConfigurationError` for an unknown option. The page throws if the check itself
   * fails, so that an error never shows it, and `INSUFFICIENT_USER_AUTHENTICATION`, `WRONG_ORGANIZATION` or
   * `INSUFFICIENT_SCOPE` if such a login has just failed to meet the requirements; `ACCESS_DENIED` if `authorize`
   * denies access.
   */
  withPageAuthRequired<Props>(
    component: PageComponent<Props>,
    options?: PageGuardOptions<Props>,
  ): (props: Props) => Promise<ReactNode>
  withPageAuthRequired<Props extends Record<string, unknown> = Record<string, unknown>>(
    options?: PagesGuardOptions<Props>,
  ): GetServerSideProps<Props & { user: User }>
  withPageAuthRequired(
    first: PageComponent<never> | PagesGuardOptions = {},
    options?: PageGuardOptions<never>,
  ): unknown {
    return typeof first === 'function'
      ? protectAppPage(this.application, first, options)
      : protectPagesPage(this.application, onlyOptions('withPageAuthRequired', first, options))
  }

  /**
   * Protects a route handler (App Router) or an API route (Pages Router): without a session responds 401 with a JSON
   * body, never with a redirect. A session that does not meet the requirements gets a 401 with the challenge of RFC
   * 9470 (`maxAge`, `acr`, `amr`) or a 403 (`organization`, `scope`). Throws `InvalidConfigurationError` for an unknown
   * option.
   */
  withApiAuthRequired<Context = unknown>(
    handler: AppRouteHandler<Context>,
    options?: ApiGuardOptions,
  ): AppRouteHandler<Context, Promise<Response>>
  /**
   * Protects a route handler that access tokens may call: its second argument has the caller as `auth`. In an API
   * route of the Pages Router that is `req.idpAuth`.
   */
  withApiAuthRequired<Context = unknown, E extends AcceptEntry = AcceptEntry, S extends string = string>(
    handler: AppRouteHandler<Context & { readonly auth: AcceptedAuth<E> }>,
    options: ResourceGuardOptions<E, S>,
  ): AppRouteHandler<Context, Promise<Response>>
  withApiAuthRequired(handler: NextApiHandler, options?: ApiGuardOptions): NextApiHandler
  withApiAuthRequired<E extends AcceptEntry, S extends string = string>(
    handler: AuthApiHandler<AcceptedAuth<E>>,
    options: ResourceGuardOptions<E, S>,
  ): NextApiHandler
  withApiAuthRequired(
    handler: AppRouteHandler<never> | NextApiHandler | AuthApiHandler<never>,
    options: EitherGuardOptions = {},
  ): unknown {
    return protectApi(this.application, handler, options)
  }

  /** @internal */
  protected override respond(
    request: HostRequest | undefined,
    response: HostResponse | undefined,
    operation: (exchange: Exchange) => MaybePromise<Response>,
  ): Promise<FrameworkResponse> {
    return respondWith(request, response, operation)
  }

  /** @internal */
  protected override bind(request?: HostRequest, response?: HostResponse): MaybePromise<Binding> {
    return chain(bind(request, response), (binding) => {
      // A Web request may be that of the proxy itself, before it calls the middleware.
      if (!isWebRequest(request)) reportUnreached(this.application, binding.exchange.request.headers)
      return binding
    })
  }
}
