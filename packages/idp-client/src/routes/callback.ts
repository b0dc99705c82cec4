import type { CallbackOutcome } from '../callback/attempt.ts'
import { callback as endTransaction } from '../callback/callback.ts'
import { completeLogin } from '../callback/complete-login.ts'
import type { Complete } from '../callback/completion.ts'
import type { Engine } from '../engine.ts'
import { diagnose } from '../errors/diagnosis.ts'
import { accountTokens } from '../flows/get-access-token.ts'
import { popupFailurePage, popupPage } from '../http/popup-page.ts'
import { publicPrefix } from '../http/public-prefix.ts'
import { redirect } from '../http/responses.ts'
import { failWithPage } from './fail-with-page.ts'
import { loginPath, restartPath } from './login-path.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { needsLogin, toStatus } from './status.ts'

function answer(engine: Engine, request: RouteRequest, outcome: CallbackOutcome): Response {
  const { exchange } = request
  switch (outcome.kind) {
    case 'redirect':
      return redirect(outcome.location, exchange.request.method === 'POST' ? 303 : 302)
    case 'response':
      // A copy, since the headers of Response.redirect() cannot be changed and our cookies have to go onto it.
      return new Response(outcome.response.body, outcome.response)
    case 'popup': {
      const { popup, told } = outcome
      if ('user' in told) return popupPage(popup, told.user)
      const { development, id } = request
      const status = toStatus(told.error)
      return popupFailurePage(popup, { status, diagnosis: diagnose(told.error), development, id })
    }
    case 'failure': {
      const { error, page, restart, returnTo } = outcome
      const prefix = publicPrefix(engine.config.basePath, engine.baseUrl(exchange))
      const login = loginPath(prefix, engine.config.routes, returnTo)
      const links = { home: `${prefix}/`, login: page !== undefined && !needsLogin(error) ? page : login }
      return failWithPage(
        error,
        request,
        links,
        restart && engine.transactions.mayRestart(exchange) ? restartPath(login) : undefined,
      )
    }
  }
}

/** What a transaction is for decides how it ends; most applications never connect an account. */
function completion(engine: Engine, { exchange }: RouteRequest): Complete {
  return async ({ transaction, ...found }) => {
    if (transaction.responseType === 'code') return completeLogin(engine, exchange, { ...found, transaction })
    const { completeConnection } = await import('../callback/complete-connection.ts')
    return completeConnection(engine, exchange, { ...found, transaction }, accountTokens(engine, exchange))
  }
}

async function handle(engine: Engine, request: RouteRequest): Promise<Response> {
  const { exchange, hostRequest, id, query } = request
  const parameters = exchange.request.method === 'POST' ? await exchange.request.form() : query
  const input = { parameters, request: hostRequest, correlationId: id }
  const outcome = await endTransaction(engine, exchange, input, completion(engine, request))
  return answer(engine, request, outcome)
}

export const callback: RouteHandler = { handle, fail: failWithPage }
