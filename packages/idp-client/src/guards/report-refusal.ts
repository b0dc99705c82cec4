import type { Config } from '../config/config.ts'
import { IdpError } from '../errors/base.ts'
import { Lru } from '../lib/lru.ts'
import { processWide, toKey } from '../lib/registry.ts'
import { reportOutcome } from '../log/failure.ts'

/** Seconds for which a code is logged once: strangers can cause any number of refusals. */
const PAUSE = 60

/** Maximum number of clients and codes. */
const LIMIT = 1000

interface Refusals {
  readonly loggedAt: number
  /** Refusals since then, which were not logged. */
  count: number
}

/**
 * Logs why a request was refused, once in 60 s for each client and code, with the number of those in between. The text never
 * contains anything of the request.
 */
export function reportRefusal({ clientId, clock, log, provider }: Config, error: IdpError): void {
  const refusals = processWide('mark:refusals/1', () => new Lru<string, Refusals>(LIMIT))
  const key = toKey(provider.url, clientId, error.code, error.status)
  const now = clock()
  const last = refusals.get(key)
  if (last && Math.abs(now - last.loggedAt) < PAUSE) {
    last.count += 1
    return
  }
  refusals.set(key, { loggedAt: now, count: 0 })
  const more = last?.count ? ` ${last.count} more were refused since the last line with this code.` : ''
  const counted = more === '' ? error : new IdpError(error.code, { detail: `${error.detail ?? ''}${more}` })
  reportOutcome(log, counted, { level: 'info', code: 'REQUEST_FAILED' })
}
