import type { FetcherConfig, FetcherOptions } from '../config/fetcher.ts'
import { apiUrl, resolveFetcher } from '../config/fetcher.ts'
import type { GetAccessTokenOptions } from '../config/token-options.ts'
import { nearestName, toCorrection } from '../config/unknown-keys.ts'
import type { Engine } from '../engine.ts'
import { AccessTokenError } from '../errors/tokens.ts'
import type { ApiCall } from '../http/api-call.ts'
import { apiCall, discard } from '../http/api-call.ts'
import type { Exchange } from '../http/exchange.ts'
import { toAuthorizationScheme } from '../tokens/authorization-scheme.ts'
import type { DpopProver } from '../tokens/bound-call.ts'
import { sendBound } from '../tokens/bound-call.ts'
import type { SessionToken } from '../tokens/replacement.ts'
import type { TokenSource } from '../tokens/token-request.ts'

/**
 * Calls APIs for the user of one request. Each call gets the current access token of that user, so do not keep a
 * fetcher longer than its request.
 */
export interface Fetcher {
  /**
   * Calls `fetch` with the user's access token in the `Authorization` header, replacing one that the caller set. Adds a
   * DPoP proof if the token is bound to the client's key (RFC 9449). The rest of `input` and `init` is passed on
   * unchanged.
   *
   * - The token is refreshed first if necessary, and the new tokens are stored, as with `getAccessToken`.
   * - Every response of the API is returned, including 401 and redirects. Redirects are not followed, because the token
   *   is not meant for their target. The only time limit is `init.signal`.
   * - With `certificateBoundAccessTokens`, `[customFetch]` presents the certificate for tokens that are bound to it, unless the
   *   option `fetch` is set. A request whose token of the session the API refuses (401 `invalid_token`), as after a rotation of the
   *   certificate, is repeated once with a refreshed one, if its body can be sent again.
   * - A request whose response demands a DPoP nonce is repeated up to four times, after `dpopOptions.retry`. Strings,
   *   buffers, blobs and forms can be sent again, as can the body of a `Request` up to 1 MiB.
   *
   * @param input URL, absolute or relative to `baseUrl`; https except on localhost.
   * @param init options of `fetch`. With two arguments, an object with `refresh`, `scope` or `audience` and no option
   * of `fetch` is taken as the token options.
   * @param tokenOptions options of the access token; default: the token of the login.
   * @throws IdpError before the request: `FETCHER_BASE_URL_MISSING`, `FETCHER_URL_REFUSED`, `FETCHER_TOKEN_UNUSABLE`,
   * `FETCHER_TOKEN_BOUND`; after it: `FETCHER_NONCE_REFUSED`, `FETCHER_BODY_NOT_REPLAYABLE` (the API demanded a nonce
   * and the body was a stream).
   * @throws AccessTokenError as `getAccessToken`. Errors of `fetch` are not wrapped.
   */
  // The type of a method: fetchers of tests may take fewer inputs, such as strings only.
  fetchWithAuth: {
    method(
      input: string | URL | Request,
      init?: RequestInit,
      tokenOptions?: GetAccessTokenOptions,
    ): Promise<Response>
    method(input: string | URL | Request, tokenOptions: GetAccessTokenOptions): Promise<Response>
  }['method']
}

/** Options of `RequestInit`, and those that hosts add to it. */
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

const tokenNames = [
  'refresh',
  'scope',
  'audience',
  'mergeScopes',
] as const satisfies readonly (keyof GetAccessTokenOptions)[]

function areTokenOptions(options: RequestInit | GetAccessTokenOptions): options is GetAccessTokenOptions {
  const isGiven = ['refresh', 'scope', 'audience'].some((name) => Object.hasOwn(options, name))
  return isGiven && !Object.keys(options).some((name) => initNames.has(name))
}

/**
 * Reports options of the token that are misspelt, or among those of `fetch`, which ignores them: the API would silently get another
 * token. Hosts have further options of `fetch`.
 */
function reportIgnored(
  { config: { log } }: Engine,
  init: RequestInit,
  tokenOptions: GetAccessTokenOptions,
): void {
  const known: readonly string[] = tokenNames
  for (const [name, value] of Object.entries(tokenOptions)) {
    if (value !== undefined && !known.includes(name))
      log.once(`fetchWithAuth: an unknown option of the token has no effect. ${toCorrection(name, known)}`)
  }
  for (const name of Object.keys(init)) {
    const meant = initNames.has(name) ? undefined : nearestName(name, known)
    if (meant !== undefined)
      log.once(
        `fetchWithAuth: an option that fetch does not have has no effect. Did you mean ${meant}? Pass the options of the token alone, or after those of fetch.`,
      )
  }
}

/** Returns the DPoP functions of the client. The protocol code is loaded at the first proof. */
export async function getDpopProver({ config }: Engine): Promise<DpopProver> {
  const [{ isNonceChallenge, nonceRetryDelay }, { getProvider }] = await Promise.all([
    import('../oidc/dpop.ts'),
    import('../oidc/provider.ts'),
  ])
  const dpop = getProvider(config).dpop
  return {
    prove: dpop.prove,
    learn: dpop.learn,
    demandsNonce: (response) => response.status === 401 && isNonceChallenge(response, null),
    retryDelay: (retry) => nonceRetryDelay(config, retry),
  }
}

/** The token of one call, and how a token of the session is replaced that the API refuses. */
interface CallToken {
  readonly accessToken: string
  readonly replace: () => Promise<SessionToken | null>
}

/**
 * Sends a call with a bearer token where the tokens of the session are bound to the client's certificate. A token of the session that
 * visibly is not bound is replaced first, since an API that demands the certificate ends the connection without a response. If the API
 * refuses a token as invalid, as it does after a rotation of the certificate (RFC 8705 section 3), the call is sent again with a new one.
 */
async function sendByCertificate(
  engine: Engine,
  call: ApiCall,
  { fetch, getAccessToken }: FetcherConfig,
  { accessToken, replace }: CallToken,
): Promise<Response> {
  const [{ isCertificateBound }, { refusesToken }] = await Promise.all([
    import('../oidc/certificate-binding.ts'),
    import('../oidc/dpop.ts'),
  ])
  const send = async (token: string, init?: RequestInit): Promise<Response> => {
    // Another provider may have issued a token of the application, for an API that has nothing to do with this certificate.
    const isBound = isCertificateBound(token) ?? !getAccessToken
    return call.send(
      { authorization: `Bearer ${token}` },
      init,
      isBound && !fetch ? engine.config.fetch : undefined,
    )
  }
  if (getAccessToken) return send(accessToken)
  const repetition = call.prepareRepetition()
  const renewed = isCertificateBound(accessToken) === false ? await replace() : null
  const response = await send(renewed?.token ?? accessToken)
  const init = !renewed && refusesToken(response) ? await repetition() : null
  const next = init && (await replace())
  if (!next) return response
  discard(response)
  return send(next.token, init)
}

/**
 * Creates a fetcher for the user of this exchange:
 * 1. validates the options: `InvalidConfigurationError`;
 * 2. checks that there is a session: `MISSING_SESSION`, also if the application passes its own `getAccessToken`.
 *
 * Sends no request. Each call of the fetcher gets its own token and proof, so that concurrent calls cannot mix them up.
 *
 * @param getSessionToken returns the access token of the session, in its own binding to the request.
 */
export async function createFetcher(
  engine: Engine,
  exchange: Exchange,
  options: FetcherOptions,
  getSessionToken: TokenSource,
): Promise<Fetcher> {
  const config = resolveFetcher(options, engine.config)
  const session = await engine.sessions.load(exchange)
  if (!session) throw new AccessTokenError('MISSING_SESSION')
  const getToken = config.getAccessToken ?? getSessionToken
  return {
    async fetchWithAuth(
      input: string | URL | Request,
      second: RequestInit | GetAccessTokenOptions = {},
      third?: GetAccessTokenOptions,
    ): Promise<Response> {
      const [init, tokenOptions = {}] =
        third === undefined && areTokenOptions(second) ? [{}, second] : [second as RequestInit, third]
      reportIgnored(engine, init, tokenOptions)
      const { bound, fetch } = config
      const call = apiCall({ input, init, fetch, resolve: (address) => apiUrl(config, address) })
      const { scheme, accessToken } = toAuthorizationScheme(await getToken(tokenOptions), bound)
      if (scheme === 'DPoP') return sendBound(call, accessToken, await getDpopProver(engine))
      if (!engine.config.mutualTls?.boundTokens) return call.send({ authorization: `Bearer ${accessToken}` })
      const replace = async (): Promise<SessionToken | null> => {
        const { tryReplacement } = await import('../tokens/replacement.ts')
        const refused = { token: accessToken, want: tokenOptions }
        return tryReplacement(engine, session, refused, getSessionToken)
      }
      return sendByCertificate(engine, call, config, { accessToken, replace })
    },
  }
}
