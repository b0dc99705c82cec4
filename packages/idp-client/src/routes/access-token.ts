import type { Engine } from '../engine.ts'
import { getAccessToken } from '../flows/get-access-token.ts'
import { touchSession } from '../flows/touch-session.ts'
import { json } from '../http/responses.ts'
import { defined } from '../lib/objects.ts'
import { failWithJson } from './fail-with-json.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { lastValues } from './route.ts'

async function handle(engine: Engine, { exchange, query }: RouteRequest): Promise<Response> {
  // Deletes cookies that contain no live session before the error says so.
  if (!(await engine.sessions.load(exchange))) await touchSession(engine, exchange)
  const values = lastValues(query)
  const options = defined({
    audience: values.get('audience') || undefined,
    scope: values.get('scope') || undefined,
    mergeScopes: values.get('mergeScopes') !== 'false',
  })
  const { authorizationDetails, expiresAt, scope, token, token_type } = await getAccessToken(
    engine,
    exchange,
    options,
  )
  await touchSession(engine, exchange)
  const expires_in = Math.max(0, expiresAt - engine.config.clock())
  return json(200, {
    token,
    expires_at: expiresAt,
    expires_in,
    scope,
    token_type,
    authorization_details: authorizationDetails,
  })
}

export const accessToken: RouteHandler = { handle, fail: failWithJson }
