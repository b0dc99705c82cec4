import type { Engine } from '../engine.ts'
import { touchSession } from '../flows/touch-session.ts'
import { empty, json } from '../http/responses.ts'
import { failWithJson } from './fail-with-json.ts'
import type { RouteHandler, RouteRequest } from './route.ts'

async function handle(engine: Engine, { exchange }: RouteRequest): Promise<Response> {
  const session = await engine.sessions.load(exchange)
  await touchSession(engine, exchange)
  if (session) return json(200, session.data.user)
  return empty(engine.config.noContentProfileResponseWhenUnauthenticated ? 204 : 401)
}

export const profile: RouteHandler = { handle, fail: failWithJson }
