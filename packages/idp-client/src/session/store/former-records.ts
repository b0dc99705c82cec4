import { hashToken } from '../../crypto/random.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import type { FormerSessionFound, FormerSessions } from '../former.ts'
import { endOfFormer } from '../former.ts'
import { provenIn } from '../model/authentication.ts'
import type { Snapshot, StoredSession } from '../model/stored-session.ts'
import type { StoreSessionParts } from './in-store.ts'
import { recordId } from './record.ts'
import type { StoreRecords } from './store-records.ts'
import { toSnapshot } from './store-records.ts'

type Parts = Pick<StoreSessionParts, 'clientTag' | 'config' | 'store'>

/** Converts sessions of a former library to records, each once in all processes, and ends them for good. */
export class FormerRecords {
  readonly #parts: Parts
  readonly #records: StoreRecords
  readonly #former: FormerSessions

  constructor(parts: Parts, records: StoreRecords, former: FormerSessions) {
    this.#parts = parts
    this.#records = records
    this.#former = former
  }

  /**
   * Creates the record of a former session under its lock. A name that is taken, without a record, is that of a session that has
   * ended since. `readLive` returns the record if there is one.
   */
  async takeOver(
    found: FormerSessionFound,
    readLive: () => Promise<Snapshot | null>,
  ): Promise<Snapshot | null> {
    const lock = await this.#parts.store.acquireLock(await recordId(found.sessionKey))
    try {
      const other = await readLive()
      if (other) return other
      const session = await found.convert()
      if (!session) return null
      if (await this.#create(session)) {
        found.taken()
        return toSnapshot(session)
      }
      found.refused('ended')
      return null
    } finally {
      await lock?.release().catch(this.#parts.store.report)
    }
  }

  /** Returns false, without a record, if the session has ended. */
  async #create(session: StoredSession): Promise<boolean> {
    const { sessionKey } = session
    if ((await this.#hasEnded(session)) || !(await this.#takeName(sessionKey))) return false
    await this.#records.create({ ...session, clientTag: await this.#parts.clientTag() })
    // It may have ended before there was a record to delete.
    if (!(await this.#hasEnded(session))) return true
    await this.#records.delete(sessionKey)
    return false
  }

  /** Returns false if the name of the session is taken: then it was taken over before, or has ended. */
  async #takeName(sessionKey: string): Promise<boolean> {
    const name = `taken-over.${await hashToken(`take-over ${sessionKey}`, 32)}`
    return this.#parts.store.take(name, { expiresAt: this.#former.until })
  }

  async #toEnd(session: StoredSession): Promise<ReturnType<typeof endOfFormer>> {
    const { sub } = provenIn(session)
    const { internal, user } = session.data
    const subject = { sid: internal.sid, sub: typeof sub === 'string' ? sub : user.sub }
    return endOfFormer(await this.#parts.clientTag(), subject)
  }

  /** Returns whether the session of the provider, or every session of the user, has ended since the login. */
  async #hasEnded(session: StoredSession): Promise<boolean> {
    const endedAt = await this.#parts.store.endedAt(await this.#toEnd(session))
    return endedAt !== null && Math.floor(session.data.internal.createdAt) <= endedAt
  }

  /**
   * Ends the former session of a request at a logout, and remembers the end of the session in use: the former library may have left
   * further cookies of it. A failure of the store is reported.
   */
  async leave(exchange: Exchange, current: () => MaybePromise<Snapshot | null>): Promise<void> {
    try {
      const known = await current()
      if (known) await this.#rememberEnd(known.session)
    } catch (error) {
      this.#parts.store.report(error)
    }
    await this.end(exchange)
  }

  async #rememberEnd(session: StoredSession): Promise<void> {
    if (session.data.internal.sid === undefined) return
    const { config, store } = this.#parts
    const ended = { ...(await this.#toEnd(session)), iat: config.clock() }
    await store.rememberEnd(ended, { expiresAt: this.#former.until })
  }

  /**
   * Ends the former session of a request, whether it was taken over or not, except the one with this key: a copy of its cookies is
   * not accepted any more. A failure of the store is reported.
   */
  async end(exchange: Exchange, sessionKey?: string): Promise<void> {
    const found = await this.#former.find(exchange)
    this.#former.clear(exchange)
    if (!found || found.sessionKey === sessionKey) return
    const { report } = this.#parts.store
    await this.#takeName(found.sessionKey).catch(report)
    await this.#records.delete(found.sessionKey).catch(report)
  }
}
