import type { AccessTokenFactory, FetcherConfig, FetcherOptions } from '../config/fetcher.ts'
import { apiUrl, resolveFetcher } from '../config/fetcher.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/access-token.ts'
import { apiCall } from '../http/api-call.ts'
import type { Exchange } from '../http/exchange.ts'
import { toAuthorizationScheme } from '../tokens/authorization-scheme.ts'
import type { DpopProver } from '../tokens/bound-call.ts'
import { sendBound } from '../tokens/bound-call.ts'

/**
 * Calls one or several APIs for the user of one request. Keep it as long as that request, no longer: with each call it
 * asks for the token of that user anew.
 */
export interface Fetcher {
  /**
   * `fetch` with the user's access token in the `Authorization` header, which replaces one of the caller; with a DPoP
   * proof when the token is bound to the client's key (RFC 9449). Everything else of `input` and `init` passes as it is.
   *
   * - The token is refreshed first when need be, and what that brought is kept, as with `getAccessToken`.
   * - Any answer of the API is returned, a 401 or a redirect too: redirects are not followed, for the token is not meant
   *   for where they lead. There is no time limit but that of `init.signal`.
   * - A call whose response demands a DPoP nonce is repeated up to twice, after `dpopOptions.retry`. For that, strings,
   *   buffers, blobs and forms are sent again, and the body of a `Request` up to 1 MiB.
   *
   * @param input URL, absolute or behind `baseUrl`, https unless on this machine.
   * @param init what `fetch` takes. With two arguments, an object that has `refresh`, `scope` or `audience`, and nothing
   * that `fetch` takes, are the token options.
   * @param tokenOptions which access token; default: the one of the login.
   * @throws IdpError before anything is sent: `FETCHER_BASE_URL_MISSING`, `FETCHER_URL_REFUSED`,
   * `FETCHER_TOKEN_UNUSABLE`, `FETCHER_TOKEN_BOUND`; afterwards `FETCHER_NONCE_REFUSED` and `FETCHER_BODY_NOT_REPLAYABLE` (the
   * API asked for a nonce, and the body was a stream).
   * @throws AccessTokenError as `getAccessToken`. What `fetch` throws passes as it is.
   */
  fetchWithAuth(
    input: string | URL | Request,
    init?: RequestInit,
    tokenOptions?: GetAccessTokenOptions,
  ): Promise<Response>
  fetchWithAuth(input: string | URL | Request, tokenOptions: GetAccessTokenOptions): Promise<Response>
}

const tokenOptionNames = ['refresh', 'scope', 'audience'] as const

/** Of `RequestInit`, and what the hosts add to it. */
const initNames: ReadonlySet<string> = new Set([
  'body',
  'cache',
  'credentials',
  'dispatcher',
  'duplex',
  'headers',
  'integrity',
  'keepalive',
  'method',
  'mode',
  'next',
  'priority',
  'redirect',
  'referrer',
  'referrerPolicy',
  'signal',
  'window',
])

function areTokenOptions(given: RequestInit | GetAccessTokenOptions): given is GetAccessTokenOptions {
  if (!tokenOptionNames.some((name) => Object.hasOwn(given, name))) return false
  return !Object.keys(given).some((name) => initNames.has(name))
}

/** The protocol is loaded when a proof is made, not before. */
async function getDpopProver({ config }: Engine): Promise<DpopProver> {
  const dpop = await import('../oidc/dpop.ts')
  return {
    prove: (request) => dpop.protectedResourceProof(config, request),
    learn: (url, response) => dpop.learnNonce(config, url, response),
    demandsNonce: (response) => response.status === 401 && dpop.isNonceChallenge(response, null),
    retryDelay: () => dpop.nonceRetryDelay(config),
  }
}

function toFetcher(config: FetcherConfig, tokens: AccessTokenFactory, engine: Engine): Fetcher {
  async function fetchWithAuth(
    input: string | URL | Request,
    second: RequestInit | GetAccessTokenOptions = {},
    third?: GetAccessTokenOptions,
  ): Promise<Response> {
    const [init, wanted] =
      third === undefined && areTokenOptions(second) ? [{}, second] : [second as RequestInit, third]
    const call = apiCall({ input, init, fetch: config.fetch, resolve: (address) => apiUrl(config, address) })
    const { scheme, accessToken } = toAuthorizationScheme(await tokens(wanted ?? {}), config.bound)
    if (scheme === 'DPoP') return sendBound(call, accessToken, await getDpopProver(engine))
    return call.send({ authorization: `Bearer ${accessToken}` })
  }
  return { fetchWithAuth }
}

/**
 * A fetcher for the user of this exchange:
 * 1. wrong options: `InvalidConfigurationError`;
 * 2. no session: `MISSING_SESSION`, also with a factory of the application's own;
 * 3. nothing is asked of provider or API yet; each call then brings its own token and its own proof, so that no two
 *    calls can take each other's.
 *
 * @param ofSession brings the access token of the session, in a binding of its own.
 */
export async function createFetcher(
  engine: Engine,
  exchange: Exchange,
  options: FetcherOptions,
  ofSession: AccessTokenFactory,
): Promise<Fetcher> {
  const config = resolveFetcher(options, engine.config)
  if (!(await engine.sessions.load(exchange))) throw new AccessTokenError('MISSING_SESSION')
  return toFetcher(config, config.getAccessToken ?? ofSession, engine)
}
