import type { Application } from '../engine.ts'
import { isIdpError } from '../errors/base.ts'
import { touchSession } from '../flows/touch-session.ts'
import type { Exchange, RequestHeaders } from '../http/exchange.ts'
import type { MaybePromise } from '../lib/chain.ts'
import { recover } from '../lib/chain.ts'

/**
 * Returns whether a request may carry a session, also of a former library, by a search for the cookie's name: false positives are possible, false
 * negatives are not. True while the configuration is incomplete.
 */
export function mayCarrySession(application: Application, headers: RequestHeaders): boolean {
  const header = headers.get('cookie')
  if (header === null || !application.settings.sessions) return false
  try {
    const { session, takeOver } = application.engine().config
    return (
      header.includes(session.cookie.name) ||
      takeOver?.cookies.some((former) => header.includes(former)) === true
    )
  } catch {
    return true
  }
}

/** Returns whether a cookie has the name of a session or transaction cookie. True while the configuration is incomplete. */
export function isOwnCookie(application: Application, name: string): boolean {
  if (!application.settings.sessions) return false
  try {
    const { session, transaction } = application.engine().config
    return name.startsWith(session.cookie.name) || name.startsWith(transaction.cookie.prefix)
  } catch {
    return true
  }
}

/**
 * Records use of the session in a request for the application itself, if due. Never blocks the request: after a failure
 * the application still responds, without a session if it cannot be read.
 */
export function passThrough(application: Application, exchange: Exchange): MaybePromise<unknown> {
  if (!mayCarrySession(application, exchange.request.headers)) return undefined
  return recover<unknown>(
    () => touchSession(application.engine(), exchange),
    async (error) => {
      // Configuration errors were reported at construction; repeating them per request would flood the log.
      if (isIdpError(error, 'INVALID_CONFIGURATION')) return
      const { asIdpError, reportOutcome } = await import('../log/failure.ts')
      reportOutcome(application.settings.log, asIdpError(error), { level: 'debug', code: 'REQUEST_FAILED' })
    },
  )
}
