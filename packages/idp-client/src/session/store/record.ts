import { hashToken } from '../../crypto/random.ts'
import type { MaybePromise } from '../../lib/chain.ts'
import { setOwn, shallowCopy } from '../../lib/objects.ts'
import type { Owner } from '../ended-by.ts'
import { provenIn, provenSubject, readAuthentication } from '../model/authentication.ts'
import type { SessionData, StoredInternalData } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { isSessionData } from '../model/stored-session.ts'

/** Returns the id of a session's record: a hash, so that the contents of a store do not allow to create cookies. */
export function recordId(sessionKey: string): MaybePromise<string> {
  return hashToken(`session ${sessionKey}`, 32)
}

/** Returns whether a value has the form of a record id. A store is never called with another one. */
export function isRecordId(id: string): boolean {
  return /^[\w-]{43}$/.test(id)
}

/** Returns whose session it is. */
export function toOwner(session: StoredSession): Owner {
  const { internal } = session.data
  const { iss } = provenIn(session)
  return {
    sub: provenSubject(session),
    sid: internal.sid,
    iss: typeof iss === 'string' ? iss : undefined,
    createdAt: internal.createdAt,
  }
}

/** Converts a session to its record: JSON, whatever hooks and applications put into it. */
export function toRecord(session: StoredSession, id: string): SessionData {
  const { authentication, clientTag: client, data, ownScope, usedAt, userInfoClaims } = session
  const { iss, sub } = toOwner(session)
  const asked = session.requestedAuthentication
  const own = { id, usedAt, client, asked, ownScope, userInfoClaims, iss, sub, authentication }
  return JSON.parse(JSON.stringify({ ...data, internal: { ...data.internal, ...own } }))
}

/** Returns whether a value is a session and the record of this id. */
export function isRecordOf(record: unknown, id: string): record is SessionData {
  if (!isSessionData(record)) return false
  const { id: own }: StoredInternalData = record.internal
  return own === id
}

/** Converts a record to a session. Ignores properties of the library that have another type than it writes. */
export function fromRecord(record: SessionData, sessionKey: string): StoredSession {
  const {
    asked: requestedAuthentication,
    authentication: proven,
    client: clientTag,
    createdAt,
    ownScope,
    sessionExpiresAt,
    sid,
    usedAt,
    userInfoClaims,
  }: StoredInternalData = record.internal
  const authentication = readAuthentication(proven)
  return {
    data: {
      ...record,
      internal: {
        ...(typeof sid === 'string' ? { sid } : {}),
        createdAt,
        ...(typeof sessionExpiresAt === 'number' ? { sessionExpiresAt } : {}),
      },
    },
    sessionKey,
    usedAt: typeof usedAt === 'number' && Number.isFinite(usedAt) ? usedAt : createdAt,
    ...(typeof clientTag === 'string' ? { clientTag } : {}),
    ...(typeof requestedAuthentication === 'string' ? { requestedAuthentication } : {}),
    ...(typeof ownScope === 'string' ? { ownScope } : {}),
    ...(Array.isArray(userInfoClaims) ? { userInfoClaims } : {}),
    ...(authentication ? { authentication } : {}),
  }
}

/** Returns a deep copy of JSON, faster than a round trip; undefined for a value that a round trip would change. */
function copyIfJson(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) {
    const items = Array.from(value, copyIfJson)
    return items.includes(undefined) ? undefined : items
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined
  const copy = shallowCopy(value as Record<string, unknown>)
  for (const name of Object.keys(copy)) {
    const given = copy[name]
    const property = copyIfJson(given)
    if (property === undefined) return undefined
    if (property !== given) setOwn(copy, name, property)
  }
  return copy
}

/** Returns a deep copy of a record as JSON would have it; a store may return values of other types, such as dates. */
export function copyRecord(record: unknown): unknown {
  return copyIfJson(record) ?? JSON.parse(JSON.stringify(record ?? null))
}
