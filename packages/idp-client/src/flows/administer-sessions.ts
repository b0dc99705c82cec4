import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { SessionStoreError } from '../errors/session.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined } from '../lib/objects.ts'
import { rememberFormerEnd } from '../session/former.ts'
import { endsAt, isAlive } from '../session/model/lifetime.ts'
import type { SessionData } from '../session/model/session-data.ts'
import { isSessionData } from '../session/model/stored-session.ts'
import { endStreams } from '../session/open-streams.ts'
import type { CompleteStore } from '../session/store/complete-store.ts'
import { fromRecord, isRecordId, recordId, toOwner } from '../session/store/record.ts'

/** A session of a user, without secrets. */
export interface SessionInfo {
  /** Identifies the session for `revoke`. Knowing it does not grant access to the session. */
  id: string
  /** The provider's session id (`sid`), if it sent one. */
  sid?: string
  /** Time of the login, in seconds since the epoch. */
  createdAt: number
  /** Time of the last recorded use, in seconds since the epoch. */
  lastUsedAt: number
  /** Time at which the session expires unless it is used, in seconds since the epoch. */
  expiresAt: number
  /** The session without its tokens: `user` and what hooks and `updateSession` added. */
  data: Omit<SessionData, 'tokenSet' | 'accessTokens' | 'connectionTokenSets' | 'internal'>
}

function noStore(): SessionStoreError {
  return new SessionStoreError('SESSION_STORE_UNSUPPORTED', { detail: 'sessionStore is not set.' })
}

async function requireStore({ sessionStore }: Engine): Promise<CompleteStore> {
  if (sessionStore) return sessionStore()
  throw noStore()
}

function assertNonEmptyString(value: unknown, name: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new IdpError('INVALID_REQUEST', { detail: `${name} must be a non-empty string.` })
}

/**
 * Returns the live sessions of a user at this provider and client, most recently used first; other entries of the store
 * are left out. Throws `SESSION_STORE_UNSUPPORTED` if the store has no `listBySubject`, `SESSION_STORE_FAILED`,
 * `INVALID_REQUEST`.
 */
export async function listSessions(engine: Engine, sub: string): Promise<SessionInfo[]> {
  const store = await requireStore(engine)
  const subject = assertNonEmptyString(sub, 'sub')
  const records = await store.listBySubject(subject)
  const clientTag = await engine.clientTag()
  const { clock, session: rules } = engine.config
  const infos = records.flatMap(({ id, session: record }) => {
    if (!isSessionData(record)) return []
    const session = fromRecord(record, '')
    // A store that compares case-insensitively may return the sessions of another user.
    if (toOwner(session).sub !== subject) return []
    if (session.clientTag !== undefined && session.clientTag !== clientTag) return []
    if (!isAlive(session, rules, clock())) return []
    const { accessTokens: _a, connectionTokenSets: _c, internal, tokenSet: _t, ...data } = session.data
    const { sid, createdAt } = internal
    const info = { id, sid, createdAt, lastUsedAt: session.usedAt, expiresAt: endsAt(session, rules) }
    return [defined({ ...info, data: data as SessionInfo['data'] })]
  })
  return infos.sort((one, other) => other.lastUsedAt - one.lastUsedAt)
}

/**
 * Ends one session on any device; an unknown id is not an error. Throws `INVALID_REQUEST`, without a request to the
 * store, for a value that `listBySubject` and `currentId` cannot have returned.
 */
export async function revokeSession(engine: Engine, id: string): Promise<void> {
  const store = await requireStore(engine)
  const sessionId = assertNonEmptyString(id, 'id')
  if (!isRecordId(sessionId)) throw new IdpError('INVALID_REQUEST', { detail: 'id is no id of a session.' })
  await store.delete(sessionId)
  await endStreams(async ({ session }) => (await recordId(session.sessionKey)) === sessionId)
}

/** Ends the listed sessions one by one, because the store may also hold sessions of other applications. */
async function revokeListed(engine: Engine, subject: string): Promise<number> {
  const sessions = await listSessions(engine, subject)
  await Promise.all(sessions.map(({ id }) => revokeSession(engine, id)))
  return sessions.length
}

/**
 * Ends every session of a user and returns their number. Throws `SESSION_STORE_UNSUPPORTED` if the store has neither
 * `listBySubject` nor `deleteBySubject`.
 */
export async function revokeSessions(engine: Engine, sub: string): Promise<number> {
  const store = await requireStore(engine)
  const subject = assertNonEmptyString(sub, 'sub')
  const tag = await engine.clientTag()
  await rememberFormerEnd(engine, store, { sub: subject })
  const count = store.supports('listBySubject')
    ? await revokeListed(engine, subject)
    : await store.deleteBySubject(subject)
  // Also of sessions that have ended by inactivity meanwhile, which are not listed.
  await endStreams(({ clientTag, session }) => clientTag === tag && toOwner(session).sub === subject)
  return count
}

/** Returns the id of the session of this request, or `null` without a live one. */
export async function currentSessionId({ sessions }: Engine, exchange: Exchange): Promise<string | null> {
  if (!sessions.distributed) throw noStore()
  const session = await sessions.load(exchange)
  return session && recordId(session.sessionKey)
}
