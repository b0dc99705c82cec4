import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import { isPrefetch, isServerAction } from '../http/request-kind.ts'
import { isRollingDue } from '../session/model/lifetime.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { withoutRefreshToken } from '../tokens/apply.ts'
import { deadSince, mayRemove } from '../tokens/dead-tokens.ts'

/**
 * Saves the session; returns false if it has ended meanwhile, in which case the next request clears its cookies. A
 * failing store is logged: the request is served anyway, and the next one tries again.
 */
async function trySave(
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
 * Records use of the session if a write is due. Returns whether a cookie was staged.
 * 1. Ignores prefetches and Server Actions: they are not use of the session, and a cookie would make the host render
 *    again.
 * 2. Deletes session cookies that contain no live session.
 * 3. Writes a session that was refreshed in a request that could not write.
 * 4. Writes nothing for a minute after the refresh token was rejected, then writes the session without it.
 * 5. Keeps `createdAt`, so that the absolute lifetime is not extended.
 */
export async function touchSession(engine: Engine, exchange: Exchange): Promise<boolean> {
  const { config, sessions } = engine
  const { headers, method } = exchange.request
  if (isPrefetch(headers) || isServerAction(headers, method)) return false
  const session = await sessions.load(exchange)
  if (!session) return sessions.sweep(exchange)
  const now = config.clock()
  const { createdAt } = session.data.internal
  const rejectedAt = await deadSince(engine, session.data.tokenSet.refreshToken)
  if (rejectedAt !== undefined && !mayRemove(exchange, rejectedAt, now)) return false
  const due = isRollingDue({ createdAt, usedAt: session.usedAt }, config.session, now)
  if (!due && !session.stale && rejectedAt === undefined) return false
  const data = rejectedAt === undefined ? session.data : withoutRefreshToken(session.data)
  if (!(await trySave(engine, exchange, { ...session, data, usedAt: now }))) return false
  config.log.emit({ level: 'debug', code: 'SESSION_ROLLED' })
  return true
}
