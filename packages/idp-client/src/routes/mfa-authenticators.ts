import type { Engine } from '../engine.ts'
import { getAuthenticators } from '../flows/mfa.ts'
import { json } from '../http/responses.ts'
import { failWithFlatJson } from './fail-with-flat-json.ts'
import { bearerToken, checkOfSession, snakeCased } from './mfa-request.ts'
import type { RouteHandler, RouteRequest } from './route.ts'

async function handle(engine: Engine, { exchange }: RouteRequest): Promise<Response> {
  const mfaToken = bearerToken(exchange.request)
  await checkOfSession(engine, mfaToken)
  const authenticators = await getAuthenticators(engine, exchange, { mfaToken })
  return json(200, authenticators.map(snakeCased))
}

export const mfaAuthenticators: RouteHandler = { handle, fail: failWithFlatJson }
