import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import type { Transaction } from './transaction.ts'

export type TransactionLookup =
  | { readonly kind: 'found'; readonly transaction: Transaction; readonly sealed: string }
  | { readonly kind: 'expired'; readonly transaction: Transaction }
  /** The cookie contains a later login (parallel transactions are disabled). */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'missing' }

export interface TransactionStorage {
  /**
   * Encrypts a transaction. The returned function stages its cookie, and the deletion of the oldest ones if all together are
   * too large. Throws `SESSION_TOO_LARGE` if the session leaves no room for it.
   */
  prepare(exchange: Exchange, transaction: Transaction): MaybePromise<() => void>
  /** Stages the deletion of the oldest transactions that do not fit beside the session as it is staged. */
  limit(exchange: Exchange): void
  load(exchange: Exchange, stateHash: string): MaybePromise<TransactionLookup>
  /** Stages the deletion of one transaction's cookie. */
  clear(exchange: Exchange, transaction: Transaction): void
  /** Stages the deletion of every transaction cookie that the request carries, and of the cookie of `claimRestart`. */
  clearAll(exchange: Exchange): void
  /**
   * Stages a cookie that allows no further automatic restart for a minute. Returns false if the browser has that cookie
   * already: the login must not be restarted.
   */
  claimRestart(exchange: Exchange): boolean
  clearRestart(exchange: Exchange): void
}
