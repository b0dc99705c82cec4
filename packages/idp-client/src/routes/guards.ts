import type { Application } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { getSession } from '../flows/get-session.ts'
import type { Exchange } from '../http/exchange.ts'
import { publicPrefix } from '../http/public-prefix.ts'
import { json } from '../http/responses.ts'
import type { SessionData } from '../session/session-data.ts'
import { loginPath } from './login-path.ts'
import { statusOf } from './status.ts'

export type PageAccess =
  | { readonly kind: 'granted'; readonly session: SessionData }
  | { readonly kind: 'login'; readonly location: string }

/**
 * Whether a page may be shown. Throws when that cannot be decided (configuration, provider, store), so that no error
 * ever looks like a session, and none sends the browser round in circles.
 */
export async function pageAccess(
  application: Application,
  exchange: Exchange,
  returnTo: () => string | undefined | Promise<string | undefined>,
): Promise<PageAccess> {
  const engine = application.engine()
  const session = await getSession(engine, exchange)
  if (session) return { kind: 'granted', session }
  const { routes } = engine.config
  const prefix = publicPrefix(engine.config.basePath, engine.baseUrl(exchange))
  return { kind: 'login', location: loginPath(prefix, routes, await returnTo()) }
}

function refusal(status: number, error: IdpError): Response {
  const { message } = codes[error.code]
  return json(status, { error: error.code.toLowerCase(), code: error.code, description: message })
}

/** The answer that keeps a request from an API; null when it may pass. Never a redirect, never a user's data. */
export async function apiRefusal(application: Application, exchange: Exchange): Promise<Response | null> {
  try {
    if (await getSession(application.engine(), exchange)) return null
    return refusal(401, new IdpError('NOT_AUTHENTICATED'))
  } catch (thrown) {
    const error = isIdpError(thrown) ? thrown : new IdpError('INTERNAL_ERROR', { cause: thrown })
    return refusal(Math.max(500, statusOf(error)), error)
  }
}
