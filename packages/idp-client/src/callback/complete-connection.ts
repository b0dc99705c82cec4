import type { ConnectedAccount } from '../config/hooks.ts'
import { constantTimeEqual } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { CallbackError } from '../errors/callback.ts'
import { ConnectAccountError } from '../errors/connected-accounts.ts'
import { isProviderFailure } from '../errors/provider.ts'
import type { Exchange } from '../http/exchange.ts'
import type { Provider } from '../oidc/provider.ts'
import { getProvider } from '../oidc/provider.ts'
import { refusal } from '../oidc/translate.ts'
import { accountToken, completeConnect } from '../oidc/vendor/accounts.ts'
import { prepareChangedSession, withKnownClaims } from '../session/hooks.ts'
import { subjectTag } from '../session/model/claims.ts'
import { forgetConnection } from '../session/model/further-tokens.ts'
import { laterUse } from '../session/model/lifetime.ts'
import { withChanges } from '../session/model/session.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { copySession } from '../session/model/stored-session.ts'
import { callAccountApi } from '../tokens/account-token.ts'
import type { TokenSource } from '../tokens/token-request.ts'
import type { ConnectTransaction } from '../transaction/transaction.ts'
import type { Attempt, Found } from './attempt.ts'
import { completeAttempt, createReporter, failAttempt, onceEach } from './attempt.ts'

const CALLBACK_PARAMETERS = ['connect_code', 'iss', 'error', 'error_description'] as const

/**
 * Returns the code of the callback. Checks `iss` before reading anything else, and reports an error response before a
 * missing code.
 */
async function readConnectCode(provider: Provider, parameters: URLSearchParams): Promise<string> {
  const callback = onceEach(parameters, CALLBACK_PARAMETERS)
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

/** Returns whether the session started the attempt and still belongs to the same user. */
async function isInitiator(
  session: StoredSession,
  { sessionKey, user }: ConnectTransaction,
): Promise<boolean> {
  if (!constantTimeEqual(session.sessionKey, sessionKey)) return false
  return user === (await subjectTag(session.data))
}

/**
 * Returns the current state of the session that started the attempt; throws `MISSING_SESSION` if the browser has
 * another one or none.
 */
async function loadSameSession(
  { sessions }: Engine,
  exchange: Exchange,
  transaction: ConnectTransaction,
): Promise<StoredSession> {
  const session = await sessions.load(exchange)
  if (session && (await isInitiator(session, transaction))) return session
  throw new ConnectAccountError('MISSING_SESSION')
}

/**
 * Completes the connection of an account:
 * 1. reports an error response first, then a missing code;
 * 2. checks that the session is the one that started the attempt, so that an account cannot be connected to another
 *    user;
 * 3. sends the code to the account API, exactly once, with a token of that session;
 * 4. runs `onCallback`, then `beforeSessionSaved`;
 * 5. saves the session under the same identity, without the now outdated tokens of the connection.
 */
export async function completeConnection(
  engine: Engine,
  exchange: Exchange,
  found: Found<ConnectTransaction>,
  getToken: TokenSource,
): Promise<Attempt> {
  const { config, sessions } = engine
  const { context, id, parameters, transaction } = found
  const { authSession, codeVerifier, redirectUri } = transaction
  const provider = getProvider(config)
  let connectedAccount: ConnectedAccount
  let session: StoredSession
  try {
    const connectCode = await readConnectCode(provider, parameters)
    const { sessionKey } = await loadSameSession(engine, exchange, transaction)
    const completion = { authSession, codeVerifier, redirectUri, connectCode }
    const caller = { getToken, sessionKey, want: accountToken(config) }
    connectedAccount = await callAccountApi(caller, (access) => completeConnect(provider, access, completion))
    session = await loadSameSession(engine, exchange, transaction)
  } catch (cause) {
    const error = isProviderFailure(cause) ? new ConnectAccountError('FAILED_TO_COMPLETE', { cause }) : cause
    return { outcome: await failAttempt(config, found, error) }
  }
  const completed = { id, context: { ...context, connectedAccount } }
  return completeAttempt(config, completed, withKnownClaims(session), async () => {
    const { data: before } = copySession(session)
    const forgotten = forgetConnection(session.data, connectedAccount.connection)
    const changes = await prepareChangedSession(config, { ...session, data: forgotten })
    const reportCompleted = createReporter(config, 'CONNECT_COMPLETED', id)
    return async (sharing) => {
      reportCompleted()
      const current = await sessions.load(sharing)
      // The browser may have logged out or in again before an identical callback shares this result.
      if (!current || !(await isInitiator(current, transaction))) return
      // Changes that were made to the session meanwhile are preserved.
      const data = withChanges({ current: current.data, found: before, changes })
      const usedAt = laterUse(current.usedAt, config.clock())
      await sessions.save(sharing, { ...current, data, usedAt }, { found: current })
    }
  })
}
