import type { Engine } from '../engine.ts'
import { getAuthenticators } from '../flows/mfa.ts'
import { json } from '../http/responses.ts'
import { failWithFlatJson } from './fail-with-flat-json.ts'
import { assertSessionToken, bearerToken, toSnakeCase } from './mfa-request.ts'
import type { RouteHandler, RouteRequest } from './route.ts'

async function handle(engine: Engine, { exchange }: RouteRequest): Promise<Response> {
  const mfaToken = bearerToken(exchange.request)
  await assertSessionToken(engine, mfaToken)
  const authenticators = await getAuthenticators(engine, exchange, { mfaToken })
  return json(200, authenticators.map(toSnakeCase))
}

export const mfaAuthenticators: RouteHandler = { handle, fail: failWithFlatJson }
