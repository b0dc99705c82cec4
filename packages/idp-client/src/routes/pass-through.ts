import type { Application } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { touchSession } from '../flows/touch-session.ts'
import type { Exchange } from '../http/exchange.ts'

/**
 * Records use of the session in a request for the application itself, if due. Never blocks the request: after a failure
 * the application still responds, without a session if it cannot be read.
 */
export async function passThrough(application: Application, exchange: Exchange): Promise<void> {
  try {
    await touchSession(application.engine(), exchange)
  } catch (error) {
    // Configuration errors were reported at construction; repeating them per request would flood the log.
    if (isIdpError(error, 'INVALID_CONFIGURATION')) return
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    reportOutcome(application.settings.log, asIdpError(error), { level: 'debug', code: 'REQUEST_FAILED' })
  }
}
