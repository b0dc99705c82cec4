import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { login as beginLogin } from '../flows/login.ts'
import { lastValues } from '../http/query.ts'
import { redirect } from '../http/responses.ts'
import { failWithPage } from './fail-with-page.ts'
import { RESTARTED } from './login-path.ts'
import type { RouteHandler, RouteRequest } from './route.ts'

/** Parameters of the login route itself, which the provider never sees. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['returnTo', 'challengeMode', RESTARTED])

function checkChallengeMode(value: string | undefined): void {
  if (value === undefined || value === 'redirect') return
  if (value === 'popup') throw new IdpError('NOT_AVAILABLE', { detail: 'challengeMode=popup.' })
  throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: challengeMode.' })
}

async function handle(engine: Engine, { exchange, id, query }: RouteRequest): Promise<Response> {
  const values = lastValues(query)
  checkChallengeMode(values.get('challengeMode'))
  const parameters = [...values].filter(([name]) => !OWN_PARAMETERS.has(name))
  const url = await beginLogin(engine, exchange, {
    parameters: Object.fromEntries(parameters),
    source: 'visitor',
    returnTo: values.get('returnTo'),
    restarted: values.has(RESTARTED),
    correlationId: id,
  })
  return redirect(url.href)
}

export const login: RouteHandler = { handle, fail: failWithPage }
