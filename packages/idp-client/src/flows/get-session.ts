import type { Engine } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import type { SessionData } from '../session/session-data.ts'

/** The session of this request, or null. Never writes a cookie. */
export async function getSession(engine: Engine, exchange: Exchange): Promise<SessionData | null> {
  const stored = await engine.sessions.load(exchange)
  return stored?.data ?? null
}
