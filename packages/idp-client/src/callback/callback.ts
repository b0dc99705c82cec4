import type { Config } from '../config/config.ts'
import { areOtherHosts, toRequestPlace } from '../config/request-host.ts'
import { hashToken, randomToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { CallbackError } from '../errors/callback.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import type { SingleUse } from '../transaction/single-use.ts'
import { onlyOnce } from '../transaction/single-use.ts'
import type { StateNote } from '../transaction/state.ts'
import { toMissingTransactionError, verifyState } from '../transaction/state.ts'
import type { Transaction } from '../transaction/transaction.ts'
import type { Attempt, CallbackOutcome, Complete, Found } from './attempt.ts'
import { failAttempt, redirectToApp } from './attempt.ts'

export interface CallbackInput {
  /** Query or form of the callback, unvalidated. */
  readonly parameters: URLSearchParams
  /** The host's own request object, for `onCallback`. */
  readonly request: unknown
  readonly correlationId: string
}

/** A login that cannot be completed. */
interface LostLogin {
  readonly error: CallbackError
  readonly note: StateNote
  /** Earliest creation of a session that makes it unnecessary, in seconds since the epoch. Default: any. */
  readonly since?: number
}

/**
 * Handles a valid state whose transaction is missing, here or at the provider: redirects if there is a session, which a login in another
 * tab has created; without any the login may restart.
 */
async function handleLostTransaction(
  { baseUrl, config, sessions }: Engine,
  exchange: Exchange,
  { correlationId: id, request }: CallbackInput,
  { error, note, since = 0 }: LostLogin,
): Promise<CallbackOutcome> {
  const appBaseUrl = baseUrl(exchange)
  const { noRestart, returnTo } = note
  const session = await sessions.load(exchange)
  if (session && session.data.internal.createdAt >= since) return redirectToApp(config, appBaseUrl, returnTo)
  // A browser that stores no cookies would restart in an endless loop, as would a guard that requires more than this session has.
  const restart = !noRestart && !session
  return failAttempt(config, { context: defined({ request, appBaseUrl, returnTo }), id }, error, restart)
}

/** Returns the error of a login that the provider has lost, for example because the user has logged in in another tab. */
function lostAtProvider(parameters: URLSearchParams): CallbackError | undefined {
  const error = parameters.get('error')
  const description = parameters.get('error_description')
  const expired = 'The provider reports that its login page has expired'
  // Keycloak.
  if (error === 'temporarily_unavailable' && description === 'authentication_expired')
    return new CallbackError('EXPIRED_STATE', { detail: `${expired} (${error}, ${description}).` })
  // Ory Hydra, with codes that no standard defines. It keeps one login per browser and client.
  if (error === 'request_unauthorized')
    return new CallbackError('EXPIRED_STATE', { detail: `${expired} (${error}).` })
  const detail = 'The provider keeps one login per browser (request_forbidden).'
  return error === 'request_forbidden'
    ? new CallbackError('SUPERSEDED_STATE', { detail, remedy: 'EXPIRED_STATE' })
    : undefined
}

function getPopup(transaction: Transaction): string | undefined {
  return transaction.responseType === 'code' ? transaction.popup : undefined
}

function toContext({ request }: CallbackInput, transaction: Transaction): Found['context'] {
  const { appBaseUrl, responseType, returnTo } = transaction
  const challengeMode = getPopup(transaction) === undefined ? 'redirect' : 'popup'
  return defined({ request, responseType, challengeMode, appBaseUrl, returnTo })
}

/** Stages the changes of an attempt. A popup does not redirect: it posts the user or the error to its opener. */
async function applyAttempt(
  { config, sessions }: Engine,
  exchange: Exchange,
  found: Found,
  { outcome, stage }: Attempt,
): Promise<CallbackOutcome> {
  let result = outcome
  try {
    await stage?.(exchange)
  } catch (thrown) {
    result = await failAttempt(config, found, thrown)
  }
  if (result.kind === 'response') return { kind: 'response', response: result.response.clone() }
  const channel = getPopup(found.transaction)
  if (channel === undefined) return result
  const { appBaseUrl, returnTo } = found.context
  const { cspNonce: nonce = randomToken(16), error } = result
  const nextUrl =
    result.kind === 'redirect' ? result.location : redirectToApp(config, appBaseUrl, returnTo).location
  const user = (await sessions.load(exchange))?.data.user
  return {
    kind: 'popup',
    popup: { channel, nonce, nextUrl },
    result: user && !error ? { user } : { error: error ?? new IdpError('MISSING_SESSION') },
  }
}

/** Returns the keys by which a transaction can be used once, by identical requests. */
async function toSingleUse(
  { httpTimeout }: Config,
  sealed: string,
  parameters: URLSearchParams,
): Promise<SingleUse> {
  return {
    key: await hashToken(sealed, 32),
    request: await hashToken(`${parameters}`, 32),
    // A callback requests the metadata, tokens, keys and UserInfo.
    patience: 4 * httpTimeout,
  }
}

/**
 * Completes a transaction:
 * 1. verifies that the state was issued by this application;
 * 2. loads its transaction from this browser and stages its deletion, before anything else can fail;
 * 3. runs the same callback once in this process; an identical second request shares the result;
 * 4. calls `complete` for the purpose of the transaction;
 * 5. stages the changes, and posts the outcome of a popup to its opener.
 *
 * An older session is unchanged unless a new one replaces it. Failures of the attempt are returned, never thrown.
 */
export async function callback(
  engine: Engine,
  exchange: Exchange,
  input: CallbackInput,
  complete: Complete,
): Promise<CallbackOutcome> {
  const { config, sealer, transactions } = engine
  const { correlationId: id, parameters, request } = input
  let known: { state: string; note: StateNote }
  try {
    known = await verifyState(sealer, parameters)
  } catch (thrown) {
    return failAttempt(config, { context: { request, appBaseUrl: engine.baseUrl(exchange) }, id }, thrown)
  }
  const { state, note } = known
  const lookup = await transactions.load(exchange, await hashToken(state))
  if (lookup.kind === 'expired') transactions.clear(exchange, lookup.transaction)
  if (lookup.kind !== 'found') {
    const place = toRequestPlace(engine.baseUrl(exchange), exchange.request)
    const error = toMissingTransactionError(config, note, lookup, areOtherHosts(note, place))
    return handleLostTransaction(engine, exchange, input, { note, error })
  }
  const { transaction, sealed } = lookup
  transactions.clear(exchange, transaction)
  transactions.clearRestart(exchange)
  const isPopup = getPopup(transaction) !== undefined
  const isLogin = transaction.responseType === 'code' && !isPopup
  const lost = isLogin ? lostAtProvider(parameters) : undefined
  if (lost) {
    const { returnTo, startedAt: since } = transaction
    const login = { note: defined({ ...note, returnTo }), error: lost, since }
    return handleLostTransaction(engine, exchange, input, login)
  }
  const found = { transaction, parameters, context: toContext(input, transaction), id }
  const joined = await onlyOnce(await toSingleUse(config, sealed, parameters), () => complete(found))
  if (joined.kind === 'result') return applyAttempt(engine, exchange, found, joined.result)
  const error = new CallbackError('REPLAYED_STATE')
  if (!isPopup) return handleLostTransaction(engine, exchange, input, { note, error })
  return applyAttempt(engine, exchange, found, { outcome: await failAttempt(config, found, error) })
}
