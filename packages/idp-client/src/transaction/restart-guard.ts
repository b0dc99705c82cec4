import type { Config } from '../config/config.ts'
import type { CookieScope } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import { readStart } from './cookie-value.ts'

const RESTART_SECONDS = 60

export interface RestartGuard {
  /** The name of its cookie. */
  readonly name: string
  /** See `claimRestart` of `TransactionStorage`. */
  claim(exchange: Exchange): boolean
  clear(exchange: Exchange): void
}

/** Prevents a loop of automatic restarts with a short-lived cookie, which contains only a time and is not encrypted. */
export function createRestartGuard(
  { clock, transaction }: Config,
  getScope: (exchange: Exchange) => CookieScope,
): RestartGuard {
  const name = `${transaction.cookie.prefix}restart`
  return {
    name,

    claim(exchange) {
      const now = clock()
      if (exchange.cookies.all(name).some((value) => now - readStart(value) < RESTART_SECONDS)) return false
      exchange.cookies.set({ name, scope: getScope(exchange) }, `${now}:1`, RESTART_SECONDS)
      return true
    },

    clear(exchange) {
      if (exchange.cookies.get(name) !== undefined)
        exchange.cookies.clear({ name, scope: getScope(exchange) })
    },
  }
}
