import type { Exchange, RequestCookies } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { all, chain } from '../../lib/chain.ts'
import { lazyPromise } from '../../lib/request-scope.ts'
import type { SessionCookieParts, SessionCookies } from '../cookie/cookies.ts'
import { createSessionCookies } from '../cookie/cookies.ts'
import type { LoadFormer } from '../former.ts'
import { isAlive, isRollingDue, laterUse } from '../model/lifetime.ts'
import type { SessionReference } from '../model/reference.ts'
import { decodeReference, encodeReference } from '../model/reference.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { asStored } from '../model/stored-session.ts'
import type { SessionSlot } from '../session-slot.ts'
import { sessionSlot } from '../session-slot.ts'
import type { ProcessMemory, SaveOptions, SessionCreation, SessionStorage } from '../storage.ts'
import type { CompleteStore } from './complete-store.ts'
import type { FormerRecords } from './former-records.ts'
import { StoreRecords } from './store-records.ts'

export interface StoreSessionParts extends SessionCookieParts {
  readonly store: CompleteStore
  /** The sessions of the library that the application used before. Default: there are none. */
  readonly former?: LoadFormer | undefined
  readonly memory: ProcessMemory
}

/** Maximum number of sessions that one request can name. */
const MAX_REFERENCES = 16
/** Maximum number of records that one request reads, until one of them is a live session. */
const MAX_READS = 5

const UNTRIED =
  `A request names more than ${MAX_READS} sessions, of which the first ${MAX_READS} are not alive; the others were not ` +
  'read. Give each application on this host its own session.cookie.name.'

/** Returns the latest references of a client, without duplicates, the latest first. */
function selectLatest(
  references: readonly (SessionReference | null)[],
  clientTag: string,
): SessionReference[] {
  const found = new Map<string, SessionReference>()
  for (const reference of references) {
    if (reference?.clientTag !== clientTag) continue
    const before = found.get(reference.sessionKey)
    if (!before || before.writtenAt < reference.writtenAt) found.set(reference.sessionKey, reference)
  }
  // The one that was written last is most likely alive; the browser sends them in no useful order.
  return [...found.values()].sort((a, b) => b.writtenAt - a.writtenAt).slice(0, MAX_REFERENCES)
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
    return records.read(session.sessionKey)
  }
  creation.stored = records.create(session)
  await creation.stored
  return session
}

/**
 * Keeps sessions in the application's store, each of which a request reads once. The cookie contains the encrypted session key. Only a
 * session that the request does not name, of a login, creates a record: a deleted one is not restored.
 */
export class StoreSessionStorage implements Omit<SessionStorage, 'distributed'> {
  readonly #parts: StoreSessionParts
  readonly #cookies: SessionCookies
  /** The records of all sessions. */
  readonly records: StoreRecords
  /** Loads the records of former sessions; absent without `takeOver`. */
  readonly #formerRecords: (() => Promise<FormerRecords>) | undefined

  constructor(parts: StoreSessionParts) {
    const { former } = parts
    const records = new StoreRecords(parts)
    this.#parts = parts
    this.#cookies = createSessionCookies(parts)
    this.records = records
    this.#formerRecords =
      former &&
      lazyPromise(async () => {
        const { FormerRecords } = await import('./former-records.ts')
        return new FormerRecords(parts, records, await former())
      })
  }

  /**
   * Returns the references in the request's cookies: of this client, without duplicates, the latest first, at most
   * `MAX_REFERENCES`. Does not call the store.
   */
  #references(exchange: RequestCookies): MaybePromise<readonly SessionReference[]> {
    const slot = sessionSlot(exchange, this.#parts.config)
    slot.references ??= this.#decrypt(exchange)
    return slot.references
  }

  /** Decrypts all cookies of the name: a sibling domain or another path may have set some, too. */
  #decrypt({ cookies }: RequestCookies): MaybePromise<readonly SessionReference[]> {
    const { clientTag, config, sealer } = this.#parts
    const opened = cookies
      .all(config.session.cookie.name)
      .map((sealed) => chain(sealer.open('session-id', sealed), (bytes) => bytes && decodeReference(bytes)))
    return chain(all(opened), (references) => chain(clientTag(), (tag) => selectLatest(references, tag)))
  }

  /** Returns the live session with the changes of this request. */
  load(exchange: Exchange): MaybePromise<StoredSession | null> {
    const slot = sessionSlot(exchange, this.#parts.config)
    if (slot.current !== undefined) return slot.current
    if (slot.initial === undefined) {
      const own = chain(this.#references(exchange), (named) =>
        named.length === 0 ? null : this.#findLive(slot, named),
      )
      slot.initial = this.#formerRecords ? this.#orFormer(exchange, own, this.#formerRecords) : own
    }
    return slot.initial
  }

  /** Without a session of ours, returns that of the former library, which the request names from now on. */
  async #orFormer(
    exchange: Exchange,
    own: MaybePromise<StoredSession | null>,
    formerRecords: () => Promise<FormerRecords>,
  ): Promise<StoredSession | null> {
    const known = await own
    if (known) return known
    const tag = await this.#parts.clientTag()
    const toUnwritten = (sessionKey: string): SessionReference => ({
      clientTag: tag,
      sessionKey,
      writtenAt: 0,
    })
    const readLive = async (sessionKey: string): Promise<StoredSession | null> => {
      const record = await this.records.read(sessionKey)
      return record && this.#toLive(toUnwritten(sessionKey), record)
    }
    const taken = await (await formerRecords()).takeOver(exchange, readLive)
    if (!taken) return null
    const { sessionKey } = taken
    const references = [toUnwritten(sessionKey), ...(await this.#references(exchange))]
    sessionSlot(exchange, this.#parts.config).references = references
    return { ...taken, needsWrite: true }
  }

  /** Reads one record after the other until one is a live session. */
  async #findLive(slot: SessionSlot, named: readonly SessionReference[]): Promise<StoredSession | null> {
    for (const reference of named.slice(0, MAX_READS)) {
      const known = await this.records.read(reference.sessionKey)
      const live = known && this.#toLive(reference, known)
      if (live) return live
    }
    if (named.length > MAX_READS) {
      slot.keepsCookies = true
      this.#parts.config.log.once(UNTRIED, 'SESSION_COOKIE_SHARED')
    }
    return null
  }

  /** Returns the record of a reference if it is a live session of the same client. */
  #toLive({ clientTag, writtenAt }: SessionReference, session: StoredSession): StoredSession | null {
    const { clock, session: rules } = this.#parts.config
    if (session.clientTag !== undefined && session.clientTag !== clientTag) return null
    const now = clock()
    if (!isAlive(session, rules, now)) return null
    const isCookieOld = isRollingDue(writtenAt, rules, now)
    return isCookieOld ? { ...session, needsWrite: true } : session
  }

  async save(
    exchange: Exchange,
    given: StoredSession,
    { creation = {}, found }: SaveOptions = {},
  ): Promise<boolean> {
    const { clientTag, config, memory } = this.#parts
    const usedAt = laterUse(given.usedAt, config.clock())
    const session = { ...asStored(given), clientTag: await clientTag(), usedAt }
    const isSame = ({ sessionKey }: { readonly sessionKey: string }) => sessionKey === session.sessionKey
    const named = await this.#references(exchange)
    // A change creates no record: a login of the same request may have ended its session.
    const isNew = !found && (creation.stored !== undefined || !named.some(isSame))
    let saved: StoredSession | null
    if (isNew) {
      saved = await createOnce(this.records, creation, session)
      // Otherwise the next request could load one of those that it replaces.
      if (saved) {
        const replaced = named.filter((reference) => !isSame(reference))
        await this.records.end(replaced, 'replaced')
      }
    } else {
      const known = await this.load(exchange)
      saved = known && isSame(known) ? await this.records.write(found ?? known, session) : null
    }
    const slot = sessionSlot(exchange, config)
    if (memory.hasEnded(session)) {
      // Unless a login of the same request has replaced it.
      if (!slot.current || isSame(slot.current)) slot.current = null
      return false
    }
    slot.current = saved
    const formerRecords = await this.#formerRecords?.()
    await formerRecords?.clearAtSave(exchange, session, isNew)
    if (saved) await this.#stageCookie(exchange, saved, isNew)
    return saved !== null
  }

  async #stageCookie(exchange: Exchange, session: StoredSession, isNew: boolean): Promise<void> {
    const { clientTag, config, sealer } = this.#parts
    const { sessionKey } = session
    const reference = { clientTag: await clientTag(), sessionKey, writtenAt: config.clock() }
    const value = await sealer.seal('session-id', encodeReference(reference))
    await this.#cookies.stage(exchange, session, [{ name: config.session.cookie.name, value }], isNew)
    if (isNew) sessionSlot(exchange, config).references = [reference]
  }

  async destroy(exchange: Exchange): Promise<void> {
    const formerRecords = await this.#formerRecords?.()
    await formerRecords?.endAtLogout(exchange, () => this.load(exchange))
    await this.records.end(await this.#references(exchange))
    this.#cookies.clearAll(exchange)
    sessionSlot(exchange, this.#parts.config).current = null
  }

  async sweep(exchange: Exchange): Promise<boolean> {
    if (!this.#cookies.isPresent(exchange.cookies) || (await this.load(exchange))) return false
    // The request was sent before the login: the deletion would remove the cookie of the new session.
    const named = await this.#references(exchange)
    return named.some(this.#parts.memory.wasJustReplaced) ? false : this.#cookies.clearDead(exchange)
  }
}
