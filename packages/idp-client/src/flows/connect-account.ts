import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { ConnectAccountError } from '../errors/connected-accounts.ts'
import { isProviderFailure } from '../errors/provider-failure.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Connecting, ConnectRequest } from '../oidc/account-api.ts'
import { accountToken, beginConnect } from '../oidc/account-api.ts'
import { mayConfigurationSet, mayVisitorSet, newCodeVerifier } from '../oidc/authorize.ts'
import { getProvider } from '../oidc/provider.ts'
import { subjectTag } from '../session/model/claims.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import { toRedirectUri, toReturnPath } from '../transaction/destination.ts'
import { newState } from '../transaction/state.ts'

/** Options of `connectAccount`. */
export interface ConnectAccountOptions {
  /** Name of the connection at the provider, for example `google-oauth2`. */
  connection: string
  /** Scopes that the connected provider is asked for; default: those of the connection. */
  scopes?: readonly string[]
  /** Parameters for the connected provider's authorization request; null and undefined are left out. */
  authorizationParams?: Readonly<Record<string, string | number | boolean | null | undefined>>
  /** Same-origin path to go to afterwards; default `signInReturnToPath`. */
  returnTo?: string
}

export interface ConnectAccountInput {
  readonly options: Partial<ConnectAccountOptions>
  /** Who asks: somebody's query string, or the application's own code. */
  readonly source: 'visitor' | 'application'
  readonly correlationId: string
}

function toParameters({ options, source }: ConnectAccountInput): Record<string, string> {
  const maySet = source === 'visitor' ? mayVisitorSet : mayConfigurationSet
  const given = Object.entries(options.authorizationParams ?? {}).flatMap(([name, value]) =>
    value === undefined || value === null || !maySet(name) ? [] : [[name, String(value)] as const],
  )
  return Object.fromEntries(given)
}

async function begin(
  { config }: Engine,
  request: ConnectRequest,
  tokenFor: TokenSource,
): Promise<Connecting> {
  try {
    const access = await tokenFor(accountToken(config))
    return await beginConnect(getProvider(config), access, request)
  } catch (cause) {
    if (isProviderFailure(cause)) throw new ConnectAccountError('FAILED_TO_INITIATE', { cause })
    throw cause
  }
}

/**
 * Begins to connect an account of another provider to the user of the session, and says where the user decides:
 * 1. no connection: `MISSING_CONNECTION`; no session: `MISSING_SESSION`; nowhere to keep a cookie:
 *    `SESSION_NOT_WRITABLE`;
 * 2. `tokenFor` brings a token for the account API, and keeps what that brought, whatever fails afterwards;
 * 3. the account API begins the attempt: `FAILED_TO_INITIATE` when it or the token is refused;
 * 4. the transaction, which only this session can complete, is staged last, so that a failure leaves none behind.
 */
export async function connectAccount(
  engine: Engine,
  exchange: Exchange,
  input: ConnectAccountInput,
  tokenFor: TokenSource,
): Promise<URL> {
  const { config } = engine
  const { connection, returnTo: wanted, scopes = [] } = input.options
  if (typeof connection !== 'string' || connection === '') throw new ConnectAccountError('MISSING_CONNECTION')
  const session = await engine.sessions.load(exchange)
  if (!session) throw new ConnectAccountError('MISSING_SESSION')
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  const appBaseUrl = engine.baseUrl(exchange)
  const redirectUri = toRedirectUri(config, appBaseUrl, config.authorization.redirectUri)
  const returnTo = toReturnPath(config, appBaseUrl, wanted)
  const startedAt = config.clock()
  const { host } = new URL(appBaseUrl)
  const state = await newState(engine.sealer, { issuedAt: startedAt, host, returnTo })
  const codeVerifier = newCodeVerifier()
  const parameters = toParameters(input)
  const request = { connection, scopes, parameters, redirectUri, state, codeVerifier }
  const { authSession, url } = await begin(engine, request, tokenFor)
  await engine.transactions.save(exchange, {
    stateHash: await hashToken(state),
    responseType: 'connect_code',
    codeVerifier,
    redirectUri,
    appBaseUrl,
    returnTo,
    authSession,
    session: session.sessionKey,
    user: await subjectTag(session.data),
    startedAt,
    expiresAt: startedAt + config.transaction.cookie.maxAge,
    client: await engine.client(),
  })
  config.log.emit({ level: 'info', code: 'CONNECT_STARTED', id: input.correlationId })
  return url
}
