import { hashToken } from '../crypto/random.ts'
import type { Engine } from '../engine.ts'
import { CallbackError } from '../errors/callback.ts'
import type { Exchange } from '../http/exchange.ts'
import { asIdpError } from '../log/failure.ts'
import { knownState, missingTransaction } from '../transaction/known-state.ts'
import { onlyOnce } from '../transaction/single-use.ts'
import type { StateNote } from '../transaction/state.ts'
import type { Transaction } from '../transaction/transaction.ts'
import type { Attempt, AttemptContext, CallbackOutcome } from './attempt.ts'
import { failed, goOn, inPopup } from './attempt.ts'
import type { Complete, Found } from './completion.ts'

export interface CallbackInput {
  /** Query or form of the callback, as it came. */
  readonly parameters: URLSearchParams
  /** The request as the host knows it, for `onCallback`. */
  readonly request: unknown
  readonly correlationId: string
}

interface Lost {
  readonly note: StateNote
  readonly error: CallbackError
  readonly input: CallbackInput
}

/** The state is ours but its transaction is gone: whoever is signed in anyway goes on, everybody else may begin again. */
async function lost(
  engine: Engine,
  exchange: Exchange,
  { note, error, input }: Lost,
): Promise<CallbackOutcome> {
  const appBaseUrl = engine.baseUrl(exchange)
  const { returnTo } = note
  if (await engine.sessions.load(exchange)) return goOn(engine.config, appBaseUrl, returnTo)
  const context = { request: input.request, appBaseUrl, ...(returnTo === undefined ? {} : { returnTo }) }
  // A browser that keeps no cookie would come back like this for ever.
  return failed(engine.config, { context, error, id: input.correlationId, restart: !note.restarted })
}

function getPopup(transaction: Transaction): string | undefined {
  return transaction.responseType === 'code' ? transaction.popup : undefined
}

function toContext(
  { request }: CallbackInput,
  transaction: Transaction,
): AttemptContext & { appBaseUrl: string } {
  const { appBaseUrl, responseType, returnTo } = transaction
  return {
    request,
    responseType,
    challengeMode: getPopup(transaction) === undefined ? 'redirect' : 'popup',
    appBaseUrl,
    ...(returnTo === undefined ? {} : { returnTo }),
  }
}

/** Stages what an attempt leaves behind. A popup leads nowhere: it tells the page that opened it. */
async function answered(
  { config, sessions }: Engine,
  exchange: Exchange,
  { context, id, transaction }: Found,
  { outcome, stage }: Attempt,
): Promise<CallbackOutcome> {
  const popup = getPopup(transaction)
  let answer = outcome
  try {
    await stage?.(exchange)
  } catch (thrown) {
    answer = await failed(config, { context, error: asIdpError(thrown), id })
  }
  if (answer.kind === 'response') return { kind: 'response', response: answer.response.clone() }
  if (popup === undefined) return answer
  const session = await sessions.load(exchange)
  return inPopup(config, { ...context, popup }, answer, session?.data.user)
}

/**
 * Ends what a transaction began:
 * 1. the state must be one that we made;
 * 2. its transaction must lie in this browser; it is staged for deletion before anything else can fail;
 * 3. the same callback runs once in this process, a second identical request shares its result;
 * 4. `complete` does what the transaction is for;
 * 5. what it leaves behind is staged, and a popup is told how it ended.
 * An older session is untouched unless a new one takes its place. Never throws what belongs to the attempt.
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
    known = await knownState(engine.sealer, parameters)
  } catch (thrown) {
    const context = { request: input.request, appBaseUrl: engine.baseUrl(exchange) }
    return failed(engine.config, { context, error: asIdpError(thrown), id })
  }
  const { state, note } = known
  const lookup = await engine.transactions.load(exchange, await hashToken(state))
  if (lookup.kind === 'expired') engine.transactions.clear(exchange, lookup.transaction)
  if (lookup.kind !== 'found') {
    const { host } = new URL(engine.baseUrl(exchange))
    const error = missingTransaction(engine.config, host, note, lookup)
    return lost(engine, exchange, { note, error, input })
  }
  const { transaction, sealed } = lookup
  engine.transactions.clear(exchange, transaction)
  engine.transactions.clearRestart(exchange)
  const use = { key: await hashToken(sealed, 32), request: await hashToken(`${parameters}`, 32) }
  const context = toContext(input, transaction)
  const found = { transaction, parameters, context, id }
  const joined = await onlyOnce({ ...use, now: engine.config.clock }, () => complete(found))
  if (joined.kind === 'result') return answered(engine, exchange, found, joined.result)
  const error = new CallbackError('REPLAYED_STATE')
  if (getPopup(transaction) === undefined) return lost(engine, exchange, { note, error, input })
  return answered(engine, exchange, found, { outcome: await failed(engine.config, { context, error, id }) })
}
