import { CallbackError } from '../errors/callback.ts'
import type { Transaction } from '../transaction/transaction.ts'
import type { Attempt, AttemptContext } from './attempt.ts'

/** A callback whose transaction was found: what completes it needs to know. */
export interface Found<T extends Transaction = Transaction> {
  readonly transaction: T
  /** Query or form of the callback, as it came. */
  readonly parameters: URLSearchParams
  readonly context: AttemptContext & { readonly appBaseUrl: string }
  /** Correlation id. */
  readonly id: string
}

/** Ends what a transaction began. Never throws what belongs to the attempt; it runs once for identical requests. */
export type Complete = (found: Found) => Promise<Attempt>

/** The parameters of these names, once each; all others are not even looked at. `INVALID_CALLBACK` for a repeated one. */
export function onceEach(parameters: URLSearchParams, names: readonly string[]): ReadonlyMap<string, string> {
  const read = new Map<string, string>()
  for (const name of names) {
    const values = parameters.getAll(name)
    if (values.length > 1) throw new CallbackError('INVALID_CALLBACK', { detail: `Parameter: ${name}.` })
    if (values[0] !== undefined) read.set(name, values[0])
  }
  return read
}
