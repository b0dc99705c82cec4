import type { Application, Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { codes } from '../errors/codes.ts'
import { getSession } from '../flows/get-session.ts'
import type { Exchange } from '../http/exchange.ts'
import { redirect } from '../http/responses.ts'
import { publicPrefix, safeReturnPath } from '../http/return-path.ts'
import { copyJson } from '../lib/objects.ts'
import { lazyPromise } from '../lib/request-scope.ts'
import { reporting } from '../log/reporting.ts'
import { loginPath } from '../routes/links.ts'
import { toStatus } from '../routes/status.ts'
import type { SessionData } from '../session/model/session-data.ts'
import type { Accepted } from './accept.ts'
import type { AcceptEntry, AcceptedAuth } from './accepted-auth.ts'
import type { Auth } from './auth.ts'
import type { SessionVerdict } from './check-session.ts'
import { isCrossSite } from './cross-site.ts'
import { rejection, toChallenge, UNMET_CODES, unmetParameters } from './rejection.ts'
import type { Requirements } from './requirements.ts'
import { isAuthorized } from './requirements.ts'

/** The decision of a guard: the session of the request, or the response that rejects it. */
export type GuardResult =
  | { readonly session: SessionData; readonly response?: undefined; readonly auth?: undefined }
  | { readonly session?: undefined; readonly response: Response; readonly auth?: undefined }

/** The decision of a guard with `accept`: the caller, or the response that rejects the request. */
export type AuthResult<Caller extends Auth = Auth> =
  | { readonly auth: Caller; readonly session?: SessionData | undefined; readonly response?: undefined }
  | { readonly auth?: undefined; readonly session?: undefined; readonly response: Response }

/** The decision of the guard of an API, with `accept` or without. */
export type ApiGuardResult = GuardResult | AuthResult

/** The decision of a guard whose `accept` has these entries; `never` without `accept`. */
export type ResultFor<Entry extends AcceptEntry> = [Entry] extends [never]
  ? GuardResult
  : AuthResult<AcceptedAuth<Entry>>

const loadCheckSession = lazyPromise(() => import('./check-session.ts'))

type Verdict =
  | { readonly kind: 'granted'; readonly session: SessionData }
  | Exclude<SessionVerdict, { kind: 'granted' }>
  /** The application's `authorize` did not return true. */
  | { readonly kind: 'forbidden' }

/** Checks the session. Most guards require only that there is one; the code that checks more is loaded when needed. */
async function checkAccess(engine: Engine, exchange: Exchange, requirements: Requirements): Promise<Verdict> {
  if (Object.keys(requirements).length > 0) {
    const { checkSession, toSessionAuth } = await loadCheckSession()
    const verdict = await checkSession(engine, exchange, requirements)
    if (verdict.kind !== 'granted') return verdict
    const isAllowed = await isAuthorized(requirements, () => toSessionAuth(verdict.session))
    return isAllowed ? { kind: 'granted', session: copyJson(verdict.session.data) } : { kind: 'forbidden' }
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
  if (verdict.kind === 'forbidden') return { response: rejection('ACCESS_DENIED') }
  const { basePath, routes } = engine.config
  const baseUrl = engine.baseUrl(exchange)
  // Without a path that the login ignores: a long one could make the address too long for proxies.
  const given = await returnTo()
  const target = safeReturnPath(given, baseUrl) === null ? undefined : given
  const location = loginPath(publicPrefix(basePath, baseUrl), routes, target, verdict.login)
  return { response: redirect(location, exchange.request) }
}

/** Returns whether a response of a page guard denies access, instead of redirecting to a login. */
export const isForbidden = ({ status }: Response): boolean => status === codes.ACCESS_DENIED.status

/** Returns the response that rejects an API request. */
function toRejection(verdict: Exclude<Verdict, { kind: 'granted' }>, requirements: Requirements): Response {
  if (verdict.kind === 'unauthenticated') return rejection('NOT_AUTHENTICATED')
  if (verdict.kind === 'forbidden') return rejection('ACCESS_DENIED')
  const code = UNMET_CODES[verdict.unmet]
  const parameters = unmetParameters(verdict.unmet, requirements)
  const challenge = parameters && toChallenge('Bearer', code, parameters)
  return rejection(code, { challenge, login: verdict.login })
}

/**
 * Decides whether an API request may pass. The response that rejects it is never a redirect and has no data of the user.
 * If another login could help, its body contains the parameters (`login`), unless that login has just been tried. An
 * error rejects the request, too.
 */
export async function requireAuth(
  application: Application,
  exchange: Exchange,
  { requirements, sameOrigin }: { readonly requirements: Requirements; readonly sameOrigin: boolean },
): Promise<GuardResult> {
  try {
    const engine = application.engine()
    if (sameOrigin && isCrossSite(engine, exchange)) return { response: rejection('CROSS_SITE_REQUEST') }
    const verdict = await checkAccess(engine, exchange, requirements)
    if (verdict.kind === 'granted') return { session: verdict.session }
    return { response: toRejection(verdict, requirements) }
  } catch (thrown) {
    return { response: await toFailure(application, thrown) }
  }
}

/** Reports why a guard could not decide, and returns the response that rejects the request. */
async function toFailure({ settings }: Application, thrown: unknown): Promise<Response> {
  const { asIdpError, reportOutcome } = await import('../log/failure.ts')
  const error = asIdpError(thrown)
  reportOutcome(settings.log, error, { level: 'error', code: 'REQUEST_FAILED' })
  return rejection(error.code, { status: Math.max(500, toStatus(error)) })
}

/** Loads the code on first use; from then on it is there without a promise. */
let acceptedCode: typeof import('./check-accepted.ts') | undefined
const loadCheckAccepted = lazyPromise(async () => {
  acceptedCode = await import('./check-accepted.ts')
  return acceptedCode
})

/** Decides about a request to an API that accepts access tokens, in the same way. */
export async function requireAccepted(
  application: Application,
  exchange: Exchange,
  guard: { readonly accepted: Accepted; readonly requirements: Requirements },
): Promise<AuthResult> {
  try {
    const { checkAccepted } = acceptedCode ?? (await loadCheckAccepted())
    return await checkAccepted(application, exchange, guard)
  } catch (thrown) {
    return { response: await toFailure(application, thrown) }
  }
}
