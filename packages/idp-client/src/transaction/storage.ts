import type { Exchange } from '../http/exchange.ts'
import type { Transaction } from './transaction.ts'

export type TransactionLookup =
  | { readonly kind: 'found'; readonly transaction: Transaction; readonly sealed: string }
  | { readonly kind: 'expired'; readonly transaction: Transaction }
  /** The shared cookie holds a later login (parallel transactions off). */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'missing' }

export interface TransactionStorage {
  /** Stages the transaction's cookie and the deletion of the oldest ones that would not fit beside it. */
  save(exchange: Exchange, transaction: Transaction): Promise<void>
  load(exchange: Exchange, stateHash: string): Promise<TransactionLookup>
  /** Stages the deletion of one transaction's cookie. */
  clear(exchange: Exchange, transaction: Transaction): void
  /** Stages the deletion of every transaction cookie that the request carries. */
  clearAll(exchange: Exchange): void
  /**
   * Loop guard of the automatic restart: true at the first call, and staged so that the next call of the same browser
   * within a minute gets false.
   */
  mayRestart(exchange: Exchange): boolean
  clearRestart(exchange: Exchange): void
}
