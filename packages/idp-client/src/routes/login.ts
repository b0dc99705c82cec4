import type { Engine } from '../engine.ts'
import { IdpError } from '../errors/base.ts'
import { login as beginLogin } from '../flows/login.ts'
import { newNonce } from '../http/page.ts'
import { popupFailurePage } from '../http/popup-page.ts'
import { isSameOrigin, wantsJson } from '../http/request-kind.ts'
import { redirect } from '../http/responses.ts'
import { defined } from '../lib/objects.ts'
import { failWithPage, toReport } from './fail-with-page.ts'
import { RESTARTED } from './links.ts'
import type { RouteHandler, RouteRequest } from './route.ts'
import { lastValues } from './route.ts'

/** Parameters of the login route itself, which the provider never sees. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set(['returnTo', 'challengeMode', 'popup', RESTARTED])

/** Maximum number of parameters in the query of a login link. */
const MAX_PARAMETERS = 100

/** Maximum length of the scope of a login link, in characters. */
const MAX_SCOPE_LENGTH = 512

/** Chosen by the opener of the popup; it is embedded in our page. */
const POPUP = /^[\w-]{16,64}$/

/** Returns the name of the channel on which the opener of a popup waits, or `undefined` for a login that redirects. */
function readPopupChannel(values: ReadonlyMap<string, string>): string | undefined {
  const mode = values.get('challengeMode')
  if (mode === undefined || mode === 'redirect') return undefined
  if (mode !== 'popup') throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: challengeMode.' })
  const popup = values.get('popup') ?? ''
  if (popup === '' || POPUP.test(popup)) return popup
  throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: popup.' })
}

async function handle(engine: Engine, { exchange, id, query }: RouteRequest): Promise<Response> {
  if (query.size > MAX_PARAMETERS) {
    throw new IdpError('INVALID_REQUEST', { detail: `The query has more than ${MAX_PARAMETERS} parameters.` })
  }
  const values = lastValues(query)
  const popup = readPopupChannel(values)
  // Another site could otherwise choose what the tokens of a session are for, and when its user has to act.
  if (popup !== undefined && !isSameOrigin(exchange.request.headers)) throw new IdpError('CROSS_SITE_REQUEST')
  if ((values.get('scope')?.length ?? 0) > MAX_SCOPE_LENGTH) {
    throw new IdpError('INVALID_REQUEST', { detail: 'Parameter: scope.' })
  }
  const parameters = [...values].filter(([name]) => !OWN_PARAMETERS.has(name))
  const input = defined({
    parameters: Object.fromEntries(parameters),
    source: isSameOrigin(exchange.request.headers) ? 'query' : 'cross-site-query',
    returnTo: values.get('returnTo'),
    restarted: values.has(RESTARTED),
    popup,
    correlationId: id,
  })
  const url = await beginLogin(engine, exchange, input)
  return redirect(url.href, exchange.request)
}

/** Posts the failure of a popup to its opener, which would otherwise wait until the popup is closed. */
const fail: RouteHandler['fail'] = (error, request, links) => {
  const values = lastValues(request.query)
  const channel = values.get('popup') ?? ''
  const isPopup = values.get('challengeMode') === 'popup' && (channel === '' || POPUP.test(channel))
  if (!isPopup || wantsJson(request.exchange.request.headers)) return failWithPage(error, request, links)
  return popupFailurePage({ channel, nextUrl: links.home, nonce: newNonce() }, toReport(error, request))
}

export const login: RouteHandler = { handle, fail }
