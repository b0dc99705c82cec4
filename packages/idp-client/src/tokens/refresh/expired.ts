import { IdpError } from '../../errors/base.ts'
import type { Exchange } from '../../http/exchange.ts'
import type { StoredSession } from '../../session/model/stored-session.ts'
import { endStreams } from '../../session/open-streams.ts'
import { sessionSlot } from '../../session/session-slot.ts'
import type { RefreshParts } from './coordinator.ts'
import type { TokenFamily } from './process-memory.ts'
import { closeFamily, markEnded } from './process-memory.ts'

/** Ends a session in this process whose end at the provider has passed: no request loads it any more, and its responses end. */
export async function endInProcess(family: TokenFamily, session: StoredSession): Promise<void> {
  closeFamily(family)
  markEnded(session)
  await endResponses(session)
}

const endResponses = ({ sessionKey }: StoredSession): Promise<void> =>
  endStreams(({ session }) => session.sessionKey === sessionKey)

/**
 * Ends the session of the request, whose end at the provider has passed: deletes its cookies where they can be written. Throws
 * `SESSION_EXPIRED`.
 */
export async function endExpired(
  { config, sessions }: RefreshParts,
  exchange: Exchange,
  session: StoredSession,
): Promise<never> {
  if (exchange.canWrite()) await sessions.destroy(exchange)
  await endResponses(session)
  sessionSlot(exchange, config).current = null
  throw new IdpError('SESSION_EXPIRED')
}
