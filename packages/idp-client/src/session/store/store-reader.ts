import type { Config } from '../../config/config.ts'
import type { Sealer } from '../../crypto/seal.ts'
import type { RequestCookies } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { all, chain } from '../../lib/chain.ts'
import { isAlive, isRollingDue, toTimes } from '../model/lifetime.ts'
import type { SessionReference } from '../model/reference.ts'
import { decodeReference } from '../model/reference.ts'
import type { Snapshot, StoredSession } from '../model/stored-session.ts'
import type { SessionSlot } from '../session-slot.ts'
import { sessionSlot } from '../session-slot.ts'
import type { StoreRecords } from './store-records.ts'

export interface StoreReaderParts {
  readonly config: Config
  readonly sealer: Sealer
  readonly clientTag: () => MaybePromise<string>
  readonly records: StoreRecords
}

/** Reads the sessions of one client from the store, each once per request. */
export interface StoreReader {
  /**
   * Returns the references in the request's cookies: of this client, without duplicates, the latest first, at most
   * `MAX_REFERENCES`. Does not call the store.
   */
  references(exchange: RequestCookies): MaybePromise<readonly SessionReference[]>
  /** Returns the live session as the store returned it at the first read. */
  initial(exchange: RequestCookies): MaybePromise<Snapshot | null>
  /** Returns the live session with the changes of this request. */
  current(exchange: RequestCookies): MaybePromise<Snapshot | null>
  /** Returns whether the request has references that were not looked up in the store. */
  hasUntried(exchange: RequestCookies): boolean
  /** Sets the session that this request loads from now on; null for none. */
  adopt(exchange: RequestCookies, session: StoredSession | null): void
  /** Sets the reference in the cookie of the response. */
  refer(exchange: RequestCookies, reference: SessionReference): void
}

/** Maximum number of sessions that one request can name. */
const MAX_REFERENCES = 16
/** Maximum number of records that one request reads, until one of them is a live session. */
const MAX_READS = 5

const UNTRIED =
  `A request names more than ${MAX_READS} sessions, of which the first ${MAX_READS} are not alive; the others were not ` +
  'read. Give each application on this host its own session.cookie.name.'

/** Decrypts all cookies of the name: a sibling domain or another path may have set some, too. */
function readReferences(
  { clientTag, config, sealer }: StoreReaderParts,
  { cookies }: RequestCookies,
): MaybePromise<readonly SessionReference[]> {
  const opened = cookies
    .all(config.session.cookie.name)
    .map((sealed) => chain(sealer.open('session-id', sealed), (bytes) => bytes && decodeReference(bytes)))
  return chain(all(opened), (references) => chain(clientTag(), (tag) => selectLatest(references, tag)))
}

/** Returns the references of a client, without duplicates, the latest first. */
function selectLatest(
  references: readonly (SessionReference | null)[],
  clientTag: string,
): SessionReference[] {
  const found = new Map<string, SessionReference>()
  for (const reference of references) {
    if (found.size === MAX_REFERENCES) break
    if (reference?.clientTag !== clientTag) continue
    const before = found.get(reference.sessionKey)
    if (!before || before.writtenAt < reference.writtenAt) found.set(reference.sessionKey, reference)
  }
  // The one that was written last is most likely alive; the browser sends them in no useful order.
  return [...found.values()].sort((a, b) => b.writtenAt - a.writtenAt)
}

export function createStoreReader(parts: StoreReaderParts): StoreReader {
  const { config, records } = parts
  const { cookie: _cookie, ...rules } = config.session
  const getSlot = (exchange: RequestCookies): SessionSlot => sessionSlot(exchange, config)

  function references(exchange: RequestCookies): MaybePromise<readonly SessionReference[]> {
    const slot = getSlot(exchange)
    slot.references ??= readReferences(parts, exchange)
    return slot.references
  }

  /** Returns the record of a reference as a snapshot if it is a live session of the same client. */
  function toLive(reference: SessionReference, known: Snapshot | null): Snapshot | null {
    if (!known) return null
    const { session } = known
    if (session.clientTag !== undefined && session.clientTag !== reference.clientTag) return null
    const now = config.clock()
    if (!isAlive(toTimes(session), rules, now)) return null
    const { createdAt } = session.data.internal
    const isOld = isRollingDue({ createdAt, usedAt: reference.writtenAt }, rules, now)
    return isOld ? { ...known, session: { ...session, stale: session.data } } : known
  }

  /** Reads one record after the other, from this index on, until one is a live session. */
  function openFrom(
    index: number,
    exchange: RequestCookies,
    named: readonly SessionReference[],
  ): MaybePromise<Snapshot | null> {
    const reference = named[index]
    if (!reference) return null
    if (index === MAX_READS) {
      getSlot(exchange).hasUntried = true
      config.log.once(UNTRIED, 'SESSION_COOKIE_SHARED')
      return null
    }
    return chain(
      records.read(reference.sessionKey),
      (known) => toLive(reference, known) ?? openFrom(index + 1, exchange, named),
    )
  }

  function initial(exchange: RequestCookies): MaybePromise<Snapshot | null> {
    const slot = getSlot(exchange)
    if (slot.initial === undefined)
      slot.initial = chain(references(exchange), (named) => openFrom(0, exchange, named))
    return slot.initial
  }

  return {
    references,
    initial,
    hasUntried: (exchange) => getSlot(exchange).hasUntried === true,
    current(exchange) {
      const { current } = getSlot(exchange)
      return current === undefined ? initial(exchange) : current
    },
    adopt(exchange, session) {
      getSlot(exchange).current = session && records.snapshot(session)
    },
    refer(exchange, reference) {
      getSlot(exchange).references = [reference]
    },
  }
}
