import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import { isPrefetch, isServerAction } from '../http/request-kind.ts'
import { rollIsDue } from '../session/model/lifetime.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { withoutRefreshToken } from '../tokens/apply.ts'
import { deadSince, mayRemove } from '../tokens/dead-tokens.ts'

/**
 * Ended meanwhile: the next request finds no session, and clears its cookies. A store that fails is
 * reported; the request is served anyway, and the next one tries again.
 */
async function isKept(
  { config: { log }, sessions }: Engine,
  exchange: Exchange,
  session: StoredSession,
): Promise<boolean> {
  try {
    return await sessions.save(exchange, session)
  } catch (error) {
    if (!isIdpError(error, 'SESSION_STORE_FAILED')) throw error
    const { reportFailure } = await import('../log/failure.ts')
    reportFailure(log, error)
    return false
  }
}

/**
 * Records use of the session, when a write is due; true when something was staged.
 * 1. Nothing on prefetches and Server Actions: they are no use, and a cookie makes the host render again.
 * 2. Session cookies that open as no live session are deleted, once.
 * 3. A session that was refreshed where nothing could be written is written now.
 * 4. Of a session whose refresh token was refused nothing is written for a minute, then it is written without it.
 * 5. A roll keeps `createdAt`, so the absolute limit stays where it is.
 */
export async function touchSession(engine: Engine, exchange: Exchange): Promise<boolean> {
  const { config, sessions } = engine
  const { headers, method } = exchange.request
  if (isPrefetch(headers) || isServerAction(headers, method)) return false
  const session = await sessions.load(exchange)
  if (!session) return sessions.sweep(exchange)
  const now = config.clock()
  const { createdAt } = session.data.internal
  const since = await deadSince(engine, session.data.tokenSet.refreshToken)
  if (since !== undefined && !mayRemove(exchange, since, now)) return false
  const due = rollIsDue({ createdAt, usedAt: session.usedAt }, config.session, now)
  if (!due && !session.stale && since === undefined) return false
  const data = since === undefined ? session.data : withoutRefreshToken(session.data)
  if (!(await isKept(engine, exchange, { ...session, data, usedAt: now }))) return false
  config.log.emit({ level: 'debug', code: 'SESSION_ROLLED' })
  return true
}
