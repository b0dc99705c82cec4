import { hashToken } from '../crypto/random.ts'
import { provenIn, readAuthentication } from './authentication.ts'
import type { SessionData, StoredInternalData } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'
import { copyOf, isSessionData } from './stored-session.ts'

/** The id that a store knows a session by: who reads the store cannot make a cookie of it. */
export async function recordId(handle: string): Promise<string> {
  return hashToken(`session ${handle}`, 32)
}

const RECORD_ID = /^[\w-]{43}$/

/** Whether a record of ours can have this id; no store is asked for another one. */
export function isRecordId(id: string): boolean {
  return RECORD_ID.test(id)
}

/** The session as a store gets it: plain JSON, whatever hooks and applications put into it. */
export function recordOf(session: StoredSession, id: string): SessionData {
  const { asked, authentication, client, data, ownAudience, ownScope, usedAt } = copyOf(session)
  const { iss, sub } = provenIn(session)
  const internal: StoredInternalData = {
    ...data.internal,
    id,
    usedAt,
    ...(client === undefined ? {} : { client }),
    ...(asked === undefined ? {} : { asked }),
    ...(ownScope === undefined ? {} : { ownScope }),
    ...(ownAudience ? { ownAudience } : {}),
    ...(typeof iss === 'string' ? { iss } : {}),
    sub: typeof sub === 'string' ? sub : data.user.sub,
    ...(authentication ? { authentication } : {}),
  }
  return { ...data, internal }
}

/** Whether a store gave a session, and the one of this key. Records of earlier versions do not name their key. */
export function isRecordOf(record: unknown, id: string): record is SessionData {
  if (!isSessionData(record)) return false
  const { id: key = id }: StoredInternalData = record.internal
  return key === id
}

/** Whose session a record is, by the provider's name of the user. */
export function subjectIn({ internal, user }: SessionData): string {
  const { sub = user.sub }: StoredInternalData = internal
  return sub
}

/** What a store gave back; null for everything that is no session, whatever it is. */
export function sessionOf(record: unknown, handle: string): StoredSession | null {
  if (!isSessionData(record)) return null
  const { asked, client, createdAt, ownScope, sid, usedAt, ...internal }: StoredInternalData = record.internal
  const authentication = readAuthentication(internal.authentication)
  return {
    data: { ...record, internal: { ...(typeof sid === 'string' ? { sid } : {}), createdAt } },
    handle,
    usedAt: typeof usedAt === 'number' && Number.isFinite(usedAt) ? usedAt : createdAt,
    ...(typeof client === 'string' ? { client } : {}),
    ...(typeof asked === 'string' ? { asked } : {}),
    ...(typeof ownScope === 'string' ? { ownScope } : {}),
    ...(internal.ownAudience === true ? { ownAudience: true } : {}),
    ...(authentication ? { authentication } : {}),
  }
}
