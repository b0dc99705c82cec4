import type { Application } from '../engine.ts'
import { newCorrelationId } from '../http/correlation-id.ts'
import type { Exchange } from '../http/exchange.ts'

/**
 * Returns the failure page of a page guard while the configuration is incomplete, otherwise `null`. A framework would show
 * nothing but that the server failed.
 */
export async function incompletePage(application: Application, exchange: Exchange): Promise<Response | null> {
  try {
    application.engine()
    return null
  } catch (thrown) {
    const [{ asIdpError, reportOutcome }, { failWithPage }] = await Promise.all([
      import('../log/failure.ts'),
      import('../routes/fail-with-page.ts'),
    ])
    const { settings } = application
    const error = asIdpError(thrown)
    const id = newCorrelationId()
    reportOutcome(settings.log, error, { level: 'error', code: 'REQUEST_FAILED', id })
    const { basePath, development } = settings
    const request = { exchange, hostRequest: null, query: new URLSearchParams(), id, development }
    return failWithPage(error, request, { home: `${basePath}/` })
  }
}
