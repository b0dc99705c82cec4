import type { Config } from '../../config/config.ts'
import type { SessionDataStore } from '../../config/options.ts'
import type { Sealer } from '../../crypto/seal.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { chain } from '../../lib/chain.ts'
import { monotonic } from '../../lib/clock.ts'
import type { SessionCookies } from '../cookie/cookies.ts'
import { createSessionCookies } from '../cookie/cookies.ts'
import { endsAt, toTimes } from '../model/lifetime.ts'
import type { SessionReference } from '../model/reference.ts'
import { encodeReference } from '../model/reference.ts'
import type { StoredSession } from '../model/stored-session.ts'
import type {
  DistributedSessionStorage,
  DistributedSessions,
  ProcessMemory,
  SessionCreation,
} from '../storage.ts'
import type { GuardedStore } from './guarded-store.ts'
import { createGuardedStore } from './guarded-store.ts'
import { isRecordOf, recordId } from './record.ts'
import { askStore } from './store-call.ts'
import type { StoreReader } from './store-reader.ts'
import { createStoreReader } from './store-reader.ts'
import type { StoreRecords } from './store-records.ts'
import { createStoreRecords } from './store-records.ts'

export interface StoreSessionParts {
  readonly config: Config
  readonly store: SessionDataStore
  readonly sealer: Sealer
  /** Tag of provider and client, see `StoredSession.clientTag`. */
  readonly clientTag: () => MaybePromise<string>
  readonly baseUrl: (exchange: Exchange) => string
  /** The memory of this process, which forgets sessions when they end. Default: none. */
  readonly memory?: ProcessMemory
}

/** Creates the function that stages the cookie of a session. */
function cookieWriter(
  { clientTag, config, sealer }: StoreSessionParts,
  { attributes, clearAll, clearReplaced }: SessionCookies,
  reader: StoreReader,
): (exchange: Exchange, session: StoredSession, isNew: boolean) => Promise<void> {
  const { name } = config.session.cookie
  const kept = new Set([name])
  return async (exchange, session, isNew) => {
    const { httpOnly: _always, maxAge, ...scope } = attributes(exchange, session)
    const reference = {
      clientTag: await clientTag(),
      sessionKey: session.sessionKey,
      writtenAt: config.clock(),
    }
    const value = await sealer.seal('session-id', encodeReference(reference))
    if (isNew) clearAll(exchange, kept)
    else await clearReplaced(exchange, kept, session.sessionKey)
    exchange.cookies.set({ name, scope }, value, maxAge)
    reader.refer(exchange, reference)
    const bytes = name.length + 1 + value.length
    config.log.emit({ level: 'debug', code: 'SESSION_SAVED', bytes, cookies: 1 })
  }
}

/**
 * Creates the record of a new session, once for all callbacks that share `creation`. Returns the session as it is now;
 * null if it has ended.
 */
async function createOnce(
  records: StoreRecords,
  creation: SessionCreation,
  session: StoredSession,
): Promise<StoredSession | null> {
  if (creation.stored) {
    await creation.stored
    // The record may have been changed or deleted since: creating it again would undo that.
    return (await records.read(session.sessionKey))?.session ?? null
  }
  creation.stored = records.create(session)
  await creation.stored
  return session
}

/** Creates the operations for a refresh. */
function createDistributed(
  store: GuardedStore,
  records: StoreRecords,
  reader: StoreReader,
): DistributedSessions {
  return {
    async lock(sessionKey) {
      const lock = await store.lock?.(await recordId(sessionKey))
      return (
        lock && {
          until: monotonic() + store.leaseMilliseconds,
          // Retried once, because the first call on an idle connection may fail. Otherwise others wait until the lock expires.
          release: () =>
            lock.release().catch(() => askStore('lock', () => lock.release()).catch(store.report)),
        }
      )
    },
    read: async (sessionKey) => (await records.read(sessionKey))?.session ?? null,
    persist: (found, changed) => records.persist({ session: found, initial: () => found.data }, changed),
    flush: records.flush,
    adopt: reader.adopt,
    async currentId(exchange) {
      const known = await reader.current(exchange)
      return known && recordId(known.session.sessionKey)
    },
  }
}

/**
 * Creates a storage that keeps sessions in the application's store. The cookie contains the encrypted session key. Only a
 * login creates a record, so that a deleted one is not restored.
 */
export function createStoreSessionStorage(parts: StoreSessionParts): DistributedSessionStorage {
  const { clientTag, config, sealer } = parts
  const { cookie: _cookie, ...rules } = config.session
  const store = createGuardedStore(config, parts.store, isRecordOf)
  const records = createStoreRecords(store, (session) => endsAt(toTimes(session), rules))
  const cookies = createSessionCookies(parts)
  const reader = createStoreReader({ clientTag, config, records, sealer })
  const stageCookie = cookieWriter(parts, cookies, reader)

  /** Deletes the records that a request names. Best effort: a failure is reported, and blocks neither logout nor login. */
  async function forget(references: readonly SessionReference[]): Promise<void> {
    for (const { sessionKey } of references) parts.memory?.forget(sessionKey)
    await Promise.all(references.map(({ sessionKey }) => records.forget(sessionKey).catch(store.report)))
  }

  const distributed = createDistributed(store, records, reader)

  return {
    load: (exchange) => chain(reader.current(exchange), (known) => known?.session ?? null),

    async initial(exchange) {
      const known = await reader.initial(exchange)
      return known && { ...known.session, data: known.initial() }
    },

    async save(exchange, given, { creation = {} } = {}) {
      const { stale: _older, ...rest } = given
      const session = {
        ...rest,
        clientTag: await clientTag(),
        usedAt: Math.max(given.usedAt, config.clock()),
      }
      const named = await reader.references(exchange)
      const isNew =
        creation.stored !== undefined || !named.some(({ sessionKey }) => sessionKey === session.sessionKey)
      let kept: StoredSession | null
      if (isNew) {
        kept = await createOnce(records, creation, session)
        // The next request could load another one of them.
        if (kept) await forget(named.filter(({ sessionKey }) => sessionKey !== session.sessionKey))
      } else {
        const known = await reader.current(exchange)
        kept = known?.session.sessionKey === session.sessionKey ? await records.write(known, session) : null
      }
      reader.adopt(exchange, kept)
      if (kept) await stageCookie(exchange, kept, isNew)
      return kept !== null
    },

    async destroy(exchange) {
      await forget(await reader.references(exchange))
      cookies.clearAll(exchange)
      reader.adopt(exchange, null)
    },

    async sweep(exchange) {
      if (!cookies.isPresent(exchange.cookies) || (await reader.current(exchange))) return false
      if (reader.hasUntried(exchange)) return false
      return cookies.clearDead(exchange)
    },

    distributed: () => distributed,
  }
}
