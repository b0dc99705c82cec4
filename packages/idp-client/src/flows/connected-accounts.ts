import type { ConnectedAccount } from '../config/hooks.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { ConnectedAccountsError } from '../errors/connected-accounts.ts'
import { isProviderFailure } from '../errors/provider-failure.ts'
import type { Exchange } from '../http/exchange.ts'
import { asIdpError, reportOutcome } from '../log/failure.ts'
import { accountToken, deleteAccount, listAccounts } from '../oidc/account-api.ts'
import { getProvider } from '../oidc/provider.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { forgetConnection, keepConnections } from '../tokens/forget-connection.ts'
import type { TokenSource } from '../tokens/token-source.ts'

/** Options of `deleteConnectedAccount`; an account as `listConnectedAccounts` returns it will do. */
export interface DeleteConnectedAccountOptions {
  /** Id of the account, as the provider names it. */
  id: string
  /** Its connection: then only tokens of that connection are forgotten, else those of all connections. */
  connection?: string
}

/**
 * Saves the session without tokens of connections. The provider has decided by now: a session that cannot be written is
 * reported, and no failure.
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
 * Returns the accounts that are connected to the user of the session. Where cookies can be written, the session forgets
 * tokens of connections that have no account any more. Throws `ConnectedAccountsError` `MISSING_SESSION`,
 * `FAILED_TO_LIST`.
 */
export async function listConnectedAccounts(
  engine: Engine,
  exchange: Exchange,
  tokenFor: TokenSource,
): Promise<ConnectedAccount[]> {
  const { config, sessions } = engine
  if (!(await sessions.load(exchange))) throw new ConnectedAccountsError('MISSING_SESSION')
  try {
    const access = await tokenFor(accountToken(config))
    const accounts = await listAccounts(getProvider(config), access)
    const connected = new Set(accounts.map(({ connection }) => connection))
    if (exchange.canWrite())
      await forget(engine, exchange, (data) => keepConnections(data, (each) => connected.has(each)))
    return accounts
  } catch (cause) {
    if (isProviderFailure(cause)) throw new ConnectedAccountsError('FAILED_TO_LIST', { cause })
    throw cause
  }
}

const LONGEST_ID = 512

/** A path segment of its own: dots alone would name another path, and half a character none. */
function isId(value: unknown): value is string {
  return typeof value === 'string' && value.length <= LONGEST_ID && !/^\.{0,2}$|\p{Cs}/u.test(value)
}

/**
 * Disconnects an account of the user of the session; the provider decides whose it is. What the session kept of tokens
 * of its connection is forgotten, also when the answer was lost: nobody else tells that they are revoked. Throws `ConnectedAccountsError`
 * `MISSING_SESSION`, `FAILED_TO_DELETE`, `INVALID_REQUEST` for an id that is none, and `SESSION_NOT_WRITABLE`.
 */
export async function deleteConnectedAccount(
  engine: Engine,
  exchange: Exchange,
  { connection, id }: Partial<DeleteConnectedAccountOptions>,
  tokenFor: TokenSource,
): Promise<void> {
  const { config, sessions } = engine
  if (!isId(id)) throw new IdpError('INVALID_REQUEST', { detail: 'Option: id.' })
  if (!(await sessions.load(exchange))) throw new ConnectedAccountsError('MISSING_SESSION')
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  let isAsked = false
  try {
    const access = await tokenFor(accountToken(config))
    isAsked = true
    await deleteAccount(getProvider(config), access, id)
  } catch (cause) {
    if (!isProviderFailure(cause)) throw cause
    if (isAsked) await forget(engine, exchange, (data) => forgetConnection(data, connection))
    throw new ConnectedAccountsError('FAILED_TO_DELETE', { cause })
  }
  await forget(engine, exchange, (data) => forgetConnection(data, connection))
}
