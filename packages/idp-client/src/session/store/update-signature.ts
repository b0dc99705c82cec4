import type { SessionDataStore, SessionExpiry } from '../../config/options.ts'
import { randomToken } from '../../crypto/random.ts'
import { SessionStoreError } from '../../errors/session.ts'
import { identify } from '../../lib/identify.ts'
import { Lru } from '../../lib/lru.ts'
import { processWide } from '../../lib/registry.ts'

/** Other libraries define an `update` that stores `change` in place of a session, and returns a boolean or nothing. */
const isOurs = (updated: unknown): boolean => typeof updated === 'object'

function wrongSignature(): SessionStoreError {
  return new SessionStoreError('SESSION_STORE_FAILED', {
    detail:
      'sessionStore.update returned no session and not null: update(id, session) of other libraries does that.',
    operation: 'update',
    remedy: 'SESSION_STORE_UPDATE',
  })
}

/** Throws if the result shows that `update` has the signature of another library. */
export function assertUpdated<T>(updated: T): T {
  if (isOurs(updated)) return updated
  throw wrongSignature()
}

/** Maximum number of stores whose `update` is known. */
const MAX_STORES = 100

/** Whether `update` of a store has our signature, by store: each is called once to find out. */
const signatures = (): Lru<number, boolean> =>
  processWide('cache:update-signatures/1', () => new Lru(MAX_STORES))

/**
 * Calls `update` of a store before the first write, for an id that no session has: the signature of another library shows
 * in the result.
 */
export async function assertUpdateSignature(store: SessionDataStore, expiry: SessionExpiry): Promise<void> {
  const { update } = store
  if (!update) return
  const name = identify(store)
  const known =
    signatures().get(name) ?? isOurs(await update.call(store, randomToken(), (current) => current, expiry))
  signatures().set(name, known)
  if (!known) throw wrongSignature()
}
