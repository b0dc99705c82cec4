import type { Engine } from '../engine.ts'
import { logout as endSession } from '../flows/logout.ts'
import { redirect } from '../http/responses.ts'
import { failWithPage } from './fail-with-page.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { lastValues } from './route.ts'

async function handle(engine: Engine, { exchange, id, query }: RouteRequest): Promise<Response> {
  const values = lastValues(query)
  const returnTo = values.get('returnTo')
  const state = values.get('state')
  const federated = values.get('federated')
  const location = await endSession(engine, exchange, {
    federated: federated !== undefined && federated !== 'false',
    correlationId: id,
    ...(returnTo ? { returnTo } : {}),
    ...(state === undefined ? {} : { state }),
  })
  return redirect(location)
}

export const logout: RouteHandler = { handle, fail: failWithPage }
