import type { Engine } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import { describe } from '../errors/diagnosis.ts'
import { LogoutTokenError } from '../errors/logout-token.ts'
import { backchannelLogout as endSessions } from '../flows/backchannel-logout.ts'
import type { Exchange } from '../http/exchange.ts'
import { empty, errorJson } from '../http/responses.ts'
import { reportCounted } from './counted-refusal.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { toStatus } from './status.ts'

async function logoutToken({ request }: Exchange): Promise<string> {
  const [token, ...more] = (await request.form()).getAll('logout_token')
  if (token && more.length === 0) return token
  const detail = 'The form has no logout_token, or several.'
  throw new LogoutTokenError('BACKCHANNEL_LOGOUT_ERROR', { detail })
}

/** The refusals that anybody can cause. */
const REFUSALS: readonly Code[] = [
  'BACKCHANNEL_LOGOUT_NOT_SUPPORTED',
  'BACKCHANNEL_LOGOUT_ERROR',
  'INVALID_REQUEST',
]

async function handle(engine: Engine, { exchange, id }: RouteRequest): Promise<Response> {
  try {
    await endSessions(engine, { logoutToken: () => logoutToken(exchange), correlationId: id })
    return empty(200)
  } catch (thrown) {
    return fail(reportCounted(engine, thrown, REFUSALS))
  }
}

/** Responds to the provider, which logs the reason; 503 makes it retry after a temporary failure. */
function fail(error: IdpError): Response {
  const { code, name } = error
  const status = name === 'DiscoveryError' ? 503 : toStatus(error)
  return errorJson(status, code, name === 'LogoutTokenError' ? describe(error) : codes[code].message)
}

export const backchannelLogout: RouteHandler = { handle, fail }
