import type { ConnectedAccount } from '../config/hooks.ts'
import { constantTimeEqual } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { CallbackError } from '../errors/callback.ts'
import { ConnectAccountError } from '../errors/connected-accounts.ts'
import { isProviderFailure } from '../errors/provider-failure.ts'
import type { Exchange } from '../http/exchange.ts'
import { asIdpError } from '../log/failure.ts'
import { accountToken, completeConnect } from '../oidc/account-api.ts'
import type { Provider } from '../oidc/provider.ts'
import { getProvider } from '../oidc/provider.ts'
import { refusal } from '../oidc/translate.ts'
import { runBeforeSave, withKnownClaims } from '../session/hooks.ts'
import { subjectTag } from '../session/model/claims.ts'
import { withChanges } from '../session/model/session.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { copySession } from '../session/model/stored-session.ts'
import { forgetConnection } from '../tokens/forget-connection.ts'
import type { TokenSource } from '../tokens/token-source.ts'
import type { ConnectTransaction } from '../transaction/transaction.ts'
import type { Attempt } from './attempt.ts'
import { completed, failed } from './attempt.ts'
import type { Found } from './completion.ts'
import { onceEach } from './completion.ts'

const READ = ['connect_code', 'state', 'iss', 'error', 'error_description'] as const

/** The code of the callback: what another provider sent is not even read, and a refusal comes before everything else. */
async function readConnectCode(provider: Provider, parameters: URLSearchParams): Promise<string> {
  const callback = onceEach(parameters, READ)
  const issuer = callback.get('iss')
  if (issuer !== undefined && issuer !== (await provider.metadata()).issuer) {
    throw new CallbackError('ISSUER_MISMATCH')
  }
  const error = callback.get('error')
  if (error) {
    const cause = refusal({ error, description: callback.get('error_description') })
    throw new ConnectAccountError('FAILED_TO_COMPLETE', { cause })
  }
  const code = callback.get('connect_code')
  if (!code) throw new CallbackError('INVALID_CALLBACK', { detail: 'Parameter: connect_code.' })
  return code
}

/** Whether the session began the attempt, and is still that of the same user. */
async function hasBegun(
  session: StoredSession,
  { session: sessionKey, user }: ConnectTransaction,
): Promise<boolean> {
  if (!constantTimeEqual(session.sessionKey, sessionKey)) return false
  return user === undefined || user === (await subjectTag(session.data))
}

/** The session that began the attempt, as it is now; `MISSING_SESSION` when the browser has another one, or none. */
async function loadSameSession(
  { sessions }: Engine,
  exchange: Exchange,
  transaction: ConnectTransaction,
): Promise<StoredSession> {
  const session = await sessions.load(exchange)
  if (session && (await hasBegun(session, transaction))) return session
  throw new ConnectAccountError('MISSING_SESSION')
}

async function connect(
  engine: Engine,
  exchange: Exchange,
  { parameters, transaction }: Found<ConnectTransaction>,
  tokenFor: TokenSource,
): Promise<ConnectedAccount> {
  const provider = getProvider(engine.config)
  const { authSession, codeVerifier, redirectUri } = transaction
  const completion = { authSession, codeVerifier, redirectUri }
  try {
    const connectCode = await readConnectCode(provider, parameters)
    await loadSameSession(engine, exchange, transaction)
    const access = await tokenFor(accountToken(engine.config))
    return await completeConnect(provider, access, { ...completion, connectCode })
  } catch (cause) {
    if (isProviderFailure(cause)) throw new ConnectAccountError('FAILED_TO_COMPLETE', { cause })
    throw cause
  }
}

/**
 * Completes the connection of an account whose transaction was found:
 * 1. the provider's refusal comes first, then the code must be there;
 * 2. the session must be the one that began it: nobody connects an account to another user;
 * 3. the code goes to the account API, exactly once, with a token of that session;
 * 4. `onCallback`, then `beforeSessionSaved` decide;
 * 5. the session keeps its identity; what it kept of tokens of the connection is stale and goes.
 */
export async function completeConnection(
  engine: Engine,
  exchange: Exchange,
  found: Found<ConnectTransaction>,
  tokenFor: TokenSource,
): Promise<Attempt> {
  const { config, sessions } = engine
  const { context, id, transaction } = found
  let connectedAccount: ConnectedAccount
  let session: StoredSession
  try {
    connectedAccount = await connect(engine, exchange, found, tokenFor)
    session = await loadSameSession(engine, exchange, transaction)
  } catch (thrown) {
    return { outcome: await failed(config, { context, error: asIdpError(thrown), id }) }
  }
  return completed(config, {
    context: { ...context, connectedAccount },
    id,
    session: withKnownClaims(config, session.data),
    prepare: async () => {
      const { data: found } = copySession(session)
      const changes = await runBeforeSave(config, forgetConnection(session.data, connectedAccount.connection))
      return async (sharing) => {
        config.log.emit({ level: 'info', code: 'CONNECT_COMPLETED', id })
        const current = await sessions.load(sharing)
        // The browser may have logged out or in again before an identical callback shares this result.
        if (!current || !(await hasBegun(current, transaction))) return
        // Nor does it undo what the session became meanwhile.
        const data = withChanges({ current: current.data, found, changes })
        await sessions.save(sharing, { ...current, data, usedAt: config.clock() })
      }
    },
  })
}
