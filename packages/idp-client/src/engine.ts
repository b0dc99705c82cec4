import { reportAddress, reportRouteAddress } from './config/address-notices.ts'
import { resolveBaseUrl } from './config/base-url.ts'
import type { ApiConfig, Config, Settings } from './config/config.ts'
import { isBrowser, readEnv } from './config/env.ts'
import type { IdpClientOptions } from './config/options.ts'
import { configurationError, report } from './config/report.ts'
import { resolve } from './config/resolve.ts'
import type { ResourceConfig } from './config/resource.ts'
import { hashToken } from './crypto/random.ts'
import type { Sealer } from './crypto/seal.ts'
import { createSealer } from './crypto/seal.ts'
import { InvalidConfigurationError } from './errors/configuration.ts'
import type { Exchange } from './http/exchange.ts'
import type { MaybePromise } from './lib/chain.ts'
import { chain } from './lib/chain.ts'
import { lazy, lazyPromise } from './lib/request-scope.ts'
import type { CookieSessionParts } from './session/cookie/in-cookie.ts'
import { createCookieSessionStorage } from './session/cookie/in-cookie.ts'
import type { ProcessMemory, SessionStorage } from './session/storage.ts'
import type { CompleteStore } from './session/store/complete-store.ts'
import type { StoreSessionStorage } from './session/store/in-store.ts'
import { hasEnded, markEnded, wasJustReplaced } from './tokens/refresh/ended.ts'
import { withPendingRefreshes } from './tokens/refresh/pending-refreshes.ts'
import { keepMainToken } from './tokens/refresh/process-tokens.ts'
import { TransactionStorage } from './transaction/in-cookie.ts'

/** The dependencies of guards that accept access tokens; with `sessions: false` there are no others. */
export interface ApiEngine {
  readonly config: ApiConfig
  /** Loads the application's session store, completed; absent without one. */
  readonly sessionStore: (() => Promise<CompleteStore>) | undefined
  /** Base URL of the application for this request, as the browser sees it, without trailing slash. */
  baseUrl(exchange: Exchange): string
}

/** The dependencies of every operation, created once per client. Contains no state of any user. */
export interface Engine extends ApiEngine {
  readonly config: Config
  readonly sealer: Sealer
  readonly sessions: SessionStorage
  readonly transactions: TransactionStorage
  /** Returns the tag of provider and client: sealed values are not valid for another client with the same secret. */
  clientTag(): MaybePromise<string>
  /** Reports an address of a request for an auth route that does not match the options: base path, internal host. */
  checkAddress(exchange: Exchange): void
}

/** Loads the code of a storage on first use: without a session store it is not needed. */
function loadedOnFirstUse(load: () => Promise<StoreSessionStorage>): SessionStorage {
  let loaded: StoreSessionStorage | undefined
  const storage = (): MaybePromise<StoreSessionStorage> =>
    loaded ??
    chain(load(), (storage) => {
      loaded = storage
      return storage
    })
  return {
    load: (exchange) => chain(storage(), (sessions) => sessions.load(exchange)),
    save: async (exchange, session, options) => (await storage()).save(exchange, session, options),
    destroy: async (exchange) => (await storage()).destroy(exchange),
    sweep: async (exchange) => (await storage()).sweep(exchange),
    distributed: async () => (await storage()).records,
  }
}

/** Without a store, this process keeps the sessions that it has refreshed or ended: they are newer than the cookie. */
function createSessionStorage(
  given: CookieSessionParts,
  sessionStore: Engine['sessionStore'],
): SessionStorage {
  const memory: ProcessMemory = { hasEnded, keepMainToken, markEnded, wasJustReplaced }
  if (!sessionStore) return withPendingRefreshes(createCookieSessionStorage({ ...given, memory }), given)
  return loadedOnFirstUse(
    lazyPromise(async () => {
      const { StoreSessionStorage } = await import('./session/store/in-store.ts')
      return new StoreSessionStorage({ ...given, memory, store: await sessionStore() })
    }),
  )
}

function createApiEngine(config: ApiConfig): ApiEngine {
  const given = config.sessionStore
  const sessionStore =
    given &&
    lazyPromise(async () => {
      const { CompleteStore } = await import('./session/store/complete-store.ts')
      return new CompleteStore(config, given)
    })
  return {
    config,
    sessionStore,
    baseUrl({ request }) {
      reportAddress(config, request)
      return resolveBaseUrl(config, request)
    },
  }
}

export function createEngine(config: Config): Engine {
  const { baseUrl, sessionStore } = createApiEngine(config)
  const sealer = createSealer(config.secrets)
  const clientTag = lazy(() => hashToken(`${config.provider.url} ${config.clientId}`, 9))
  const { takeOver } = config
  const former =
    takeOver &&
    lazyPromise(async () => {
      const { createFormerSessions } = await import('./former/former-sessions.ts')
      return createFormerSessions({ config, takeOver, clientTag, baseUrl })
    })
  const parts = { config, sealer, clientTag, baseUrl }
  const transactions = new TransactionStorage(parts)
  return {
    config,
    sealer,
    sessions: createSessionStorage(
      { ...parts, former, limitTransactions: (exchange) => transactions.limit(exchange) },
      sessionStore,
    ),
    sessionStore,
    transactions,
    clientTag,
    baseUrl,
    checkAddress: ({ request }) => reportRouteAddress(config, request),
  }
}

/** An API to which requests are sent on. */
export interface ProxyRoute {
  /** Path without base path. */
  readonly prefix: string
  /** The same for the same options. */
  readonly identity: string
  covers(request: Exchange['request']): boolean
  respond(exchange: Exchange): Promise<Response>
}

/** A client whose configuration may be incomplete: it can dispatch in any case, but has an engine only when complete. */
export interface Application {
  readonly settings: Settings
  /** The APIs whose metadata the middleware serves, by its path without base path. */
  readonly resources: Map<string, ResourceConfig>
  /** The APIs to which the middleware sends requests on, by their prefix. */
  readonly proxies: Map<string, ProxyRoute>
  /** Throws `InvalidConfigurationError` while something required is missing or wrong, and with `sessions: false`. */
  engine(): Engine
  /** The engine of guards that accept access tokens. Throws `InvalidConfigurationError` while something is missing or wrong. */
  apiEngine(): ApiEngine
}

const NO_SESSIONS =
  'The option sessions: false says that this application has neither sessions nor a client at the provider. Remove it to use ' +
  'logins, sessions and their tokens.'

/**
 * Reads options and variables, without I/O. Throws for an invalid option. Reports missing ones, and reads the variables
 * again at each use until the configuration is complete, since they may be injected after construction. Throws
 * `SERVER_ONLY` in a browser. Next.js has public variables of its own.
 */
export function createApplication(options: IdpClientOptions, host?: 'next'): Application {
  if (isBrowser()) throw new InvalidConfigurationError('SERVER_ONLY')
  const first = resolve(options, readEnv(host))
  report(first)
  let engine = first.config && createEngine(first.config)
  let apiEngine = engine ?? (first.apiConfig && createApiEngine(first.apiConfig))
  let { settings } = first
  const completed = (): ApiEngine => {
    if (apiEngine) return apiEngine
    const again = resolve(options, readEnv(host))
    if (!again.apiConfig) throw configurationError(again.problems)
    settings = again.settings
    engine = again.config && createEngine(again.config)
    apiEngine = engine ?? createApiEngine(again.apiConfig)
    return apiEngine
  }
  return {
    resources: new Map(),
    proxies: new Map(),
    get settings() {
      return settings
    },
    engine() {
      if (!engine) completed()
      if (engine) return engine
      throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail: NO_SESSIONS })
    },
    apiEngine: completed,
  }
}
