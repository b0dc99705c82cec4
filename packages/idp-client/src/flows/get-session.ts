import type { Engine } from '../engine.ts'
import type { Exchange } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { chain } from '../lib/chain.ts'
import { copyJson } from '../lib/objects.ts'
import type { SessionData } from '../session/model/session-data.ts'

/** Returns a copy of the session of this request, or `null`. Never writes a cookie. */
export function getSession(engine: Engine, exchange: Exchange): MaybePromise<SessionData | null> {
  return chain(engine.sessions.load(exchange), (session) => session && copyJson(session.data))
}
