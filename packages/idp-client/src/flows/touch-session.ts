import type { Engine } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import type { Exchange } from '../http/exchange.ts'
import { isPrefetch, isServerAction } from '../http/request-kind.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { isRollingDue, laterUse } from '../session/model/lifetime.ts'
import type { SessionDifference } from '../session/model/session.ts'
import type { StoredSession } from '../session/model/stored-session.ts'
import { withoutRefreshToken } from '../tokens/apply.ts'
import { deadSince, mayRemoveDead } from '../tokens/refresh/ended.ts'

/**
 * Saves the session; returns false if it has ended meanwhile, in which case the next request clears its cookies. A
 * failing store and refreshed tokens that fit into no cookies are logged: the request is served anyway, and the next one
 * tries again.
 */
async function trySave(
  { config: { log }, sessions }: Engine,
  exchange: Exchange,
  { found, session }: SessionDifference,
): Promise<boolean> {
  try {
    return await sessions.save(exchange, session, { found })
  } catch (error) {
    const isTooLarge = isIdpError(error, 'SESSION_TOO_LARGE')
    if (!isTooLarge && !isIdpError(error, 'SESSION_STORE_FAILED')) throw error
    const { reportFailure, reportOutcome } = await import('../log/failure.ts')
    if (isTooLarge) reportOutcome(log, error, { level: 'error', code: 'REQUEST_FAILED' })
    else reportFailure(log, error)
    return false
  }
}

/** Records use of a live session; `rejectedAt` is when the provider rejected its refresh token, if it did. */
function touch(
  engine: Engine,
  exchange: Exchange,
  session: StoredSession,
  rejectedAt: number | undefined,
): MaybePromise<boolean> {
  const { config, sessions } = engine
  const now = config.clock()
  if (rejectedAt !== undefined && !mayRemoveDead(exchange, rejectedAt, now)) return false
  const usedAt = laterUse(session.usedAt, now)
  // With a store, the cookie has a time of its own (`needsWrite`), and only a later use changes the record.
  const isRecordable = !sessions.distributed || usedAt > session.usedAt
  const isDue = isRecordable && isRollingDue(session.usedAt, config.session, now)
  if (!isDue && !session.needsWrite && rejectedAt === undefined) return false
  const data = rejectedAt === undefined ? session.data : withoutRefreshToken(session.data)
  const used = { ...session, data, usedAt }
  return chain(trySave(engine, exchange, { found: session, session: used }), (isSaved) => {
    if (isSaved) config.log.emit({ level: 'debug', code: 'SESSION_ROLLED' })
    return isSaved
  })
}

/**
 * Records use of the session if a write is due. Returns whether a cookie was staged.
 * 1. Ignores prefetches and Server Actions: they are not use of the session, and a cookie would make the host render
 *    again.
 * 2. Deletes session cookies that contain no live session. Not while a login is pending (a transaction cookie): if it completes
 *    first, in any process, the deletion would remove the cookies of its session.
 * 3. Writes a session that was refreshed in a request that could not write.
 * 4. Writes nothing for a minute after the refresh token was rejected, then writes the session without it.
 * 5. Keeps `createdAt`, so that the absolute lifetime is not extended.
 */
export function touchSession(engine: Engine, exchange: Exchange): MaybePromise<boolean> {
  const { sessions, transactions } = engine
  const { headers, method } = exchange.request
  if (isPrefetch(headers) || isServerAction(headers, method)) return false
  return chain(sessions.load(exchange), (session) =>
    session
      ? chain(deadSince(engine, session.data), (rejectedAt) => touch(engine, exchange, session, rejectedAt))
      : !transactions.hasPending(exchange) && sessions.sweep(exchange),
  )
}
