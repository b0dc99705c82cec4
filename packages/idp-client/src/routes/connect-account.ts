import type { Engine } from '../engine.ts'
import { connectAccount as beginConnection } from '../flows/connected-accounts.ts'
import { accountTokens } from '../flows/get-access-token.ts'
import { redirect } from '../http/responses.ts'
import { defined } from '../lib/objects.ts'
import { failWithPage } from './fail-with-page.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { lastValues } from './route.ts'
import { needsLogin } from './status.ts'

/** Parameters of the route itself; all others are sent to the connected provider. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['connection', 'returnTo', 'scopes', 'scopes[]'])

async function handle(engine: Engine, { exchange, id, query }: RouteRequest): Promise<Response> {
  const values = lastValues(query)
  const further = [...values].filter(([name]) => !OWN_PARAMETERS.has(name))
  const options = defined({
    connection: values.get('connection'),
    returnTo: values.get('returnTo'),
    scopes: [...query.getAll('scopes'), ...query.getAll('scopes[]')].filter((scope) => scope !== ''),
    authorizationParams: Object.fromEntries(further),
  })
  const input = { options, source: 'query', correlationId: id } as const
  const url = await beginConnection(engine, exchange, input, accountTokens(engine, exchange))
  return redirect(url.href, exchange.request)
}

/** Links a signed-in user back to the page that the request came from, instead of the login. */
const fail: RouteHandler['fail'] = (error, request, links) =>
  failWithPage(error, request, needsLogin(error) ? links : { home: links.home })

export const connectAccount: RouteHandler = { handle, fail }
