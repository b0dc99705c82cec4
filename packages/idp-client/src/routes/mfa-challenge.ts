import type { Engine } from '../engine.ts'
import { challenge } from '../flows/mfa.ts'
import { json } from '../http/responses.ts'
import { failWithFlatJson } from './fail-with-flat-json.ts'
import { assertSessionToken, toSnakeCase } from './mfa-request.ts'
import type { RouteHandler, RouteRequest } from './route.ts'

async function handle(engine: Engine, { exchange }: RouteRequest): Promise<Response> {
  const { authenticator_id, challenge_type, mfa_token } = await exchange.request.json()
  await assertSessionToken(engine, mfa_token)
  const options = { mfaToken: mfa_token, challengeType: challenge_type, authenticatorId: authenticator_id }
  return json(200, toSnakeCase(await challenge(engine, exchange, options)))
}

export const mfaChallenge: RouteHandler = { handle, fail: failWithFlatJson }
