import type { ConnectedAccount } from '../config/hooks.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { ConnectedAccountsError } from '../errors/connected-accounts.ts'
import { isProviderFailure } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import { asIdpError, reportOutcome } from '../log/failure.ts'
import { getProvider } from '../oidc/provider.ts'
import { accountToken, deleteAccount, listAccounts } from '../oidc/vendor/accounts.ts'
import { forgetConnection, keepConnections } from '../session/model/further-tokens.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { TokenSource } from '../tokens/token-request.ts'

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
    await sessions.save(exchange, { ...session, data })
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
  if (!(await sessions.load(exchange))) throw new ConnectedAccountsError('MISSING_SESSION')
  try {
    const access = await getToken(accountToken(config))
    const accounts = await listAccounts(getProvider(config), access)
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
  if (!(await sessions.load(exchange))) throw new ConnectedAccountsError('MISSING_SESSION')
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  let isRequested = false
  try {
    const access = await getToken(accountToken(config))
    isRequested = true
    await deleteAccount(getProvider(config), access, id)
  } catch (cause) {
    if (!isProviderFailure(cause)) throw cause
    if (isRequested) await forget(engine, exchange, (data) => forgetConnection(data, connection))
    throw new ConnectedAccountsError('FAILED_TO_DELETE', { cause })
  }
  await forget(engine, exchange, (data) => forgetConnection(data, connection))
}
