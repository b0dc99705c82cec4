import { IdpError } from '../../errors/base.ts'
import type { Exchange } from '../../http/exchange.ts'
import { sessionSlot } from '../../session/session-slot.ts'
import type { RefreshParts } from './coordinator.ts'

/**
 * Ends the session of the request, whose end at the provider has passed: deletes its cookies where they can be written. Throws
 * `SESSION_EXPIRED`.
 */
export async function endExpired({ config, sessions }: RefreshParts, exchange: Exchange): Promise<never> {
  if (exchange.canWrite()) await sessions.destroy(exchange)
  sessionSlot(exchange, config).current = null
  throw new IdpError('SESSION_EXPIRED')
}
