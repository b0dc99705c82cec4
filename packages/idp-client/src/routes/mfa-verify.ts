import type { Engine } from '../engine.ts'
import { verify } from '../flows/mfa-verify.ts'
import { json } from '../http/responses.ts'
import { failWithFlatJson } from './fail-with-flat-json.ts'
import { assertSessionToken, bearerToken } from './mfa-request.ts'
import type { RouteHandler, RouteRequest } from './route.ts'

async function handle(engine: Engine, { exchange }: RouteRequest): Promise<Response> {
  const { binding_code, oob_code, otp, recovery_code } = await exchange.request.json()
  const mfaToken = bearerToken(exchange.request)
  await assertSessionToken(engine, mfaToken)
  const options = { mfaToken, otp, oobCode: oob_code, bindingCode: binding_code, recoveryCode: recovery_code }
  const { recovery_code: replacement, success } = await verify(engine, exchange, options)
  return json(200, { success, ...(replacement === undefined ? {} : { recovery_code: replacement }) })
}

export const mfaVerify: RouteHandler = { handle, fail: failWithFlatJson }
