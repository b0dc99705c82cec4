import { constantTimeEqual } from '../crypto/random.ts'
import { SessionStoreError } from '../errors/session.ts'
import type { NamedValue } from '../http/chunks.ts'
import { MAX_CANDIDATES } from '../http/chunks.ts'
import {
  bytesInJar,
  cookieBytes,
  isSessionCookie,
  sumBytes,
  transactionAllowance,
} from '../http/cookie-budget.ts'
import type { CookieJar, CookieSpec } from '../http/cookie-jar.ts'
import { cookieScope } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import type { ClientParts } from '../session/storage.ts'
import type { Transaction } from './transaction.ts'
import { decodeTransaction, encodeTransaction } from './transaction.ts'

export type TransactionLookup =
  | { readonly kind: 'found'; readonly transaction: Transaction; readonly sealed: string }
  | { readonly kind: 'expired'; readonly transaction: Transaction }
  /** The cookie contains a later login (parallel transactions are disabled). */
  | { readonly kind: 'superseded' }
  | { readonly kind: 'missing' }

/* The first of these that occurs is the result if several cookies have the name. */
const PRECEDENCE: readonly TransactionLookup['kind'][] = ['found', 'expired', 'superseded', 'missing']

/** Maximum size of one transaction cookie. */
const ONE_COOKIE_BYTES = 3000

/* A hash of the state, unless parallel transactions are disabled. The prefix of another client may begin alike. */
const SUFFIX = /^(?:restart|[\w-]{22})?$/

/** How long the cookie of `claimRestart` allows no further restart. */
const RESTART_SECONDS = 60

const DROPPED = 'Unfinished logins were dropped: their cookies would not fit into a request any more.'

/** Optional properties, in the order in which they are removed from a transaction that is too large. */
const EXPENDABLE = [['scope', 'ownScope'], ['audience'], ['returnTo']] as const

/** Returns the start time in a cookie value, in seconds since the epoch; 0, the oldest, for a value without one. */
function readStart(value: string): number {
  return Number(/^(\d{1,12}):/.exec(value)?.[1] ?? 0)
}

interface TransactionParts extends ClientParts {
  readonly baseUrl: (exchange: Exchange) => string
}

/** Stores each transaction in an encrypted cookie; all in the same one if parallel transactions are disabled. */
export class TransactionStorage {
  readonly #parts: TransactionParts
  /** Name of the cookie of `claimRestart`: it contains only a time and is not encrypted. It is never evicted. */
  readonly #restart: string

  constructor(parts: TransactionParts) {
    this.#parts = parts
    this.#restart = `${parts.config.transaction.cookie.prefix}restart`
  }

  #nameOf({ stateHash }: Pick<Transaction, 'stateHash'>): string {
    const { cookie, parallel } = this.#parts.config.transaction
    return parallel ? cookie.prefix + stateHash : cookie.prefix
  }

  #spec(exchange: Exchange, name: string, transaction?: Transaction): CookieSpec {
    const { baseUrl, config } = this.#parts
    const scope = cookieScope(config.transaction.cookie, () => baseUrl(exchange))
    if (!transaction?.crossSitePost) return { name, scope }
    return { name, scope: { ...scope, sameSite: 'none', secure: true } }
  }

  /** Returns the transaction cookies of a request, whether they can be decrypted or not. */
  #all(jar: CookieJar): NamedValue[] {
    const { prefix } = this.#parts.config.transaction.cookie
    const names = jar.names(prefix).filter((name) => SUFFIX.test(name.slice(prefix.length)))
    return names.map((name) => ({ name, value: jar.get(name) ?? '' }))
  }

  /** Returns whether the request has a transaction cookie: its login or connection may complete at any time. */
  hasPending({ cookies }: Exchange): boolean {
    return this.#all(cookies).some(({ name }) => name !== this.#restart)
  }

  /** Returns the bytes that the session leaves for the cookies of transactions. */
  #allowance({ cookies }: Exchange): number {
    const { maxBytes, name } = this.#parts.config.session.cookie
    return transactionAllowance(
      maxBytes,
      bytesInJar(cookies, (each) => isSessionCookie(name, each)),
    )
  }

  /**
   * Returns `<start>:<sealed>`, without the optional properties that do not fit. Throws `SESSION_TOO_LARGE` if not even the
   * required ones fit into the room that is left for one transaction, which may replace all others.
   */
  async #createValue(exchange: Exchange, name: string, transaction: Transaction): Promise<string> {
    const restartBytes = bytesInJar(exchange.cookies, (each) => each === this.#restart)
    const limit = Math.min(ONE_COOKIE_BYTES, this.#allowance(exchange) - restartBytes)
    for (let removed = 0; ; removed++) {
      const encoded = encodeTransaction(transaction, EXPENDABLE.slice(0, removed).flat())
      const sealed = await this.#parts.sealer.seal('transaction', encoded)
      const value = `${transaction.startedAt}:${sealed}`
      const bytes = cookieBytes({ name, value })
      if (bytes <= limit) return value
      if (removed < EXPENDABLE.length) continue
      const detail = `This login or connection needs a cookie of ${bytes} bytes, and the others leave ${limit}.`
      throw new SessionStoreError('SESSION_TOO_LARGE', { bytes, detail })
    }
  }

  /**
   * Encrypts a transaction. The returned function stages its cookie, and the deletion of the oldest ones if all together are
   * too large. Throws `SESSION_TOO_LARGE` if the session leaves no room for it.
   */
  async prepare(exchange: Exchange, transaction: Transaction): Promise<() => void> {
    const name = this.#nameOf(transaction)
    const spec = this.#spec(exchange, name, transaction)
    const value = await this.#createValue(exchange, name, transaction)
    return () => {
      exchange.cookies.set(spec, value, this.#parts.config.transaction.cookie.maxAge)
      this.limit(exchange, name)
    }
  }

  /** Stages the deletion of the oldest transactions, except that named `kept`, that do not fit beside the session as it is staged. */
  limit(exchange: Exchange, kept?: string): void {
    const all = this.#all(exchange.cookies)
    const evictable = all.filter(({ name }) => name !== kept && name !== this.#restart)
    const allowance = this.#allowance(exchange)
    let bytes = sumBytes(all)
    for (const cookie of evictable.sort((a, b) => readStart(a.value) - readStart(b.value))) {
      if (bytes <= allowance) break
      bytes -= cookieBytes(cookie)
      exchange.cookies.clear(this.#spec(exchange, cookie.name))
      this.#parts.config.log.once(DROPPED)
    }
  }

  async #open(value: string, stateHash: string): Promise<TransactionLookup> {
    const { clientTag, config, sealer } = this.#parts
    const sealed = value.slice(value.indexOf(':') + 1)
    const bytes = await sealer.open('transaction', sealed)
    const transaction = bytes && decodeTransaction(bytes)
    if (!transaction || !constantTimeEqual(transaction.clientTag, await clientTag()))
      return { kind: 'missing' }
    if (!constantTimeEqual(transaction.stateHash, stateHash))
      return { kind: config.transaction.parallel ? 'missing' : 'superseded' }
    if (transaction.expiresAt <= config.clock()) return { kind: 'expired', transaction }
    return { kind: 'found', transaction, sealed }
  }

  /** Reads all cookies of the name: another path or application may have set one, too. */
  async load({ cookies }: Exchange, stateHash: string): Promise<TransactionLookup> {
    let best: TransactionLookup = { kind: 'missing' }
    for (const value of cookies.all(this.#nameOf({ stateHash })).slice(0, MAX_CANDIDATES)) {
      const lookup = await this.#open(value, stateHash)
      if (PRECEDENCE.indexOf(lookup.kind) < PRECEDENCE.indexOf(best.kind)) best = lookup
      if (best.kind === 'found') break
    }
    return best
  }

  /** Stages the deletion of one transaction's cookie. */
  clear(exchange: Exchange, transaction: Transaction): void {
    exchange.cookies.clear(this.#spec(exchange, this.#nameOf(transaction), transaction))
  }

  /** Stages the deletion of every transaction cookie that the request carries, and of the cookie of `claimRestart`. */
  clearAll(exchange: Exchange): void {
    for (const { name } of this.#all(exchange.cookies)) exchange.cookies.clear(this.#spec(exchange, name))
  }

  /**
   * Prevents a loop of automatic restarts: stages a cookie that allows no further one for a minute. Returns false if the
   * browser has that cookie already: the login must not be restarted.
   */
  claimRestart(exchange: Exchange): boolean {
    const now = this.#parts.config.clock()
    const isClaimed = (value: string): boolean => now - readStart(value) < RESTART_SECONDS
    if (exchange.cookies.all(this.#restart).some(isClaimed)) return false
    exchange.cookies.set(this.#spec(exchange, this.#restart), `${now}:1`, RESTART_SECONDS)
    this.limit(exchange)
    return true
  }

  clearRestart(exchange: Exchange): void {
    if (exchange.cookies.get(this.#restart) !== undefined)
      exchange.cookies.clear(this.#spec(exchange, this.#restart))
  }
}
