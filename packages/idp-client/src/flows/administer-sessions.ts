import type { SessionDataStore } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { SessionStoreError } from '../errors/session.ts'
import type { Exchange } from '../http/exchange.ts'
import { toTimes } from '../session/cookie/cookies.ts'
import { endsAt, isAlive } from '../session/model/lifetime.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { deleteForGood } from '../session/store/guarded-store.ts'
import { fromRecord, isRecordId, subjectIn } from '../session/store/record.ts'
import { askStore } from '../session/store/store-call.ts'

/** One session of a user, without anything that could be used in its place. */
export interface SessionInfo {
  /** Names the session for `revoke`; whoever knows it cannot use the session. */
  id: string
  /** The provider's session id, when it sent one. */
  sid?: string
  /** When the user logged in, seconds since the epoch. */
  createdAt: number
  /** When use was last recorded, seconds since the epoch. */
  lastUsedAt: number
  /** When it ends if it is not used again, seconds since the epoch. */
  expiresAt: number
  /** The session without its tokens: `user`, and what hooks and `updateSession` added. */
  data: Omit<SessionData, 'tokenSet' | 'accessTokens' | 'connectionTokenSets' | 'internal'>
}

type Member = 'listBySubject' | 'deleteBySubject'

function requireStore({ config }: Engine): SessionDataStore {
  if (config.sessionStore) return config.sessionStore
  throw new SessionStoreError('SESSION_STORE_UNSUPPORTED', { detail: 'sessionStore is not set.' })
}

function incapable(member: Member): SessionStoreError {
  return new SessionStoreError('SESSION_STORE_UNSUPPORTED', { detail: `The store has no ${member}.` })
}

function checked(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new IdpError('INVALID_REQUEST', { detail: `${name} must be a text that is not empty.` })
}

/**
 * The live sessions of a user at this provider and client, the latest first, whatever else is in the store. Throws
 * `SESSION_STORE_UNSUPPORTED` without a store that has `listBySubject`, `SESSION_STORE_FAILED`, `INVALID_REQUEST`.
 */
export async function listSessions(engine: Engine, sub: string): Promise<SessionInfo[]> {
  const store = requireStore(engine)
  const subject = checked(sub, 'sub')
  const listBySubject = store.listBySubject?.bind(store)
  if (!listBySubject) throw incapable('listBySubject')
  const records = await askStore('list', () => listBySubject(subject))
  const client = await engine.client()
  const { clock, session: rules } = engine.config
  const infos = records.flatMap(({ id, session: record }) => {
    const session = fromRecord(record, '')
    // Where names are compared loosely, a store may find somebody else's, too.
    if (!session || subjectIn(record) !== subject) return []
    if (session.client !== undefined && session.client !== client) return []
    const times = toTimes(session)
    if (!isAlive(times, rules, clock())) return []
    const { accessTokens: _a, connectionTokenSets: _c, internal, tokenSet: _t, ...data } = session.data
    const { sid, createdAt } = internal
    const expiresAt = endsAt(times, rules)
    const info = { id, createdAt, lastUsedAt: session.usedAt, expiresAt, data: data as SessionInfo['data'] }
    return [sid === undefined ? info : { ...info, sid }]
  })
  return infos.sort((one, other) => other.lastUsedAt - one.lastUsedAt)
}

/**
 * Ends one session, wherever its browser is. One that does not exist is no error; what `listBySubject` or `currentId`
 * cannot have given is: `INVALID_REQUEST`, and the store is not asked.
 */
export async function revokeSession(engine: Engine, id: string): Promise<void> {
  const store = requireStore(engine)
  const named = checked(id, 'id')
  if (!isRecordId(named)) throw new IdpError('INVALID_REQUEST', { detail: 'id is no id of a session.' })
  await deleteForGood(engine.config, store, 'delete', () => store.delete(named))
}

/**
 * Ends every session of a user; gives how many there were. Throws `SESSION_STORE_UNSUPPORTED` without a store that has
 * `listBySubject` or `deleteBySubject`.
 */
export async function revokeSessions(engine: Engine, sub: string): Promise<number> {
  const store = requireStore(engine)
  if (store.listBySubject) {
    // One by one, since a store may hold sessions of other applications too.
    const sessions = await listSessions(engine, sub)
    await Promise.all(sessions.map(({ id }) => revokeSession(engine, id)))
    return sessions.length
  }
  const subject = checked(sub, 'sub')
  const deleteBySubject = store.deleteBySubject?.bind(store)
  if (!deleteBySubject) throw incapable('deleteBySubject')
  return deleteForGood(engine.config, store, 'delete', () => deleteBySubject(subject))
}

/** The id of this request's own session; null without a live one. */
export async function currentSessionId({ sessions }: Engine, exchange: Exchange): Promise<string | null> {
  if (!sessions.shared) {
    throw new SessionStoreError('SESSION_STORE_UNSUPPORTED', { detail: 'sessionStore is not set.' })
  }
  return sessions.shared.currentId(exchange)
}
