import type { Application } from '../engine.ts'
import { IdpError, isIdpError } from '../errors/base.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import type { Exchange } from '../http/exchange.ts'
import { newCorrelationId } from '../http/responses.ts'
import { linkPrefix } from '../routes/links.ts'
import { readAccept } from './accept.ts'
import type { AcceptEntry } from './accepted-auth.ts'
import { readFlag, readRequirements } from './guard-options.ts'
import type { ApiGuardResult, GuardResult, ResultFor } from './guards.ts'
import { isForbidden, requireAccepted, requireAuth, requireLogin } from './guards.ts'
import type { AnyApiGuardOptions, GuardRequirements } from './requirements.ts'

export interface HostPageGuardOptions<Host> extends GuardRequirements {
  /**
   * Path to redirect to after the login, or a function that returns it; default: path and query of the request. Always on
   * the application's origin.
   */
  returnTo?: string | ((host: Host) => string | Promise<string>)
}

/** Throws for a guard that only sessions pass, if there are none. */
function refuseSessions(guard: string, remedy = ''): never {
  const detail = `${guard}: it needs a session, but the option sessions: false says that there are none${remedy}.`
  throw invalidConfiguration(detail)
}

/**
 * Creates a page guard of a host: reads its options once, and returns a function that decides about one request. `path`
 * returns path and query of the request, `undefined` if the host does not tell.
 *
 * @param name the name of the guard, for messages
 * @param further the names of options that only this host has
 */
export function createPageGuard<Host>(
  application: Application,
  name: string,
  options: HostPageGuardOptions<Host> = {},
  further: readonly string[] = [],
): (exchange: Exchange, host: Host, path: () => string | undefined) => Promise<GuardResult> {
  if (!application.settings.sessions) refuseSessions(name)
  const requirements = readRequirements(name, options, ['returnTo', ...further])
  const { returnTo } = options
  return (exchange, host, path) =>
    requireLogin(application, exchange, {
      requirements,
      returnTo: () => (typeof returnTo === 'function' ? returnTo(host) : returnTo) ?? path(),
    })
}

/** A guard of an API: decides about one request. */
export type ApiGuard<Result = GuardResult> = (exchange: Exchange) => Promise<Result>

/** Creates an API guard: reads its options once, and returns a function that decides about one request. */
export function createApiGuard<Entry extends AcceptEntry, Scope extends string>(
  application: Application,
  name: string,
  options?: AnyApiGuardOptions<Entry, Scope>,
): ApiGuard<ResultFor<Entry>>
export function createApiGuard(
  application: Application,
  name: string,
  options?: object,
): ApiGuard<ApiGuardResult>
export function createApiGuard(
  application: Application,
  name: string,
  options: object = {},
): ApiGuard<ApiGuardResult> {
  const requirements = readRequirements(name, options, ['accept', 'sameOrigin'])
  // Also if it is undefined: a resource that was not found must not leave the API to sessions.
  if (!('accept' in options)) {
    if (!application.settings.sessions) refuseSessions(name, ': name resources (idp.resource()) in accept')
    const { sameOrigin }: { readonly sameOrigin?: unknown } = options
    const isSameOrigin = readFlag(name, 'sameOrigin', sameOrigin)
    return (exchange) => requireAuth(application, exchange, { requirements, sameOrigin: isSameOrigin })
  }
  const accepted = readAccept(application, name, options, requirements)
  return (exchange) => requireAccepted(application, exchange, { accepted, requirements })
}

/** Returns whether an error says that the host of the request is not one of the application. */
const isMisdirected = (thrown: unknown): boolean =>
  isIdpError(thrown, 'BASE_URL_NOT_ALLOWED') || isIdpError(thrown, 'BASE_URL_UNKNOWN')

/** Reports an error of a page guard and returns its failure page. */
async function toFailurePage(
  application: Application,
  exchange: Exchange,
  thrown: unknown,
): Promise<Response> {
  const [{ asIdpError, reportResponse }, { reportRefusal }, { failWithPage }] = await Promise.all([
    import('../log/failure.ts'),
    import('../log/refusal.ts'),
    import('../routes/fail-with-page.ts'),
  ])
  const error = asIdpError(thrown)
  const id = newCorrelationId()
  const { development, log } = application.settings
  const links = { home: `${linkPrefix(application, exchange)}/` }
  const response = failWithPage(error, { development, exchange, id }, links)
  // Anybody can send such a host.
  if (isMisdirected(error)) reportRefusal(application.engine().config, error, 'warn')
  else reportResponse(log, error, { status: response.status, id })
  return response
}

/**
 * Runs a page guard where its host can show a page of ours: with a failure page while the configuration is incomplete and for a host
 * that does not belong to the application, for which a framework would show nothing but that the server failed, and if `authorize`
 * denies access.
 */
export async function withFailurePages(
  application: Application,
  exchange: Exchange,
  guard: () => Promise<GuardResult>,
): Promise<GuardResult> {
  try {
    application.engine()
  } catch (thrown) {
    return { response: await toFailurePage(application, exchange, thrown) }
  }
  try {
    const result = await guard()
    if (!result.response || !isForbidden(result.response)) return result
    return { response: await toFailurePage(application, exchange, new IdpError('ACCESS_DENIED')) }
  } catch (thrown) {
    if (!isMisdirected(thrown)) throw thrown
    return { response: await toFailurePage(application, exchange, thrown) }
  }
}
