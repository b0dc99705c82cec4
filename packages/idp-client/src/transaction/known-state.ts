import type { Config } from '../config/config.ts'
import type { Sealer } from '../crypto/seal.ts'
import { CallbackError } from '../errors/callback.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import type { StateNote } from './state.ts'
import { decryptState } from './state.ts'
import type { TransactionLookup } from './storage.ts'

/** Returns the `state` of a callback and its note. Throws `MISSING_STATE`, or `UNKNOWN_STATE` if it was not issued here. */
export function verifyState(
  sealer: Sealer,
  parameters: URLSearchParams,
): MaybePromise<{ state: string; note: StateNote }> {
  const values = parameters.getAll('state')
  const state = values[0]
  if (!state) throw new CallbackError('MISSING_STATE')
  return chain(values.length === 1 ? decryptState(sealer, state) : null, (note) => {
    if (!note) throw new CallbackError('UNKNOWN_STATE')
    return { state, note }
  })
}

/**
 * Returns the error for a state whose transaction is missing. `otherHost`: the login started at another host than that of
 * the callback.
 */
export function toMissingTransactionError(
  config: Config,
  note: StateNote,
  lookup: TransactionLookup,
  otherHost: boolean,
): CallbackError {
  if (lookup.kind === 'superseded') return new CallbackError('SUPERSEDED_STATE')
  const isExpired = note.issuedAt + config.transaction.cookie.maxAge <= config.clock()
  if (lookup.kind === 'expired' || isExpired) return new CallbackError('EXPIRED_STATE')
  return new CallbackError(otherHost ? 'STATE_HOST_MISMATCH' : 'UNKNOWN_STATE')
}
