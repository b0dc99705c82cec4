import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import { defined, isObject, isSameJson } from '../lib/objects.ts'
import { laterUse } from '../session/model/lifetime.ts'
import { withChanges } from '../session/model/session.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { asJson, isSessionData } from '../session/model/stored-session.ts'
import { inTurn, sessionSlot } from '../session/session-slot.ts'

/**
 * Returns the data with which the application's changes are compared: user and tokens as this request has loaded them,
 * because a refresh may have changed them since; all other properties as the previous update of this request saved them.
 */
function loadedData(updated: SessionData | undefined, { data }: StoredSession): SessionData {
  if (!updated) return data
  const { accessTokens, connectionTokenSets, tokenSet, user } = data
  return defined({ ...updated, user, tokenSet, accessTokens, connectionTokenSets }) as SessionData
}

/** Returns the changes as JSON data. Throws `MISSING_SESSION_DATA` if they are not an object. */
function toJsonObject(changes: unknown): SessionData {
  const copy = asJson(changes)
  // A list has no property of a session: all that the application added would be removed.
  if (isObject(copy)) return copy as SessionData
  throw new IdpError('MISSING_SESSION_DATA', { detail: 'It has to be an object of JSON.' })
}

/** Restores the loaded ID token: guards and logout trust it, so the application cannot change it. */
function withIdToken(changes: SessionData, { tokenSet: { idToken } }: SessionData): SessionData {
  const { tokenSet } = changes
  if (typeof tokenSet !== 'object' || tokenSet === null) return changes
  return { ...changes, tokenSet: defined({ ...tokenSet, idToken }) }
}

/**
 * Maximum lead of the time of use over the clock, in seconds, that updates cause: the session would last longer without use by as
 * much.
 */
const LONGEST_LEAD = 5

/** Applies changes to the session; `updated` is its data after the update before them that the application has awaited. */
async function save(
  engine: Engine,
  exchange: Exchange,
  changes: SessionData,
  updated: SessionData | undefined,
): Promise<void> {
  const session = await engine.sessions.load(exchange)
  if (!session) throw new IdpError('MISSING_SESSION')
  const slot = sessionSlot(exchange, engine.config)
  const found = loadedData(updated, slot.refreshed ?? (await slot.initial) ?? session)
  const data = withChanges({ current: session.data, found, changes: withIdToken(changes, found) })
  if (!isSessionData(data)) {
    const detail =
      'user needs a sub, tokenSet must be an object, and tokens must be as they were read, or left out.'
    throw new IdpError('MISSING_SESSION_DATA', { detail })
  }
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  // Later than the session that it changes: otherwise a process that has refreshed that in the same second would not take the update.
  const now = engine.config.clock()
  const usedAt = Math.max(laterUse(session.usedAt, now), Math.min(session.usedAt + 1, now + LONGEST_LEAD))
  const changed = { ...session, data, usedAt }
  const ownUser = !isSameJson(data.user, session.data.user)
  const saved = await engine.sessions.save(exchange, changed, { found: session, mustFit: true, ownUser })
  if (!saved) throw new IdpError('MISSING_SESSION', { detail: 'It ended meanwhile.' })
  slot.updated = data
}

/**
 * Saves an application's changes to the session of this request. `internal` cannot be changed; `user` and `tokenSet`
 * are unchanged if left out; any other property that is left out is removed. Updates at the same time are merged. Throws
 * `MISSING_SESSION_DATA`, `MISSING_SESSION`, `SESSION_NOT_WRITABLE`, `SESSION_TOO_LARGE`, `SESSION_STORE_FAILED`.
 */
export async function updateSession(engine: Engine, exchange: Exchange, input: unknown): Promise<void> {
  const changes = toJsonObject(input)
  const slot = sessionSlot(exchange, engine.config)
  // Now: the application has not seen what updates that are still running will have saved.
  const { updated } = slot
  return inTurn(slot, 'updating', () => save(engine, exchange, changes, updated))
}
