import type { IdpError } from '../errors/base.ts'
import type { Clock } from '../lib/clock.ts'
import { Lru } from '../lib/lru.ts'
import { defined } from '../lib/objects.ts'
import { processWide, toKey } from '../lib/registry.ts'
import { reportFailure, reportOutcome } from './failure.ts'
import type { Log, LogLevel } from './log.ts'

/** Seconds for which a code is logged once: strangers can cause any number of refusals. */
const PAUSE = 60

/** Maximum number of clients and codes. */
const LIMIT = 1000

interface Refusals {
  readonly loggedAt: number
  /** Refusals since then, which were not logged. */
  count: number
}

/** The part of a configuration that identifies the client; `ApiConfig` is assignable to it. */
interface Refusing {
  readonly clock: Clock
  readonly log: Log
  readonly provider: { readonly url: string }
  readonly idTokenAudiences: readonly string[]
}

/**
 * Counts a refusal. Returns the number of those that were not logged since the last line, or `undefined` if that is too recent
 * for another one.
 */
export function countRefusal(
  { clock, idTokenAudiences, provider }: Refusing,
  code: string,
): number | undefined {
  const refusals = processWide('mark:refusals/1', () => new Lru<string, Refusals>(LIMIT))
  const key = toKey(provider.url, idTokenAudiences, code)
  const now = clock()
  const last = refusals.get(key)
  if (last && Math.abs(now - last.loggedAt) < PAUSE) {
    last.count += 1
    return undefined
  }
  refusals.set(key, { loggedAt: now, count: 0 })
  return last?.count ?? 0
}

/**
 * Logs why a request was refused, once in 60 s for each client and code, with the number of those in between. A failure of the
 * provider is logged as such. The text never contains anything of the request.
 */
export function reportRefusal(config: Refusing, error: IdpError, level: LogLevel = 'info'): void {
  const count = countRefusal(config, error.code)
  if (count === undefined) return
  if (error.name === 'DiscoveryError' || error.name === 'OAuthError') {
    reportFailure(config.log, error)
    return
  }
  const note = count > 0 ? `${count} more were refused since the last line with this code.` : undefined
  reportOutcome(config.log, error, defined({ level, code: 'REQUEST_FAILED' as const, note }))
}
