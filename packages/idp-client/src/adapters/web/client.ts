import { createAsyncContext } from '#async-context'
import type { Binding } from '../../binding.ts'
import { within } from '../../binding.ts'
import type { AccessTokenFactory, FetcherOptions } from '../../config/fetcher.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import type { Application } from '../../engine.ts'
import { createApplication } from '../../engine.ts'
import { IdpError } from '../../errors/base.ts'
import type { Fetcher } from '../../flows/fetcher.ts'
import type { AccessToken } from '../../flows/get-access-token.ts'
import { getAccessToken } from '../../flows/get-access-token.ts'
import { getSession } from '../../flows/get-session.ts'
import { updateSession } from '../../flows/update-session.ts'
import { isRequestLike, readHostArguments } from '../../http/is-request.ts'
import { redirect } from '../../http/responses.ts'
import { dispatch } from '../../routes/dispatch.ts'
import { apiRefusal, pageAccess } from '../../routes/guards.ts'
import { passThrough } from '../../routes/pass-through.ts'
import type { StartInteractiveLoginOptions } from '../../routes/start-login.ts'
import { startLogin } from '../../routes/start-login.ts'
import type { SessionData } from '../../session/session-data.ts'
import type { GetAccessTokenOptions } from '../../tokens/want.ts'
import type { WebTarget } from './binding.ts'
import { bindDeferred, bindRequest, flushOnto } from './binding.ts'
import { continueResponse, continueWith } from './continue.ts'

/** The request type of this entry: the Web standard's. */
export type FrameworkRequest = Request
/** The response type of this entry: the Web standard's. */
export type FrameworkResponse = Response

/** A handler of the application: gets the request and whatever else its framework passes. */
export type WebHandler<Rest extends unknown[] = unknown[]> = (
  request: Request,
  ...rest: Rest
) => Response | Promise<Response>

export interface PageGuardOptions {
  /** Where to go after the login; default: the path and query of the request. Never leaves the application's origin. */
  returnTo?: string | ((request: Request) => string | Promise<string>)
}

const ambient = createAsyncContext<Binding>()

/**
 * OpenID Connect for hosts that speak Web `Request` and `Response`. Construct it once per process; it keeps no state of
 * any user. Operations without a request need the scope that `middleware(request, next)` opens
 * (`AMBIENT_REQUEST_MISSING` otherwise); all others take the request, and the response or headers that cookies go to.
 *
 * Every operation throws `InvalidConfigurationError` while something required is missing.
 */
export class IdpClient {
  readonly #application: Application

  /** Throws `InvalidConfigurationError` for a wrong option; what is missing is only reported. No I/O. */
  constructor(options: IdpClientOptions = {}) {
    this.#application = createApplication(options)
  }

  /**
   * Answers the auth routes. Any other request is passed on: to `next`, inside the ambient scope, or by a continue
   * response (see `isContinue`, `continueWith`) that carries the cookies to set.
   */
  readonly middleware = async (
    request: FrameworkRequest,
    next?: (request: FrameworkRequest) => FrameworkResponse | Promise<FrameworkResponse>,
  ): Promise<FrameworkResponse> => {
    const binding = bindDeferred(request)
    const { exchange } = binding
    const answered = await dispatch(this.#application, exchange, request)
    if (answered) {
      flushOnto(exchange.cookies, answered.headers)
      return answered
    }
    await passThrough(this.#application, exchange)
    if (!next) return continueResponse(exchange.cookies)
    const response = await ambient.run(binding, async () => next(request))
    return continueWith(continueResponse(exchange.cookies), response)
  }

  /** The session of the request, or null when nobody is signed in. Never writes a cookie. */
  getSession(request?: FrameworkRequest): Promise<SessionData | null> {
    return this.#operate(request, undefined, (engine, exchange) => getSession(engine, exchange))
  }

  /**
   * An access token of the session, refreshed when it has expired. Where cookies can be written (inside `next`, or with
   * a response) the refreshed session is. Throws `AccessTokenError`: `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`,
   * `FAILED_TO_REFRESH_TOKEN` (see its `cause`), `REFRESH_NOT_PERSISTABLE`.
   */
  getAccessToken(options?: GetAccessTokenOptions): Promise<AccessToken>
  getAccessToken(
    request: FrameworkRequest | undefined,
    response?: WebTarget,
    options?: GetAccessTokenOptions,
  ): Promise<AccessToken>
  getAccessToken(
    first?: FrameworkRequest | GetAccessTokenOptions,
    response?: WebTarget,
    options?: GetAccessTokenOptions,
  ): Promise<AccessToken> {
    const [request, wanted] = isRequestLike(first) ? [first as FrameworkRequest, options] : [undefined, first]
    return this.#operate(request, response, (engine, x) => getAccessToken(engine, x, wanted))
  }

  /**
   * A `fetch` that calls APIs with an access token of the user, DPoP proofs included; see `Fetcher`. It keeps what a
   * refresh brings as `getAccessToken` does. Asks neither provider nor API by itself. Throws `AccessTokenError`
   * `MISSING_SESSION`, and `InvalidConfigurationError` for a wrong option.
   *
   * @example
   * const { fetchWithAuth } = await idp.createFetcher({ baseUrl: 'https://api.example.com' })
   * const orders = await fetchWithAuth('/orders', { audience: 'https://api.example.com/' })
   */
  createFetcher(options?: FetcherOptions): Promise<Fetcher>
  createFetcher(request: FrameworkRequest | undefined, options?: FetcherOptions): Promise<Fetcher>
  createFetcher(
    request: FrameworkRequest | undefined,
    response: WebTarget | undefined,
    options?: FetcherOptions,
  ): Promise<Fetcher>
  createFetcher(
    ...given: readonly [(FrameworkRequest | FetcherOptions)?, (WebTarget | FetcherOptions)?, FetcherOptions?]
  ): Promise<Fetcher> {
    const [request, response, options = {}] = readHostArguments<FrameworkRequest, WebTarget, FetcherOptions>(
      given,
    )
    const ofSession: AccessTokenFactory = (wanted) =>
      this.#operate(request, response, (engine, exchange) => getAccessToken(engine, exchange, wanted))
    return this.#operate(request, response, async (engine, exchange) => {
      const { createFetcher } = await import('../../flows/fetcher.ts')
      return createFetcher(engine, exchange, options, ofSession)
    })
  }

  /** Saves changes to the session; `internal` cannot be changed. See `docs/reference/session.md` for what is kept. */
  updateSession(session: SessionData): Promise<void>
  updateSession(request: FrameworkRequest, response: WebTarget, session: SessionData): Promise<void>
  updateSession(...given: [SessionData] | [FrameworkRequest, WebTarget, SessionData]): Promise<void> {
    if (given.length < 3) {
      return this.#operate(undefined, undefined, (engine, x) =>
        updateSession(engine, x, given[0] as SessionData),
      )
    }
    const [request, response, session] = given as [FrameworkRequest, WebTarget, SessionData]
    return this.#operate(request, response, (engine, x) => updateSession(engine, x, session))
  }

  /**
   * Begins a login by code. Return the response as it is: it carries the transaction cookie. The request is needed
   * outside the ambient scope, since the base URL may depend on it.
   */
  async startInteractiveLogin(
    options: StartInteractiveLoginOptions = {},
    request?: FrameworkRequest,
  ): Promise<FrameworkResponse> {
    const { exchange } = this.#bind(request)
    const response = await startLogin(this.#application, exchange, options)
    flushOnto(exchange.cookies, response.headers)
    return response
  }

  /** Wraps a page handler: without a session the browser is sent to the login route and comes back afterwards. */
  withPageAuthRequired<Rest extends unknown[]>(
    handler: WebHandler<Rest>,
    options: PageGuardOptions = {},
  ): WebHandler<Rest> {
    return async (request, ...rest) => {
      const { exchange } = this.#bind(request)
      const { pathname, search } = new URL(request.url)
      const { returnTo } = options
      const access = await pageAccess(this.#application, exchange, () =>
        typeof returnTo === 'function' ? returnTo(request) : (returnTo ?? pathname + search),
      )
      return access.kind === 'granted' ? handler(request, ...rest) : redirect(access.location)
    }
  }

  /** Wraps an API handler: without a session the answer is a 401 with a JSON body, never a redirect. */
  withApiAuthRequired<Rest extends unknown[]>(handler: WebHandler<Rest>): WebHandler<Rest> {
    return async (request, ...rest) => {
      const refused = await apiRefusal(this.#application, this.#bind(request).exchange)
      return refused ?? handler(request, ...rest)
    }
  }

  #bind(request?: FrameworkRequest, response?: WebTarget): Binding {
    const binding = request ? bindRequest(request, response) : ambient.get()
    if (!binding) throw new IdpError('AMBIENT_REQUEST_MISSING')
    return binding
  }

  async #operate<T>(
    request: FrameworkRequest | undefined,
    response: WebTarget | undefined,
    operation: (engine: ReturnType<Application['engine']>, exchange: Binding['exchange']) => Promise<T>,
  ): Promise<T> {
    const engine = this.#application.engine()
    return within(this.#bind(request, response), (exchange) => operation(engine, exchange))
  }
}
