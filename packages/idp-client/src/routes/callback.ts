import type { CallbackOutcome } from '../callback/attempt.ts'
import { callback as endTransaction } from '../callback/callback.ts'
import { completeLogin } from '../callback/complete-login.ts'
import type { Engine } from '../engine.ts'
import { accountTokens } from '../flows/get-access-token.ts'
import { continuePage } from '../http/continue-page.ts'
import type { Exchange } from '../http/exchange.ts'
import { popupFailurePage, popupPage } from '../http/popup-page.ts'
import { isCrossSiteDocument } from '../http/request-kind.ts'
import { redirect } from '../http/responses.ts'
import { publicPrefix } from '../http/return-path.ts'
import { failWithPage, toReport } from './fail-with-page.ts'
import { loginPath, restartPath } from './links.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { needsLogin } from './status.ts'

/** Query parameter of a callback that a page of ours has repeated. */
const REPEATED = 'repeated'

/** Returns whether the browser withholds cookies of the application from this request and from a redirect that follows. */
function withholdsCookies({ config: { session, transaction } }: Engine, { request }: Exchange): boolean {
  const isStrict = [session, transaction].some(({ cookie }) => cookie.sameSite === 'strict')
  return isStrict && isCrossSiteDocument(request.headers)
}

function respond(engine: Engine, request: RouteRequest, outcome: CallbackOutcome): Response {
  const { exchange } = request
  switch (outcome.kind) {
    case 'redirect':
      if (withholdsCookies(engine, exchange)) return continuePage(outcome.location)
      return redirect(outcome.location, exchange.request)
    case 'response':
      // A copy, because the headers of `Response.redirect()` are immutable and cookies have to be added.
      return new Response(outcome.response.body, outcome.response)
    case 'popup': {
      const { popup, result } = outcome
      if ('user' in result) return popupPage(popup, result.user)
      return popupFailurePage(popup, toReport(result.error, request))
    }
    case 'failure': {
      const { error, page, restart, returnTo } = outcome
      const prefix = publicPrefix(engine.config.basePath, engine.baseUrl(exchange))
      const login = loginPath(prefix, engine.config.routes, returnTo)
      const links = { home: `${prefix}/`, login: page !== undefined && !needsLogin(error) ? page : login }
      const restarts = restart && engine.transactions.claimRestart(exchange)
      return failWithPage(error, request, links, restarts ? restartPath(login) : undefined)
    }
  }
}

async function handle(engine: Engine, request: RouteRequest): Promise<Response> {
  const { exchange, hostRequest, id, query } = request
  if (exchange.request.method === 'GET' && !query.has(REPEATED) && withholdsCookies(engine, exchange))
    return continuePage(`?${new URLSearchParams([...query, [REPEATED, '1']])}`)
  const parameters = exchange.request.method === 'POST' ? await exchange.request.form() : query
  const input = { parameters, request: hostRequest, correlationId: id }
  const outcome = await endTransaction(engine, exchange, input, async ({ transaction, ...found }) => {
    if (transaction.responseType === 'code') return completeLogin(engine, exchange, { ...found, transaction })
    // Connecting accounts is rare, so its code is loaded on first use.
    const { completeConnection } = await import('../callback/complete-connection.ts')
    return completeConnection(engine, exchange, { ...found, transaction }, accountTokens(engine, exchange))
  })
  return respond(engine, request, outcome)
}

export const callback: RouteHandler = { handle, fail: failWithPage }
