import type { AuthorizationParameters } from '../config/options.ts'
import type { Engine } from '../engine.ts'
import { invalidConfiguration } from '../errors/configuration.ts'
import type { Exchange } from '../http/exchange.ts'
import { newCorrelationId, redirect } from '../http/responses.ts'
import { lazyPromise } from '../lib/request-scope.ts'

export interface StartInteractiveLoginOptions {
  /** Authorization parameters of this login; each overrides the configured one. */
  authorizationParameters?: AuthorizationParameters
  /** Same-origin path to redirect to after the login; default `signInReturnToPath`. */
  returnTo?: string
  /**
   * Default `redirect`. With `popup` the login runs in a window that the browser has opened for it. Its callback
   * responds with a page that posts the outcome to `window.opener` and closes the window, and a session of the same
   * user gets the new tokens. A `scope` is added to the configured one.
   */
  challengeMode?: 'redirect' | 'popup'
}

/* Loaded at the first login, like the login route. */
const loadLogin = lazyPromise(() => import('../flows/login.ts'))

function refuse(detail: string): never {
  throw invalidConfiguration(detail)
}

/** Starts a login from code. Returns the redirect to the provider; its cookie is staged in the exchange. */
export async function startLogin(
  engine: Engine,
  exchange: Exchange,
  options: StartInteractiveLoginOptions,
): Promise<Response> {
  const { authorizationParameters = {}, challengeMode = 'redirect', returnTo } = options
  if (challengeMode !== 'redirect' && challengeMode !== 'popup')
    refuse('challengeMode must be redirect or popup.')
  const { max_age } = authorizationParameters
  if (max_age !== undefined && max_age !== null && !(Number.isInteger(max_age) && max_age >= 0))
    refuse('authorizationParameters.max_age must be a non-negative integer (seconds).')
  const { login } = await loadLogin()
  const url = await login(engine, exchange, {
    parameters: authorizationParameters,
    source: 'application',
    returnTo,
    correlationId: newCorrelationId(),
    ...(challengeMode === 'popup' ? { popup: '' } : {}),
  })
  return redirect(url.href, exchange.request)
}
