import { CallbackError } from '../errors/callback.ts'
import type { Transaction } from '../transaction/transaction.ts'
import type { Attempt, AttemptContext } from './attempt.ts'

/** A callback whose transaction was found. */
export interface Found<T extends Transaction = Transaction> {
  readonly transaction: T
  /** Query or form of the callback, unvalidated. */
  readonly parameters: URLSearchParams
  readonly context: AttemptContext & { readonly appBaseUrl: string }
  /** Correlation id. */
  readonly id: string
}

/**
 * Completes a transaction. Returns failures of the attempt instead of throwing them. Runs once for identical requests.
 */
export type Complete = (found: Found) => Promise<Attempt>

/** Returns the named parameters and ignores all others. Throws `INVALID_CALLBACK` if one is repeated. */
export function onceEach(parameters: URLSearchParams, names: readonly string[]): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const name of names) {
    const values = parameters.getAll(name)
    if (values.length > 1) throw new CallbackError('INVALID_CALLBACK', { detail: `Parameter: ${name}.` })
    if (values[0] !== undefined) read.set(name, values[0])
  }
  return read
}
