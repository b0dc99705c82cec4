import type { Application } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { touchSession } from '../flows/touch-session.ts'
import type { Exchange } from '../http/exchange.ts'

/**
 * What happens to a request that is for the application itself: use is recorded, when due. Never stops the request:
 * whatever goes wrong here, the application answers, without a session where there is none to be had.
 */
export async function passThrough(application: Application, exchange: Exchange): Promise<void> {
  try {
    await touchSession(application.engine(), exchange)
  } catch (error) {
    // Configuration faults were reported at construction; repeating them per request would drown the log.
    if (isIdpError(error, 'INVALID_CONFIGURATION')) return
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    reportOutcome(application.settings.log, asIdpError(error), { level: 'debug', code: 'REQUEST_FAILED' })
  }
}
