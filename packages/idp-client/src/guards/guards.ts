import type { Application, Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import type { Code } from '../errors/code.ts'
import { codes } from '../errors/codes.ts'
import { getSession } from '../flows/get-session.ts'
import type { Exchange } from '../http/exchange.ts'
import { json, redirect } from '../http/responses.ts'
import { publicPrefix } from '../http/return-path.ts'
import { defined } from '../lib/own-properties.ts'
import { lazyPromise } from '../lib/request-scope.ts'
import { reporting } from '../log/reporting.ts'
import { loginPath } from '../routes/login-path.ts'
import { toStatus } from '../routes/status.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { LoginParameters, Verdict } from './check-session.ts'
import type { Requirements, Unmet } from './requirements.ts'

/** The decision of a guard: the session of the request, or the response that rejects it. */
export type GuardResult =
  | { readonly session: SessionData; readonly response?: undefined }
  | { readonly session?: undefined; readonly response: Response }

const UNMET_CODES = {
  authentication: 'INSUFFICIENT_USER_AUTHENTICATION',
  organization: 'WRONG_ORGANIZATION',
  scope: 'INSUFFICIENT_SCOPE',
} as const satisfies Record<Unmet, Code>

const loadCheckSession = lazyPromise(() => import('./check-session.ts'))

/** Checks the session. Most guards require only that there is one; the code that checks more is loaded when needed. */
async function checkAccess(engine: Engine, exchange: Exchange, requirements: Requirements): Promise<Verdict> {
  if (Object.keys(requirements).length > 0) {
    const { checkSession, isAuthorized } = await loadCheckSession()
    const verdict = await checkSession(engine, exchange, requirements)
    if (verdict.kind !== 'granted' || (await isAuthorized(engine, exchange, requirements))) return verdict
    return { kind: 'forbidden' }
  }
  const session = await getSession(engine, exchange)
  return session ? { kind: 'granted', session } : { kind: 'unauthenticated', login: {} }
}

export interface LoginGuard {
  readonly requirements: Requirements
  /** Path to return to after the login; called only if there is one. */
  readonly returnTo: () => string | undefined | Promise<string | undefined>
}

/**
 * Decides whether a page may be shown. The response redirects to a login, or is a 403 (`isForbidden`) if `authorize` denies it.
 * Throws if that cannot be decided (configuration, provider, store), so that an error never passes as a session or causes a
 * redirect loop; and if a login has just failed to meet the requirements: `INSUFFICIENT_USER_AUTHENTICATION`,
 * `WRONG_ORGANIZATION`, `INSUFFICIENT_SCOPE`.
 */
export async function requireLogin(
  application: Application,
  exchange: Exchange,
  { requirements, returnTo }: LoginGuard,
): Promise<GuardResult> {
  const engine = application.engine()
  const verdict = await reporting(engine.config.log, () => checkAccess(engine, exchange, requirements))
  if (verdict.kind === 'granted') return { session: verdict.session }
  if (verdict.kind === 'exhausted') throw new IdpError(UNMET_CODES[verdict.unmet])
  if (verdict.kind === 'forbidden')
    return { response: rejection(codes.ACCESS_DENIED.status, 'ACCESS_DENIED') }
  const { routes } = engine.config
  const prefix = publicPrefix(engine.config.basePath, engine.baseUrl(exchange))
  return { response: redirect(loginPath(prefix, routes, await returnTo(), verdict.login)) }
}

function rejection(status: number, code: Code, login?: LoginParameters, challenge?: string): Response {
  const headers = challenge === undefined ? {} : { 'WWW-Authenticate': challenge }
  return json(status, { error: code.toLowerCase(), code, description: codes[code].message, login }, headers)
}

/**
 * Returns the Bearer challenge of RFC 9470 section 3 or RFC 6750 section 3.1; no standard defines one for organizations. Values
 * need no escaping: guard options cannot contain quotes or backslashes.
 */
function toChallenge(unmet: Unmet, { acr, maxAge, scope }: Requirements): string | undefined {
  if (unmet === 'organization') return undefined
  const code = UNMET_CODES[unmet]
  const required =
    unmet === 'scope'
      ? { scope: scope?.join(' ') }
      : { acr_values: acr?.join(' '), max_age: maxAge?.toString() }
  const all = defined({ error: code.toLowerCase(), error_description: codes[code].message, ...required })
  const pairs = Object.entries(all).map(([name, value]) => `${name}="${value}"`)
  return `Bearer ${pairs.join(', ')}`
}

/** Returns whether a response of a page guard denies access, instead of redirecting to a login. */
export const isForbidden = ({ status }: Response): boolean => status === codes.ACCESS_DENIED.status

/** Returns the response that rejects an API request. */
function toRejection(verdict: Exclude<Verdict, { kind: 'granted' }>, requirements: Requirements): Response {
  if (verdict.kind === 'unauthenticated') return rejection(401, 'NOT_AUTHENTICATED')
  if (verdict.kind === 'forbidden') return rejection(codes.ACCESS_DENIED.status, 'ACCESS_DENIED')
  const code = UNMET_CODES[verdict.unmet]
  const login = verdict.kind === 'insufficient' ? verdict.login : undefined
  return rejection(codes[code].status, code, login, toChallenge(verdict.unmet, requirements))
}

/**
 * Decides whether an API request may pass. The response that rejects it is never a redirect and has no data of the user.
 * If another login could help, its body contains the parameters (`login`), unless that login has just been tried. An
 * error rejects the request, too.
 */
export async function requireAuth(
  application: Application,
  exchange: Exchange,
  requirements: Requirements,
): Promise<GuardResult> {
  try {
    const verdict = await checkAccess(application.engine(), exchange, requirements)
    if (verdict.kind === 'granted') return { session: verdict.session }
    return { response: toRejection(verdict, requirements) }
  } catch (thrown) {
    const { asIdpError, reportOutcome } = await import('../log/failure.ts')
    const error = asIdpError(thrown)
    reportOutcome(application.settings.log, error, { level: 'error', code: 'REQUEST_FAILED' })
    return { response: rejection(Math.max(500, toStatus(error)), error.code) }
  }
}
