import { hashToken } from '../../crypto/random.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { SingleFlight } from '../../lib/shared-run.ts'
import type { FormerSessionFound, FormerSessions } from '../former.ts'
import { endOfFormer, rememberFormerEnd } from '../former.ts'
import type { StoredSession } from '../model/stored-session.ts'
import type { StoreSessionParts } from './in-store.ts'
import { recordId, toOwner } from './record.ts'
import type { StoreRecords } from './store-records.ts'

type Parts = Pick<StoreSessionParts, 'clientTag' | 'config' | 'store'>

/**
 * Names that are taken once for a session key. `taken-over`: by its conversion or its end, whichever is first. `kept-or-ended`: by the
 * conversion after it has created the record, or by the end before it deletes that.
 */
type NameKind = 'kept-or-ended' | 'taken-over'

/** Returns the record of a session key if it is a live session. */
type ReadLive = (sessionKey: string) => Promise<StoredSession | null>

/** Converts sessions of a former library to records, each once in all processes, and ends them for good. */
export class FormerRecords {
  readonly #parts: Parts
  readonly #records: StoreRecords
  readonly #former: FormerSessions
  /** The conversions under way, by session key. */
  readonly #running = new SingleFlight<StoredSession | null>()

  constructor(parts: Parts, records: StoreRecords, former: FormerSessions) {
    this.#parts = parts
    this.#records = records
    this.#former = former
  }

  /**
   * Returns the former session of a request without a session of ours, as a record that `readLive` returns if there is one; null
   * without one. Creates the record, once for parallel requests of this process, which would otherwise wait for the lock in turn.
   */
  async takeOver(exchange: Exchange, readLive: ReadLive): Promise<StoredSession | null> {
    const found = await this.#former.find(exchange)
    if (!found) return null
    const { sessionKey } = found
    const live = await readLive(sessionKey)
    if (live) return live
    let isOwn = false
    const run = (): Promise<StoredSession | null> => {
      isOwn = true
      return this.#convert(found, readLive)
    }
    const taken = await this.#running.run(sessionKey, run, this.#parts.config.sessionLockTimeout)
    // That of another request may have ended since.
    return taken && !isOwn ? readLive(sessionKey) : taken
  }

  /** Creates the record under the lock of the session. A name without a record is that of one that has ended, or was not stored. */
  async #convert(found: FormerSessionFound, readLive: ReadLive): Promise<StoredSession | null> {
    const { sessionKey } = found
    const lock = await this.#parts.store.acquireLock(await recordId(sessionKey))
    try {
      const other = await readLive(sessionKey)
      if (other) return other
      const session = await found.convert()
      if (!session) return null
      if (await this.#create(session)) {
        found.reportTakenOver()
        return session
      }
      // If the conversion took longer than the lock lasts, another process may have created it.
      const later = await readLive(sessionKey)
      if (!later) found.reportNotTakenOver('ended')
      return later
    } finally {
      await lock?.release()
    }
  }

  /** Returns false, without a record, if the session has ended. */
  async #create(session: StoredSession): Promise<boolean> {
    const { sessionKey } = session
    if ((await this.#hasEnded(session)) || !(await this.#takeName('taken-over', sessionKey))) return false
    await this.#records.create({ ...session, clientTag: await this.#parts.clientTag() })
    try {
      // It may have ended before there was a record to delete.
      if ((await this.#takeName('kept-or-ended', sessionKey)) && !(await this.#hasEnded(session))) return true
    } catch (error) {
      await this.#records.delete(sessionKey).catch(this.#parts.store.report)
      throw error
    }
    await this.#records.delete(sessionKey)
    return false
  }

  /** Returns false if the name of the session is taken. */
  async #takeName(kind: NameKind, sessionKey: string): Promise<boolean> {
    const name = `${kind}.${await hashToken(`take-over ${sessionKey}`, 32)}`
    return this.#parts.store.take(name, { expiresAt: this.#former.rememberedUntil() })
  }

  /** Returns whether the session of the provider, or every session of the user, has ended since the login. */
  async #hasEnded(session: StoredSession): Promise<boolean> {
    const { createdAt, sid, sub } = toOwner(session)
    const { clientTag, store } = this.#parts
    return store.hasEndedSince(createdAt, endOfFormer(await clientTag(), { sid, sub }))
  }

  /**
   * Ends the former session of a request at a logout, and remembers its end and that of the session in use: the former library may
   * have left further cookies of them. A failure of the store is reported.
   */
  async endAtLogout(exchange: Exchange, current: () => MaybePromise<StoredSession | null>): Promise<void> {
    try {
      const known = await current()
      const found = await this.#former.findBeside(exchange)
      await this.#rememberEnds([known?.data.internal.sid, found?.data.internal.sid])
    } catch (error) {
      this.#parts.store.report(error)
    }
    await this.#end(exchange)
  }

  async #rememberEnds(sids: readonly (string | undefined)[]): Promise<void> {
    for (const sid of new Set(sids))
      if (sid !== undefined) await rememberFormerEnd(this.#parts, this.#parts.store, { sid })
  }

  /**
   * Deletes the former cookies when a session is written. A new session ends the former one, whether it was taken over or not; another
   * session leaves it, unless it was converted from these cookies. A failure of the store is reported.
   */
  async clearAtSave(exchange: Exchange, { sessionKey }: StoredSession, isNew: boolean): Promise<void> {
    await (isNew ? this.#end(exchange) : this.#former.clear(exchange, sessionKey))
  }

  /** Ends the former session: a copy of its cookies is not accepted any more. */
  async #end(exchange: Exchange): Promise<void> {
    const found = await this.#former.findBeside(exchange)
    await this.#former.clear(exchange)
    if (!found) return
    const { report } = this.#parts.store
    await this.#takeName('kept-or-ended', found.sessionKey).catch(report)
    await this.#takeName('taken-over', found.sessionKey).catch(report)
    await this.#records.end([found])
  }
}
