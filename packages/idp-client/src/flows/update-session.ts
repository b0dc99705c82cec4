import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import type { CookieJar } from '../http/cookie-jar.ts'
import type { Exchange } from '../http/exchange.ts'
import { withChanges } from '../session/model/session.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { asJson, isSessionData } from '../session/model/stored-session.ts'

/** What an earlier update of the same request made of the session. */
const updated = new WeakMap<CookieJar, SessionData>()

/**
 * What the application knows, which is what its changes are compared with: the members that it added itself, and the
 * tokens and claims as it found them, since the library changes these as well.
 */
function foundBy({ cookies }: Exchange, { data }: StoredSession): SessionData {
  const mine = updated.get(cookies)
  if (!mine) return data
  const { accessTokens: _a, connectionTokenSets: _c, ...own } = mine
  const { accessTokens, connectionTokenSets, tokenSet, user } = data
  return {
    ...own,
    user,
    tokenSet,
    ...(accessTokens ? { accessTokens } : {}),
    ...(connectionTokenSets ? { connectionTokenSets } : {}),
  } as SessionData
}

/** The changes as they can be kept. */
function plain(given: unknown): SessionData {
  const changes = asJson(given)
  if (typeof changes === 'object' && changes !== null) return changes as SessionData
  throw new IdpError('MISSING_SESSION_DATA', { detail: 'It has to be an object of JSON.' })
}

/** The changes with the ID token that was found: guards and logout trust it, so it only comes from the provider. */
function withIdToken(changes: SessionData, { tokenSet: { idToken } }: SessionData): SessionData {
  const { tokenSet } = changes
  if (typeof tokenSet !== 'object' || tokenSet === null) return changes
  const { idToken: _given, ...others } = tokenSet
  return { ...changes, tokenSet: { ...others, ...(idToken === undefined ? {} : { idToken }) } }
}

/**
 * Saves an application's changes to the session of this request. `internal` stays as it is; `user` and `tokenSet` stay
 * when left out; every other member that is left out goes. Throws `MISSING_SESSION_DATA`, `MISSING_SESSION`,
 * `SESSION_NOT_WRITABLE`, `SESSION_TOO_LARGE`, `SESSION_STORE_FAILED`.
 */
export async function updateSession(engine: Engine, exchange: Exchange, given: unknown): Promise<void> {
  const changes = plain(given)
  const session = await engine.sessions.load(exchange)
  if (!session) throw new IdpError('MISSING_SESSION')
  const found = foundBy(exchange, (await engine.sessions.original(exchange)) ?? session)
  const data = withChanges({ current: session.data, found, changes: withIdToken(changes, found) })
  if (!isSessionData(data)) {
    throw new IdpError('MISSING_SESSION_DATA', { detail: 'user needs a sub, tokenSet must be an object.' })
  }
  if (!exchange.canWrite()) throw new IdpError('SESSION_NOT_WRITABLE')
  const changed = { ...session, data, usedAt: engine.config.clock() }
  const kept = await engine.sessions.save(exchange, changed, { mustFit: true })
  if (!kept) throw new IdpError('MISSING_SESSION', { detail: 'It ended meanwhile.' })
  updated.set(exchange.cookies, data)
}
