import type { Engine } from '../engine.ts'
import { enroll } from '../flows/mfa.ts'
import { json } from '../http/responses.ts'
import { failWithFlatJson } from './fail-with-flat-json.ts'
import { assertSessionToken, bearerToken, toSnakeCase } from './mfa-request.ts'
import type { RouteHandler, RouteRequest } from './route.ts'

async function handle(engine: Engine, { exchange }: RouteRequest): Promise<Response> {
  const { authenticator_types, email, oob_channels, phone_number } = await exchange.request.json()
  const mfaToken = bearerToken(exchange.request)
  await assertSessionToken(engine, mfaToken)
  const options = {
    mfaToken,
    authenticatorTypes: Array.isArray(authenticator_types) ? authenticator_types.slice(0, 1) : undefined,
    oobChannels: oob_channels,
    phoneNumber: phone_number,
    email,
  }
  return json(200, toSnakeCase(await enroll(engine, exchange, options)))
}

export const mfaAssociate: RouteHandler = { handle, fail: failWithFlatJson }
