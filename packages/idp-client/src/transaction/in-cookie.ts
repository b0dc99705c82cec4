import type { Config } from '../config/config.ts'
import { constantTimeEqual } from '../crypto/random.ts'
import type { Sealer } from '../crypto/seal.ts'
import type { CookieJar, CookieScope } from '../http/cookie-jar.ts'
import { cookieScope } from '../http/cookie-scope.ts'
import type { Exchange } from '../http/exchange.ts'
import type { TransactionStorage } from './storage.ts'
import type { Transaction } from './transaction.ts'
import { decodeTransaction, encodeTransaction } from './transaction.ts'

export interface InCookieParts {
  readonly config: Config
  readonly sealer: Sealer
  readonly client: () => Promise<string>
  readonly baseUrl: (exchange: Exchange) => string
}

/* All transaction cookies together stay below this, so that a Cookie header can never lock a user out (431). */
const TOTAL_BYTES = 3500
const ONE_COOKIE_BYTES = 3000
const RESTART_SECONDS = 60

/** Seconds since the epoch that a cookie value begins with; what carries none counts as the oldest. */
function startOf(value: string): number {
  return Number(/^(\d{1,12}):/.exec(value)?.[1] ?? 0)
}

function sealedPart(value: string): string {
  return value.slice(value.indexOf(':') + 1)
}

function bytesOf(name: string, value: string): number {
  return name.length + 1 + value.length
}

/** Fields that a transaction can do without, in the order in which they are given up when it is too large. */
const EXPENDABLE = [['scope', 'audience'], ['returnTo']] as const

function without(transaction: Transaction, names: readonly (keyof Transaction)[]): Transaction {
  const kept = Object.entries(transaction).filter(([name]) => !names.includes(name as keyof Transaction))
  return Object.fromEntries(kept) as unknown as Transaction
}

/** Transactions sealed into cookies: one each, or a single shared one when parallel transactions are off. */
export function inCookie({ config, sealer, client, baseUrl }: InCookieParts): TransactionStorage {
  const { parallel, cookie } = config.transaction
  const restartName = `${cookie.prefix}restart`
  const nameFor = (stateHash: string): string => (parallel ? cookie.prefix + stateHash : cookie.prefix)

  function scopeOf(exchange: Exchange, crossSitePost: boolean): CookieScope {
    const scope = cookieScope(cookie, () => baseUrl(exchange))
    return crossSitePost ? { ...scope, sameSite: 'none', secure: true } : scope
  }

  function ours(jar: CookieJar): { name: string; value: string }[] {
    return jar
      .names()
      .filter((name) => name.startsWith(cookie.prefix))
      .map((name) => ({ name, value: jar.get(name) ?? '' }))
  }

  async function sealWithin(transaction: Transaction, name: string): Promise<string> {
    const attempts = [
      transaction,
      ...EXPENDABLE.map((_, at) => without(transaction, EXPENDABLE.slice(0, at + 1).flat())),
    ]
    let value = ''
    for (const attempt of attempts) {
      value = `${transaction.startedAt}:${await sealer.seal('transaction', encodeTransaction(attempt))}`
      if (bytesOf(name, value) <= ONE_COOKIE_BYTES) break
    }
    return value
  }

  function evict(exchange: Exchange, written: string, size: number, scope: CookieScope): void {
    const others = ours(exchange.cookies)
      .filter(({ name }) => name !== written)
      .sort((a, b) => startOf(a.value) - startOf(b.value))
    let total = others.reduce((sum, { name, value }) => sum + bytesOf(name, value), size)
    for (const { name, value } of others) {
      if (total < TOTAL_BYTES) return
      config.log.once('Unfinished logins were dropped: their cookies would not fit into a request any more.')
      exchange.cookies.clear({ name, scope })
      total -= bytesOf(name, value)
    }
  }

  return {
    async save(exchange, transaction) {
      const name = nameFor(transaction.stateHash)
      const scope = scopeOf(exchange, transaction.crossSitePost === true)
      const value = await sealWithin(transaction, name)
      evict(exchange, name, bytesOf(name, value), scope)
      exchange.cookies.set({ name, scope }, value, cookie.maxAge)
    },

    async load({ cookies }, stateHash) {
      const value = cookies.get(nameFor(stateHash))
      if (!value) return { kind: 'missing' }
      const sealed = sealedPart(value)
      const bytes = await sealer.open('transaction', sealed)
      const transaction = bytes && decodeTransaction(bytes)
      if (!transaction || !constantTimeEqual(transaction.client, await client())) return { kind: 'missing' }
      if (!constantTimeEqual(transaction.stateHash, stateHash))
        return { kind: parallel ? 'missing' : 'superseded' }
      if (transaction.expiresAt <= config.clock()) return { kind: 'expired', transaction }
      return { kind: 'found', transaction, sealed }
    },

    clear(exchange, transaction) {
      const scope = scopeOf(exchange, transaction.crossSitePost === true)
      exchange.cookies.clear({ name: nameFor(transaction.stateHash), scope })
    },

    clearAll(exchange) {
      const scope = scopeOf(exchange, false)
      for (const { name } of ours(exchange.cookies)) exchange.cookies.clear({ name, scope })
    },

    mayRestart(exchange) {
      const now = config.clock()
      const value = exchange.cookies.get(restartName)
      if (value !== undefined && now - startOf(value) < RESTART_SECONDS) return false
      exchange.cookies.set(
        { name: restartName, scope: scopeOf(exchange, false) },
        `${now}:1`,
        RESTART_SECONDS,
      )
      return true
    },

    clearRestart(exchange) {
      if (exchange.cookies.get(restartName) === undefined) return
      exchange.cookies.clear({ name: restartName, scope: scopeOf(exchange, false) })
    },
  }
}
