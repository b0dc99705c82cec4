import type { Engine } from '../engine.ts'
import { logout as endSession } from '../flows/logout.ts'
import { redirect } from '../http/responses.ts'
import { defined } from '../lib/objects.ts'
import { failWithPage } from './fail-with-page.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { lastValues } from './route.ts'

async function handle(engine: Engine, { exchange, id, query }: RouteRequest): Promise<Response> {
  const values = lastValues(query)
  const federated = values.get('federated')
  const input = defined({
    federated: federated !== undefined && federated !== 'false',
    correlationId: id,
    returnTo: values.get('returnTo') || undefined,
    state: values.get('state'),
  })
  return redirect(await endSession(engine, exchange, input), exchange.request)
}

export const logout: RouteHandler = { handle, fail: failWithPage }
