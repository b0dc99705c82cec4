import type { SessionDataStore, SessionExpiry } from '../../config/options.ts'
import { randomToken } from '../../crypto/random.ts'
import { SessionStoreError } from '../../errors/session.ts'

/**
 * Throws for the result of an `update` that other libraries define, which would store `change` in place of a session:
 * a boolean or nothing, where ours returns a session or `null`.
 */
export function assertUpdated<T>(updated: T): T {
  if (typeof updated === 'object') return updated
  throw new SessionStoreError('SESSION_STORE_FAILED', {
    detail:
      'sessionStore.update returned no session and not null: update(id, session) of other libraries does that.',
    operation: 'update',
    remedy: 'SESSION_STORE_UPDATE',
  })
}

/** The result of the first call to each store, so that each is probed once. */
const results = new WeakMap<SessionDataStore, unknown>()

/**
 * Calls `update` of a store before the first write, for an id that no session has: the signature of another library shows
 * in the result.
 */
export async function assertUpdateSignature(store: SessionDataStore, expiry: SessionExpiry): Promise<void> {
  const { update } = store
  if (!update) return
  if (!results.has(store))
    results.set(store, await update.call(store, randomToken(), (current) => current, expiry))
  assertUpdated(results.get(store))
}
