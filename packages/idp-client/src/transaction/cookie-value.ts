import type { Sealer } from '../crypto/seal.ts'
import { SessionStoreError } from '../errors/session.ts'
import type { NamedValue } from '../http/chunks.ts'
import { cookieBytes, sumBytes } from '../http/cookie-budget.ts'
import type { CookieJar } from '../http/cookie-jar.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import type { LoginTransaction, Transaction } from './transaction.ts'
import { encodeTransaction } from './transaction.ts'

/** Maximum size of one transaction cookie. */
const ONE_COOKIE_BYTES = 3000

/** Optional properties, in the order in which they are removed from a transaction that is too large. */
const EXPENDABLE = [['scope', 'ownScope'], ['audience'], ['returnTo']] as const

/** Returns the start time in a cookie value, in seconds since the epoch; 0, the oldest, for a value without one. */
export function readStart(value: string): number {
  return Number(/^(\d{1,12}):/.exec(value)?.[1] ?? 0)
}

/** Returns the part of a cookie value after the start time. */
export function readSealedPart(value: string): string {
  return value.slice(value.indexOf(':') + 1)
}

function without(transaction: Transaction, names: readonly (keyof LoginTransaction)[]): Transaction {
  if (names.length === 0) return transaction
  const kept = Object.entries(transaction).filter(([name]) => !names.includes(name as keyof LoginTransaction))
  return Object.fromEntries(kept) as unknown as Transaction
}

/** Where a transaction is stored. */
interface TransactionRoom {
  readonly name: string
  /** Bytes that are left for its cookie, including the name. */
  readonly left: number
}

function tooLarge(bytes: number, limit: number): SessionStoreError {
  const detail = `This login or connection needs a cookie of ${bytes} bytes, and the others leave ${limit}.`
  return new SessionStoreError('SESSION_TOO_LARGE', { bytes, detail })
}

/**
 * Returns `<start>:<sealed>`, without the optional properties that do not fit. Throws `SESSION_TOO_LARGE` if not even the
 * required ones fit.
 */
export function createCookieValue(
  sealer: Sealer,
  transaction: Transaction,
  { left, name }: TransactionRoom,
): MaybePromise<string> {
  const limit = Math.min(ONE_COOKIE_BYTES, left)
  function create(removed: number): MaybePromise<string> {
    const kept = without(transaction, EXPENDABLE.slice(0, removed).flat())
    return chain(sealer.seal('transaction', encodeTransaction(kept)), (sealed) => {
      const value = `${transaction.startedAt}:${sealed}`
      const bytes = cookieBytes({ name, value })
      if (bytes <= limit) return value
      if (removed === EXPENDABLE.length) throw tooLarge(bytes, limit)
      return create(removed + 1)
    })
  }
  return create(0)
}

/** Returns the transaction cookies of a request, whether they can be decrypted or not. */
export function readTransactionCookies(jar: CookieJar, prefix: string): NamedValue[] {
  const names = jar.names(prefix)
  return names.map((name) => ({ name, value: jar.get(name) ?? '' }))
}

/** Returns the names of the oldest cookies to delete so that the others take at most so many bytes. */
export function selectEvicted(cookies: readonly NamedValue[], allowance: number): string[] {
  const oldestFirst = [...cookies].sort((a, b) => readStart(a.value) - readStart(b.value))
  let total = sumBytes(cookies)
  const evicted: string[] = []
  for (const cookie of oldestFirst) {
    if (total <= allowance) break
    evicted.push(cookie.name)
    total -= cookieBytes(cookie)
  }
  return evicted
}
