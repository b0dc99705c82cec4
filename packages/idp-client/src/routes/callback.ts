import type { Engine } from '../engine.ts'
import type { IdpError } from '../errors/base.ts'
import { OAuthError } from '../errors/provider.ts'
import type { CallbackOutcome } from '../flows/callback.ts'
import { callback as endLogin } from '../flows/callback.ts'
import { publicPrefix } from '../http/public-prefix.ts'
import { redirect } from '../http/responses.ts'
import { failWithPage } from './answers.ts'
import { loginPath } from './login-path.ts'
import type { Route, RouteRequest } from './route.ts'

/** What the provider or the person decided is nobody's fault, and no alarm. */
const DECISIONS: ReadonlySet<string> = new Set([
  'access_denied',
  'login_required',
  'interaction_required',
  'consent_required',
  'account_selection_required',
])

function report(engine: Engine, id: string, error: IdpError): void {
  const { cause } = error
  const providerError = cause instanceof OAuthError ? cause.error : undefined
  const known = providerError !== undefined && DECISIONS.has(providerError)
  engine.config.log.emit({
    level: known ? 'info' : 'warn',
    code: 'LOGIN_FAILED',
    id,
    error: error.code,
    ...(known ? { providerError } : {}),
  })
}

function answer(engine: Engine, request: RouteRequest, outcome: CallbackOutcome): Response {
  const { exchange, id } = request
  switch (outcome.kind) {
    case 'redirect':
      engine.config.log.emit({ level: 'info', code: 'LOGIN_COMPLETED', id })
      return redirect(outcome.location, exchange.request.method === 'POST' ? 303 : 302)
    case 'response':
      // A copy, since the headers of Response.redirect() cannot be changed and our cookies have to go onto it.
      return new Response(outcome.response.body, outcome.response)
    case 'failure': {
      const { error, restart, returnTo } = outcome
      report(engine, id, error)
      const prefix = publicPrefix(engine.config.basePath, engine.baseUrl(exchange))
      const login = loginPath(prefix, engine.config.routes, returnTo)
      const links = { home: `${prefix}/`, login }
      return failWithPage(
        error,
        request,
        links,
        restart && engine.transactions.mayRestart(exchange) ? login : undefined,
      )
    }
  }
}

async function handle(engine: Engine, request: RouteRequest): Promise<Response> {
  const { exchange, hostRequest, id, query } = request
  const parameters = exchange.request.method === 'POST' ? await exchange.request.form() : query
  return answer(
    engine,
    request,
    await endLogin(engine, exchange, { parameters, request: hostRequest, correlationId: id }),
  )
}

export const callback: Route = {
  methods: ['GET', 'POST'],
  acts: 'not-on-prefetch',
  handle,
  fail: failWithPage,
}
