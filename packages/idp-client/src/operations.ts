import type { FetcherOptions } from './config/fetcher.ts'
import type { ConnectedAccount } from './config/hooks.ts'
import type { ResourceOptions } from './config/resource.ts'
import type { GetAccessTokenOptions } from './config/token-options.ts'
import type { Application, Engine } from './engine.ts'
import type {
  BackchannelAuthenticationOptions,
  BackchannelAuthenticationResult,
} from './flows/backchannel-auth.ts'
import type { CheckResult } from './flows/check.ts'
import type { ConnectAccountOptions, DeleteConnectedAccountOptions } from './flows/connected-accounts.ts'
import type { CustomTokenExchangeOptions, CustomTokenExchangeResult } from './flows/exchange-token.ts'
import type { Fetcher } from './flows/fetcher.ts'
import type { AccessToken } from './flows/get-access-token.ts'
import { accountTokens, getAccessToken, sessionTokens } from './flows/get-access-token.ts'
import type {
  ConnectionAccessToken,
  GetAccessTokenForConnectionOptions,
} from './flows/get-connection-token.ts'
import { getSession } from './flows/get-session.ts'
import type { PublicJwks } from './flows/jwks.ts'
import type { RefreshTokensOptions, RefreshTokensResult } from './flows/refresh-tokens.ts'
import { updateSession } from './flows/update-session.ts'
import { Resource } from './guards/resource.ts'
import type { Binding, Exchange } from './http/exchange.ts'
import { within } from './http/exchange.ts'
import type { HostKinds } from './http/host-arguments.ts'
import { ArgumentReader } from './http/host-arguments.ts'
import { newCorrelationId, redirect } from './http/responses.ts'
import type { MaybePromise } from './lib/chain.ts'
import { chain } from './lib/chain.ts'
import { reporting } from './log/reporting.ts'
import type { ServerMfaClient } from './mfa-client.ts'
import { serverMfaClient } from './mfa-client.ts'
import type { OperationOptions, OperationRunner } from './operation-options.ts'
import { reportUnknownOptions } from './operation-options.ts'
import type { ProxyOptions } from './proxy/options.ts'
import { ApiProxy } from './proxy/proxy.ts'
import type { StartInteractiveLoginOptions } from './routes/start-login.ts'
import { startLogin } from './routes/start-login.ts'
import type { SessionData, User } from './session/model/session-data.ts'
import type { SessionAdministration } from './session-administration.ts'
import { sessionAdministration } from './session-administration.ts'
import type { TokenSource } from './tokens/token-request.ts'

/** Placeholder for operations without options, where other libraries accept some. */
export type NoOptions = Readonly<Record<string, never>>

/**
 * Operations of every host, in each calling style: without a request where the host knows the current one, otherwise
 * with the request and the response for cookies, before or after the options. Other arguments throw
 * `INVALID_ARGUMENTS`. Rarely used operations are loaded on first use.
 */
export abstract class IdpClientBase<
  FrameworkRequest extends object,
  FrameworkResponse extends object,
  RedirectResponse extends Response = Response,
> {
  /** @internal */
  protected readonly application: Application
  readonly #read: ArgumentReader<FrameworkRequest, FrameworkResponse, OperationOptions>
  /** Administration of sessions in a store, for administrators or a user's list of devices. */
  readonly sessions: SessionAdministration<FrameworkRequest>
  /** Multi-factor authentication, for a token that the provider refused with `MfaRequiredError`. */
  readonly mfa: ServerMfaClient<FrameworkRequest, FrameworkResponse>

  /** @internal */
  protected constructor(application: Application, host?: HostKinds) {
    this.application = application
    this.#read = new ArgumentReader(host, (operation, options) => this.#checkOptions(operation, options))
    const runner: OperationRunner<FrameworkRequest, FrameworkResponse> = {
      read: this.#read,
      run: async (operation) => this.run(operation),
      operate: async (request, response, operation) => this.operate(request, response, operation),
    }
    this.sessions = sessionAdministration(runner)
    this.mfa = serverMfaClient(runner)
  }

  #checkOptions(operation: string, options: unknown): void {
    reportUnknownOptions(this.application.settings.log, operation, options)
  }

  /** @internal */
  protected abstract bind(request?: FrameworkRequest, response?: FrameworkResponse): MaybePromise<Binding>

  /** @internal Runs an operation that needs no request. */
  protected run<T>(operation: (engine: Engine) => MaybePromise<T>): MaybePromise<T> {
    return reporting(this.application.settings.log, () => operation(this.application.engine()))
  }

  /**
   * @internal Binds to the request first, because a missing request or response must be reported before anything else.
   */
  protected operate<T>(
    request: FrameworkRequest | undefined,
    response: FrameworkResponse | undefined,
    operation: (engine: Engine, exchange: Exchange) => MaybePromise<T>,
  ): MaybePromise<T> {
    return chain(this.bind(request, response), (binding) =>
      this.run((engine) => within(binding, (exchange) => operation(engine, exchange))),
    )
  }

  /**
   * @internal Runs an operation that returns a response. Its cookies are set on that response, or where the host sets
   * cookies.
   */
  protected abstract respond(
    request: FrameworkRequest | undefined,
    response: FrameworkResponse | undefined,
    operation: (exchange: Exchange) => MaybePromise<Response>,
  ): Promise<RedirectResponse>

  /**
   * Describes an API of the application that access tokens of the provider protect, for `accept` of the guards of APIs. Create it
   * once per process. Throws `InvalidConfigurationError` for a wrong option. No I/O.
   *
   * @example
   * const orders = idp.resource({ audience: 'https://api.example.com/', scopes: ['orders:read'] })
   */
  resource<Claims extends object = object, Scope extends string = string>(
    options: ResourceOptions<Scope>,
  ): Resource<Scope, Claims> {
    return new Resource(this.application, options)
  }

  /**
   * Lets pages call an API through the origin of the application: the middleware sends requests below `prefix` on to `target`, with
   * the access token of the session. Pages need no token. Needs a session, and a page of this origin: anything else gets a JSON error
   * with `idp-client-error: 1`. Create it once per process. Throws `InvalidConfigurationError` for a wrong option. No I/O.
   *
   * @example
   * idp.proxy({ prefix: '/api/orders', target: 'https://orders.example.com/v1', audience: 'https://orders.example.com' })
   */
  proxy(options: ProxyOptions): ApiProxy<FrameworkRequest, FrameworkResponse> {
    return new ApiProxy(this.application, options, (request, response, operation) =>
      this.respond(request, response, operation),
    )
  }

  /** Returns the session of the request, or `null` if no user is signed in. Never writes a cookie. */
  getSession(request?: FrameworkRequest): Promise<SessionData | null>
  async getSession(...args: readonly unknown[]): Promise<SessionData | null> {
    const { request } = this.#read.withoutOptions('getSession', args)
    return this.operate(request, undefined, getSession)
  }

  /**
   * Saves changes to the session; `internal` cannot be changed, tokens that were not modified keep their current
   * values. See https://github.com/idp-client/idp-client/blob/main/docs/reference/session.md for what is stored. Throws
   * `MISSING_SESSION`, `MISSING_SESSION_DATA`, `SESSION_NOT_WRITABLE` where cookies cannot be set (a Server Component),
   * `SESSION_TOO_LARGE`.
   */
  updateSession(session: SessionData, request: FrameworkRequest, response?: FrameworkResponse): Promise<void>
  updateSession(
    request: FrameworkRequest,
    response: FrameworkResponse | undefined,
    session: SessionData,
  ): Promise<void>
  updateSession(session: SessionData): Promise<void>
  async updateSession(...args: readonly unknown[]): Promise<void> {
    const { request, response, options } = this.#read.withSession<SessionData>('updateSession', args)
    return this.operate(request, response, (engine, exchange) => updateSession(engine, exchange, options))
  }

  /**
   * Starts a login from code: returns the redirect to the provider, with the transaction cookie on it. Return that
   * response as it is; Express sends it with `sendResponse(res, response)`. In a Server Action Next.js sets the cookie,
   * so a redirect to the response's `Location` is enough; the same applies to an API route of the Pages Router that
   * passed `res`.
   */
  startInteractiveLogin(
    options: StartInteractiveLoginOptions | undefined,
    request: FrameworkRequest | undefined,
    response?: FrameworkResponse,
  ): Promise<RedirectResponse>
  startInteractiveLogin(
    request: FrameworkRequest | undefined,
    response?: FrameworkResponse,
    options?: StartInteractiveLoginOptions,
  ): Promise<RedirectResponse>
  startInteractiveLogin(options?: StartInteractiveLoginOptions): Promise<RedirectResponse>
  async startInteractiveLogin(...args: readonly unknown[]): Promise<RedirectResponse> {
    const { request, response, options = {} } = this.#read.withOptions('startInteractiveLogin', args)
    return this.respond(request, response, (exchange) =>
      this.run((engine) => startLogin(engine, exchange, options)),
    )
  }

  /**
   * Returns an access token of the session, refreshed if it has expired. The refreshed session is written where cookies
   * can be set; elsewhere (a Server Component, a request without response) it stays in the process until the next
   * request that can write it. Throws `AccessTokenError`: `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`,
   * `FAILED_TO_REFRESH_TOKEN` (see its `cause`), `REFRESH_NOT_PERSISTABLE`.
   */
  getAccessToken(
    options: GetAccessTokenOptions | undefined,
    request: FrameworkRequest,
    response?: FrameworkResponse,
  ): Promise<AccessToken>
  getAccessToken(
    request: FrameworkRequest | undefined,
    response?: FrameworkResponse,
    options?: GetAccessTokenOptions,
  ): Promise<AccessToken>
  getAccessToken(options?: GetAccessTokenOptions): Promise<AccessToken>
  async getAccessToken(...args: readonly unknown[]): Promise<AccessToken> {
    const { request, response, options } = this.#read.withOptions('getAccessToken', args)
    return this.operate(request, response, (engine, exchange) => getAccessToken(engine, exchange, options))
  }

  /**
   * Returns an access token for the API of a connected account's provider, stored in the session until it expires.
   * Throws `AccessTokenForConnectionError`: `MISSING_CONNECTION`, `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`,
   * `FAILED_TO_EXCHANGE_REFRESH_TOKEN` (see its `cause`).
   */
  getAccessTokenForConnection(
    options: GetAccessTokenForConnectionOptions,
    request: FrameworkRequest,
    response?: FrameworkResponse,
  ): Promise<ConnectionAccessToken>
  getAccessTokenForConnection(
    request: FrameworkRequest,
    response: FrameworkResponse,
    options: GetAccessTokenForConnectionOptions,
  ): Promise<ConnectionAccessToken>
  getAccessTokenForConnection(options: GetAccessTokenForConnectionOptions): Promise<ConnectionAccessToken>
  async getAccessTokenForConnection(...args: readonly unknown[]): Promise<ConnectionAccessToken> {
    const { request, response, options } = this.#read.withOptions('getAccessTokenForConnection', args)
    return this.operate(request, response, async (engine, exchange) => {
      const { getConnectionToken } = await import('./flows/get-connection-token.ts')
      return getConnectionToken(engine, exchange, options ?? {}, sessionTokens(engine, exchange))
    })
  }

  /**
   * Redirects the user to connect an account of another provider (a connection), whose tokens
   * `getAccessTokenForConnection` returns afterwards. Return the response unchanged: it sets cookies. Throws
   * `ConnectAccountError`: `MISSING_CONNECTION`, `MISSING_SESSION`, `FAILED_TO_INITIATE` (see its `cause`);
   * `MfaRequiredError`; `SESSION_NOT_WRITABLE` where cookies cannot be set (a Server Component).
   */
  connectAccount(
    options: ConnectAccountOptions,
    request: FrameworkRequest,
    response?: FrameworkResponse,
  ): Promise<RedirectResponse>
  connectAccount(
    request: FrameworkRequest,
    response: FrameworkResponse | undefined,
    options: ConnectAccountOptions,
  ): Promise<RedirectResponse>
  connectAccount(request: FrameworkRequest, options: ConnectAccountOptions): Promise<RedirectResponse>
  connectAccount(options: ConnectAccountOptions): Promise<RedirectResponse>
  async connectAccount(...args: readonly unknown[]): Promise<RedirectResponse> {
    const { request, response, options = {} } = this.#read.withOptions('connectAccount', args)
    return this.respond(request, response, (exchange) =>
      this.run(async (engine) => {
        const { connectAccount } = await import('./flows/connected-accounts.ts')
        const input = { options, source: 'application', correlationId: newCorrelationId() } as const
        const url = await connectAccount(engine, exchange, input, accountTokens(engine, exchange))
        return redirect(url.href, exchange.request)
      }),
    )
  }

  /**
   * Returns the accounts that are connected to the user. Throws `ConnectedAccountsError` `MISSING_SESSION`,
   * `FAILED_TO_LIST` (see its `cause`), and `MfaRequiredError`.
   */
  listConnectedAccounts(request?: FrameworkRequest, response?: FrameworkResponse): Promise<ConnectedAccount[]>
  async listConnectedAccounts(...args: readonly unknown[]): Promise<ConnectedAccount[]> {
    const { request, response } = this.#read.withoutOptions('listConnectedAccounts', args)
    return this.operate(request, response, async (engine, exchange) => {
      const { listConnectedAccounts } = await import('./flows/connected-accounts.ts')
      return listConnectedAccounts(engine, exchange, accountTokens(engine, exchange))
    })
  }

  /**
   * Disconnects an account of the user, and removes stored tokens of its connection from the session. Throws
   * `ConnectedAccountsError` `MISSING_SESSION`, `FAILED_TO_DELETE` (see its `cause`); `INVALID_REQUEST` for an invalid
   * id; `MfaRequiredError`; `SESSION_NOT_WRITABLE`.
   *
   * @example
   * const [account] = await idp.listConnectedAccounts()
   * if (account) await idp.deleteConnectedAccount(account)
   */
  deleteConnectedAccount(
    options: DeleteConnectedAccountOptions,
    request: FrameworkRequest,
    response: FrameworkResponse,
  ): Promise<void>
  deleteConnectedAccount(
    request: FrameworkRequest,
    response: FrameworkResponse,
    options: DeleteConnectedAccountOptions,
  ): Promise<void>
  deleteConnectedAccount(options: DeleteConnectedAccountOptions): Promise<void>
  async deleteConnectedAccount(...args: readonly unknown[]): Promise<void> {
    const { request, response, options = {} } = this.#read.withOptions('deleteConnectedAccount', args)
    return this.operate(request, response, async (engine, exchange) => {
      const { deleteConnectedAccount } = await import('./flows/connected-accounts.ts')
      return deleteConnectedAccount(engine, exchange, options, accountTokens(engine, exchange))
    })
  }

  /**
   * Checks the configuration, the session store (with a record of no user, which it deletes) and whether the provider's metadata
   * and keys can be loaded. For a readiness route: an unreachable provider is a finding, but leaves `ready` true. One check runs
   * at a time, and its result is returned for 30 seconds. Never throws. Let the response contain the status only.
   *
   * @example
   * const { ready, findings } = await idp.check()
   */
  async check(): Promise<CheckResult> {
    return (await import('./flows/check.ts')).check(this.application)
  }

  /**
   * Returns the public keys that the provider needs to verify client assertions and signed requests: those of
   * `clientAssertionSigningKey`, `requestObject` and `additionalPublicKeys`. The route of `enableJwksEndpoint` responds with the same.
   * Throws `InvalidConfigurationError` if there is no key, or one whose public key cannot be read.
   */
  async jwks(): Promise<PublicJwks> {
    return this.run(async (engine) => (await import('./flows/jwks.ts')).getJwks(engine))
  }

  /**
   * Exchanges a token of another kind for tokens of this provider (RFC 8693). Needs no session and changes none. Throws
   * `CustomTokenExchangeError`: `MISSING_SUBJECT_TOKEN`, `INVALID_SUBJECT_TOKEN_TYPE` and other codes for its input,
   * `EXCHANGE_FAILED` with the provider's error as `cause`.
   */
  async customTokenExchange(options: CustomTokenExchangeOptions): Promise<CustomTokenExchangeResult> {
    this.#checkOptions('customTokenExchange', options)
    return this.run(async (engine) =>
      (await import('./flows/exchange-token.ts')).exchangeToken(engine, options),
    )
  }

  /**
   * Requests a login or an approval of a user on another device (OpenID Connect CIBA, poll mode), and waits for the
   * decision, at most as long as the provider granted. Needs no session and changes none. Throws
   * `BackchannelAuthenticationError`; `signal` ends the wait early.
   */
  async getTokenByBackchannelAuth(
    options: BackchannelAuthenticationOptions,
  ): Promise<BackchannelAuthenticationResult> {
    this.#checkOptions('getTokenByBackchannelAuth', options)
    return this.run(async (engine) =>
      (await import('./flows/backchannel-auth.ts')).backchannelAuthentication(engine, options),
    )
  }

  /**
   * Refreshes tokens of `getTokenByBackchannelAuth` or `customTokenExchange`, which the application keeps. Concurrent calls in one
   * process share one request. Needs no session and changes none: never pass the refresh token of a session. Throws
   * `AccessTokenError` `MISSING_REFRESH_TOKEN`, `FAILED_TO_REFRESH_TOKEN` (see its `cause`), `IdpError` `INVALID_ARGUMENTS`, and
   * `MfaRequiredError`.
   */
  async refreshTokens(options: RefreshTokensOptions): Promise<RefreshTokensResult> {
    this.#checkOptions('refreshTokens', options)
    return this.run(async (engine) =>
      (await import('./flows/refresh-tokens.ts')).refreshTokens(engine, options),
    )
  }

  /**
   * Returns the current claims of the user from the provider's UserInfo endpoint; the session is unchanged. Throws
   * errors of `getAccessToken`, `OAuthError` and `DiscoveryError`.
   */
  getUserInfo(request?: FrameworkRequest, response?: FrameworkResponse): Promise<User>
  async getUserInfo(...args: readonly unknown[]): Promise<User> {
    const { request, response } = this.#read.withoutOptions('getUserInfo', args)
    return this.operate(request, response, async (engine, exchange) => {
      const { getUserInfo } = await import('./flows/get-user-info.ts')
      return getUserInfo(engine, exchange, sessionTokens(engine, exchange))
    })
  }

  /**
   * Revokes the session's refresh token at the provider (RFC 7009); the session stays valid without it. Returns false
   * if the provider supports no revocation. Throws `AccessTokenError`: `MISSING_SESSION`, `MISSING_REFRESH_TOKEN`,
   * `FAILED_TO_REVOKE`, and `SESSION_NOT_WRITABLE`.
   */
  revokeRefreshToken(
    options: NoOptions | undefined,
    request: FrameworkRequest,
    response?: FrameworkResponse,
  ): Promise<boolean>
  revokeRefreshToken(request?: FrameworkRequest, response?: FrameworkResponse): Promise<boolean>
  async revokeRefreshToken(...args: readonly unknown[]): Promise<boolean> {
    const { request, response } = this.#read.withoutOptions('revokeRefreshToken', args)
    return this.operate(request, response, async (engine, exchange) => {
      const { revokeRefreshToken } = await import('./flows/revoke-refresh-token.ts')
      return revokeRefreshToken(engine, exchange)
    })
  }

  /**
   * Returns a `fetch` that calls APIs with an access token of the user, including DPoP proofs; see `Fetcher`. It stores
   * refreshed tokens like `getAccessToken`. Sends no request itself. Throws `AccessTokenError` `MISSING_SESSION`, and
   * `InvalidConfigurationError` for a wrong option.
   *
   * @example
   * const { fetchWithAuth } = await idp.createFetcher({ baseUrl: 'https://api.example.com' })
   * const orders = await fetchWithAuth('/orders', { audience: 'https://api.example.com/' })
   */
  createFetcher(
    options: FetcherOptions | undefined,
    request: FrameworkRequest,
    response?: FrameworkResponse,
  ): Promise<Fetcher>
  createFetcher(
    request: FrameworkRequest | undefined,
    response: FrameworkResponse | undefined,
    options?: FetcherOptions,
  ): Promise<Fetcher>
  createFetcher(request: FrameworkRequest | undefined, options?: FetcherOptions): Promise<Fetcher>
  createFetcher(options?: FetcherOptions): Promise<Fetcher>
  async createFetcher(...args: readonly unknown[]): Promise<Fetcher> {
    const { request, response, options = {} } = this.#read.withOptions('createFetcher', args)
    const getSessionToken: TokenSource = async (tokenOptions) =>
      this.operate(request, response, (engine, exchange) => getAccessToken(engine, exchange, tokenOptions))
    return this.operate(request, response, async (engine, exchange) => {
      const { createFetcher } = await import('./flows/fetcher.ts')
      return createFetcher(engine, exchange, options, getSessionToken)
    })
  }
}
