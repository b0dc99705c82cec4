import type { Config } from '../config/config.ts'
import { areOtherHosts, toRequestPlace } from '../config/request-host.ts'
import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { CallbackError } from '../errors/callback.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/defined.ts'
import { asIdpError } from '../log/failure.ts'
import type { SingleUse } from '../transaction/single-use.ts'
import { onlyOnce } from '../transaction/single-use.ts'
import type { StateNote } from '../transaction/state.ts'
import { toMissingTransactionError, verifyState } from '../transaction/state.ts'
import type { Transaction } from '../transaction/transaction.ts'
import type { Attempt, AttemptContext, CallbackOutcome } from './attempt.ts'
import { failAttempt, redirectToApp, toPopupOutcome } from './attempt.ts'
import type { Complete, Found } from './completion.ts'

export interface CallbackInput {
  /** Query or form of the callback, unvalidated. */
  readonly parameters: URLSearchParams
  /** The host's own request object, for `onCallback`. */
  readonly request: unknown
  readonly correlationId: string
}

/**
 * Handles a valid state whose transaction is missing: redirects if there is a session, otherwise the login may restart.
 */
async function handleLostTransaction(
  engine: Engine,
  exchange: Exchange,
  { note, error, input }: { note: StateNote; error: CallbackError; input: CallbackInput },
): Promise<CallbackOutcome> {
  const appBaseUrl = engine.baseUrl(exchange)
  const { returnTo } = note
  if (await engine.sessions.load(exchange)) return redirectToApp(engine.config, appBaseUrl, returnTo)
  const context = defined({ request: input.request, appBaseUrl, returnTo })
  // A browser that stores no cookies would restart in an endless loop.
  return failAttempt(engine.config, { context, error, id: input.correlationId, restart: !note.noRestart })
}

function getPopup(transaction: Transaction): string | undefined {
  return transaction.responseType === 'code' ? transaction.popup : undefined
}

function toContext(
  { request }: CallbackInput,
  transaction: Transaction,
): AttemptContext & { appBaseUrl: string } {
  const { appBaseUrl, responseType, returnTo } = transaction
  return defined({
    request,
    responseType,
    challengeMode: getPopup(transaction) === undefined ? 'redirect' : 'popup',
    appBaseUrl,
    returnTo,
  })
}

/** Stages the changes of an attempt. A popup does not redirect: it posts the outcome to its opener. */
async function applyAttempt(
  { config, sessions }: Engine,
  exchange: Exchange,
  { context, id, transaction }: Found,
  { outcome, stage }: Attempt,
): Promise<CallbackOutcome> {
  const popup = getPopup(transaction)
  let result = outcome
  try {
    await stage?.(exchange)
  } catch (thrown) {
    result = await failAttempt(config, { context, error: asIdpError(thrown), id })
  }
  if (result.kind === 'response') return { kind: 'response', response: result.response.clone() }
  if (popup === undefined) return result
  const session = await sessions.load(exchange)
  return toPopupOutcome(config, { ...context, popup }, result, session?.data.user)
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
  const { correlationId: id, parameters } = input
  let known: { state: string; note: StateNote }
  try {
    known = await verifyState(engine.sealer, parameters)
  } catch (thrown) {
    const context = { request: input.request, appBaseUrl: engine.baseUrl(exchange) }
    return failAttempt(engine.config, { context, error: asIdpError(thrown), id })
  }
  const { state, note } = known
  const lookup = await engine.transactions.load(exchange, await hashToken(state))
  if (lookup.kind === 'expired') engine.transactions.clear(exchange, lookup.transaction)
  if (lookup.kind !== 'found') {
    const place = toRequestPlace(engine.baseUrl(exchange), exchange.request)
    const error = toMissingTransactionError(engine.config, note, lookup, areOtherHosts(note, place))
    return handleLostTransaction(engine, exchange, { note, error, input })
  }
  const { transaction, sealed } = lookup
  engine.transactions.clear(exchange, transaction)
  engine.transactions.clearRestart(exchange)
  const use = await toSingleUse(engine.config, sealed, parameters)
  const context = toContext(input, transaction)
  const found = { transaction, parameters, context, id }
  const joined = await onlyOnce(use, () => complete(found))
  if (joined.kind === 'result') return applyAttempt(engine, exchange, found, joined.result)
  const error = new CallbackError('REPLAYED_STATE')
  if (getPopup(transaction) === undefined)
    return handleLostTransaction(engine, exchange, { note, error, input })
  return applyAttempt(engine, exchange, found, {
    outcome: await failAttempt(engine.config, { context, error, id }),
  })
}
