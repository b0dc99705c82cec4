import type { Engine } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import { detachedCopy } from '../session/model/detached.ts'
import type { SessionData } from '../session/model/session-data.ts'

/** Returns a copy of the session of this request, or `null`. Never writes a cookie. */
export async function getSession(engine: Engine, exchange: Exchange): Promise<SessionData | null> {
  const stored = await engine.sessions.load(exchange)
  return stored && detachedCopy(stored.data)
}
