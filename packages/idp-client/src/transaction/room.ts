import type { Config } from '../config/config.ts'
import { bytesInJar, sumBytes, transactionAllowance } from '../http/cookie-budget.ts'
import type { CookieScope } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import { readTransactionCookies, selectEvicted } from './cookie-value.ts'

/** The room that the session leaves for the cookies of transactions. */
export interface TransactionRoom {
  /** Returns the bytes that are left for one more transaction, which may replace all others. */
  left(exchange: Exchange): number
  /** Stages the deletion of the oldest transactions, except that with the name `kept`, so that the others fit. */
  evict(exchange: Exchange, kept?: string): void
}

export function createTransactionRoom(
  { log, session, transaction }: Config,
  {
    getScope,
    restart,
  }: {
    readonly getScope: (exchange: Exchange) => CookieScope
    /** Name of the cookie of the restart guard, which is never evicted. */
    readonly restart: string
  },
): TransactionRoom {
  const { maxBytes, name } = session.cookie
  const isOfSession = (each: string): boolean =>
    each === name || (each.startsWith(`${name}__`) && each !== `${name}__ended`)

  const getAllowance = ({ cookies }: Exchange): number =>
    transactionAllowance(maxBytes, bytesInJar(cookies, isOfSession))

  return {
    left: (exchange) => getAllowance(exchange) - bytesInJar(exchange.cookies, (each) => each === restart),

    evict(exchange, kept) {
      const all = readTransactionCookies(exchange.cookies, transaction.cookie.prefix)
      const evictable = all.filter((each) => each.name !== kept && each.name !== restart)
      const others = all.filter((each) => !evictable.includes(each))
      const evicted = selectEvicted(evictable, getAllowance(exchange) - sumBytes(others))
      if (evicted.length === 0) return
      log.once('Unfinished logins were dropped: their cookies would not fit into a request any more.')
      const scope = getScope(exchange)
      for (const each of evicted) exchange.cookies.clear({ name: each, scope })
    },
  }
}
