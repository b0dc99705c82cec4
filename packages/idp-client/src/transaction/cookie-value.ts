import type { Sealer } from '../crypto/seal.ts'
import type { NamedValue } from '../http/chunks.ts'
import type { CookieJar } from '../http/cookie-jar.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import type { LoginTransaction, Transaction } from './transaction.ts'
import { encodeTransaction } from './transaction.ts'

/* Maximum size of all transaction cookies: a larger `Cookie` header could make servers reject every request (431). */
const TOTAL_BYTES = 3500
const ONE_COOKIE_BYTES = 3000

/** Optional properties, in the order in which they are removed from a transaction that is too large. */
const EXPENDABLE = [['scope', 'ownScope'], ['audience', 'ownAudience'], ['returnTo']] as const

function measureBytes({ name, value }: NamedValue): number {
  return name.length + 1 + value.length
}

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

/** Returns `<start>:<sealed>`, without the optional properties that do not fit into one cookie. */
export function createCookieValue(
  sealer: Sealer,
  transaction: Transaction,
  name: string,
): MaybePromise<string> {
  function create(removed: number): MaybePromise<string> {
    const kept = without(transaction, EXPENDABLE.slice(0, removed).flat())
    return chain(sealer.seal('transaction', encodeTransaction(kept)), (sealed) => {
      const value = `${transaction.startedAt}:${sealed}`
      const fits = measureBytes({ name, value }) <= ONE_COOKIE_BYTES
      return fits || removed === EXPENDABLE.length ? value : create(removed + 1)
    })
  }
  return create(0)
}

/** Returns the transaction cookies of a request, whether they can be decrypted or not. */
export function readTransactionCookies(jar: CookieJar, prefix: string): NamedValue[] {
  const names = jar.names().filter((name) => name.startsWith(prefix))
  return names.map((name) => ({ name, value: jar.get(name) ?? '' }))
}

/** Returns the names of the oldest cookies to delete so that `added` and the others fit into `TOTAL_BYTES`. */
export function selectEvicted(others: readonly NamedValue[], added: NamedValue): string[] {
  const oldestFirst = [...others].sort((a, b) => readStart(a.value) - readStart(b.value))
  let total = oldestFirst.reduce((sum, cookie) => sum + measureBytes(cookie), measureBytes(added))
  const evicted: string[] = []
  for (const cookie of oldestFirst) {
    if (total < TOTAL_BYTES) break
    evicted.push(cookie.name)
    total -= measureBytes(cookie)
  }
  return evicted
}
