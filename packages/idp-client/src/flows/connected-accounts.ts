import type { ConnectedAccount } from '../config/hooks.ts'
import { toRequestPlace } from '../config/request-host.ts'
import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { toParameter } from '../errors/configuration.ts'
import { ConnectAccountError, ConnectedAccountsError } from '../errors/connected-accounts.ts'
import { isProviderFailure } from '../errors/provider.ts'
import { reportLargeHead } from '../http/cookie-budget.ts'
import type { Exchange } from '../http/exchange.ts'
import { toReturnPath } from '../http/return-path.ts'
import { asIdpError, reportOutcome } from '../log/failure.ts'
import { mayConfigurationSet, mayQuerySet, newCodeVerifier } from '../oidc/authorize.ts'
import { getProvider } from '../oidc/provider.ts'
import type { Connecting } from '../oidc/vendor/accounts.ts'
import { accountToken, beginConnect, deleteAccount, listAccounts } from '../oidc/vendor/accounts.ts'
import { subjectTag } from '../session/model/claims.ts'
import { forgetConnection, keepConnections } from '../session/model/further-tokens.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import type { AccountCaller } from '../tokens/account-token.ts'
import { callAccountApi } from '../tokens/account-token.ts'
import type { TokenSource } from '../tokens/token-request.ts'
import { toRedirectUri } from '../transaction/authorization.ts'
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

const toCaller = (
  { config }: Engine,
  { sessionKey }: StoredSession,
  getToken: TokenSource,
): AccountCaller => ({ getToken, sessionKey, want: accountToken(config) })

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
  const parameters = Object.fromEntries(
    given.map(([name, value]) => [name, toParameter('authorizationParams', name, value)]),
  )
  const request = { connection, scopes, parameters, redirectUri, state, codeVerifier }
  let attempt: Connecting
  try {
    attempt = await callAccountApi(toCaller(engine, session, getToken), (access) =>
      beginConnect(getProvider(config), access, request),
    )
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

/** Options of `deleteConnectedAccount`; an account from `listConnectedAccounts` can be passed as it is. */
export interface DeleteConnectedAccountOptions {
  /** Id of the account at the provider. */
  id: string
  /**
   * Connection of the account. If set, only tokens of that connection are removed from the session, otherwise those of
   * all connections.
   */
  connection?: string
}

/**
 * Removes connection tokens from the session. Best effort: the provider has already acted, so a failed write is logged
 * and not thrown.
 */
async function forget(
  { config, sessions }: Engine,
  exchange: Exchange,
  without: (data: SessionData) => SessionData,
): Promise<void> {
  try {
    const session = await sessions.load(exchange)
    if (!session?.data.connectionTokenSets) return
    const data = without(session.data)
    if (data.connectionTokenSets?.length === session.data.connectionTokenSets.length) return
    await sessions.save(exchange, { ...session, data }, { found: session })
  } catch (error) {
    reportOutcome(config.log, asIdpError(error), { level: 'error', code: 'REQUEST_FAILED' })
  }
}

/**
 * Returns the accounts that are connected to the user of the session. Where cookies can be written, tokens of
 * connections without an account are removed from the session. Throws `ConnectedAccountsError` `MISSING_SESSION`,
 * `FAILED_TO_LIST`.
 */
export async function listConnectedAccounts(
  engine: Engine,
  exchange: Exchange,
  getToken: TokenSource,
): Promise<ConnectedAccount[]> {
  const { config, sessions } = engine
  const session = await sessions.load(exchange)
  if (!session) throw new ConnectedAccountsError('MISSING_SESSION')
  try {
    const accounts = await callAccountApi(toCaller(engine, session, getToken), (access) =>
      listAccounts(getProvider(config), access),
    )
    const connected = new Set(accounts.map(({ connection }) => connection))
    if (exchange.canWrite())
      await forget(engine, exchange, (data) => keepConnections(data, (each) => connected.has(each)))
    return accounts
  } catch (cause) {
    throw isProviderFailure(cause) ? new ConnectedAccountsError('FAILED_TO_LIST', { cause }) : cause
  }
}

const LONGEST_ID = 512

/**
 * Returns whether `value` is a path segment: dots alone would change the path, and lone surrogates cannot be encoded.
 */
function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_ID && !/^\.{0,2}$|\p{Cs}/u.test(value)
}

/**
 * Disconnects an account of the user; the provider checks that it belongs to the user. Stored tokens of its connection
 * are removed, even if the response was lost, because no later signal says that they are revoked. Throws
 * `ConnectedAccountsError` `MISSING_SESSION`, `FAILED_TO_DELETE`; `INVALID_REQUEST` for an invalid id;
 * `SESSION_NOT_WRITABLE`.
 */
export async function deleteConnectedAccount(
  engine: Engine,
  exchange: Exchange,
  { connection, id }: Partial<DeleteConnectedAccountOptions>,
  getToken: TokenSource,
): Promise<void> {
  const { config, sessions } = engine
  if (!isId(id)) throw new IdpError('INVALID_REQUEST', { detail: 'Option: id.' })
  const session = await sessions.load(exchange)
  if (!session) throw new ConnectedAccountsError('MISSING_SESSION')
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  let isRequested = false
  try {
    await callAccountApi(toCaller(engine, session, getToken), (access) => {
      isRequested = true
      return deleteAccount(getProvider(config), access, id)
    })
  } catch (cause) {
    if (!isProviderFailure(cause)) throw cause
    if (isRequested) await forget(engine, exchange, (data) => forgetConnection(data, connection))
    throw new ConnectedAccountsError('FAILED_TO_DELETE', { cause })
  }
  await forget(engine, exchange, (data) => forgetConnection(data, connection))
}
