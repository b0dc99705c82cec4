import type { Exchange } from '../http/exchange.ts'
import type { Transaction } from './transaction.ts'

export type TransactionLookup =
  | { readonly kind: 'found'; readonly transaction: Transaction; readonly sealed: string }
  | { readonly kind: 'expired'; readonly transaction: Transaction }
  /** The cookie contains a later login (parallel transactions are disabled). */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'missing' }

export interface TransactionStorage {
  /** Stages the cookie of the transaction, and the deletion of the oldest ones if all together are too large. */
  save(exchange: Exchange, transaction: Transaction): Promise<void>
  load(exchange: Exchange, stateHash: string): Promise<TransactionLookup>
  /** Stages the deletion of one transaction's cookie. */
  clear(exchange: Exchange, transaction: Transaction): void
  /** Stages the deletion of every transaction cookie that the request carries. */
  clearAll(exchange: Exchange): void
  /**
   * Returns whether a login may be restarted automatically: once per minute and browser. Stages a cookie to remember that.
   */
  mayRestart(exchange: Exchange): boolean
  clearRestart(exchange: Exchange): void
}
