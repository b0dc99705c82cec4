import { toRequestPlace } from '../config/request-host.ts'
import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { ConnectAccountError } from '../errors/connected-accounts.ts'
import { isProviderFailure } from '../errors/provider.ts'
import { reportLargeHead } from '../http/cookie-budget.ts'
import type { Exchange } from '../http/exchange.ts'
import { mayConfigurationSet, mayQuerySet, newCodeVerifier } from '../oidc/authorize.ts'
import { getProvider } from '../oidc/provider.ts'
import type { Connecting } from '../oidc/vendor/accounts.ts'
import { accountToken, beginConnect } from '../oidc/vendor/accounts.ts'
import { subjectTag } from '../session/model/claims.ts'
import type { TokenSource } from '../tokens/token-request.ts'
import { toRedirectUri, toReturnPath } from '../transaction/destination.ts'
import { createState } from '../transaction/state.ts'

/** Options of `connectAccount`. */
export interface ConnectAccountOptions {
  /** Name of the connection at the provider, for example `google-oauth2`. */
  connection: string
  /** Scopes to request from the connected provider; default: those of the connection. */
  scopes?: readonly string[]
  /** Parameters for the connected provider's authorization request; `null` and `undefined` are left out. */
  authorizationParams?: Readonly<Record<string, string | number | boolean | null | undefined>>
  /** Same-origin path to redirect to afterwards; default `signInReturnToPath`. */
  returnTo?: string
}

export interface ConnectAccountInput {
  readonly options: Partial<ConnectAccountOptions>
  /** Origin of the options: the query string of a request, or the application's code. */
  readonly source: 'query' | 'application'
  readonly correlationId: string
}

/**
 * Starts connecting an account of another provider to the user of the session, and returns the URL to redirect to:
 * 1. checks the input: `MISSING_CONNECTION`, `MISSING_SESSION`, `SESSION_NOT_WRITABLE` if no cookie can be set;
 * 2. gets a token for the account API from `getToken`, which stores refreshed tokens even if a later step fails;
 * 3. starts the attempt at the account API: `FAILED_TO_INITIATE` if the API or the token request is refused;
 * 4. saves the transaction, which only this session can complete. This comes last, so that a failure leaves none
 *    behind.
 */
export async function connectAccount(
  engine: Engine,
  exchange: Exchange,
  input: ConnectAccountInput,
  getToken: TokenSource,
): Promise<URL> {
  const { config } = engine
  const { authorizationParams, connection, returnTo: requestedPath, scopes = [] } = input.options
  if (typeof connection !== 'string' || connection === '') throw new ConnectAccountError('MISSING_CONNECTION')
  const session = await engine.sessions.load(exchange)
  if (!session) throw new ConnectAccountError('MISSING_SESSION')
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  const appBaseUrl = engine.baseUrl(exchange)
  const redirectUri = toRedirectUri(config, appBaseUrl, config.authorization.redirectUri)
  const returnTo = toReturnPath(config, appBaseUrl, requestedPath)
  const startedAt = config.clock()
  const place = toRequestPlace(appBaseUrl, exchange.request)
  const state = await createState(engine.sealer, { issuedAt: startedAt, ...place, returnTo })
  const codeVerifier = newCodeVerifier()
  const maySet = input.source === 'query' ? mayQuerySet : mayConfigurationSet
  const given = Object.entries(authorizationParams ?? {}).filter(
    ([name, value]) => value !== undefined && value !== null && maySet(name),
  )
  const parameters = Object.fromEntries(given.map(([name, value]) => [name, String(value)]))
  const request = { connection, scopes, parameters, redirectUri, state, codeVerifier }
  let attempt: Connecting
  try {
    attempt = await beginConnect(getProvider(config), await getToken(accountToken(config)), request)
  } catch (cause) {
    throw isProviderFailure(cause) ? new ConnectAccountError('FAILED_TO_INITIATE', { cause }) : cause
  }
  const { authSession, url } = attempt
  const stageTransaction = await engine.transactions.prepare(exchange, {
    stateHash: await hashToken(state),
    responseType: 'connect_code',
    codeVerifier,
    redirectUri,
    appBaseUrl,
    returnTo,
    authSession,
    sessionKey: session.sessionKey,
    user: await subjectTag(session.data),
    startedAt,
    expiresAt: startedAt + config.transaction.cookie.maxAge,
    clientTag: await engine.clientTag(),
  })
  stageTransaction()
  reportLargeHead(exchange.cookies, config.log.once, { location: url.href })
  config.log.emit({ level: 'info', code: 'CONNECT_STARTED', id: input.correlationId })
  return url
}
