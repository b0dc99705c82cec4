import type { ProviderState } from '../../oidc/state.ts'
import { cookieNames } from '../../oidc/state.ts'
import type { ConnectPage } from '../../pages/connect.ts'
import { connectAccountPage } from '../../pages/connect.ts'
import { refusalResponse } from '../../pages/notices.ts'
import { CONNECT_PATH, DEV_PATH } from '../../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../../wire/message.ts'
import { getCookie, htmlResponse, parseForm, parseQuery, redirectResponse } from '../../wire/message.ts'
import type { ConnectRequest } from './requests.ts'

/** Returns the subject who is signed in at this provider in the calling browser, if any. */
function signedIn(state: ProviderState, call: Call): string | undefined {
  const id = getCookie(call, cookieNames(state.issuer).session)
  const session = id === undefined ? undefined : state.store.find('Session', id)
  return (session?.exp ?? 0) > state.clock.now() ? session?.accountId : undefined
}

function backTo(request: ConnectRequest, parameters: Readonly<Record<string, string>>): BufferedResponse {
  const query = new URLSearchParams({ ...parameters, state: request.state })
  const separator = request.redirectUri.includes('?') ? '&' : '?'
  return redirectResponse(`${request.redirectUri}${separator}${query}`)
}

function view(state: ProviderState, request: ConnectRequest): ConnectPage {
  const user = state.users.bySub(request.sub)
  const name = user?.name ?? request.sub
  return {
    action: `${CONNECT_PATH}?${new URLSearchParams({ ticket: request.ticket })}`,
    app: state.clients.find(request.clientId)?.options.name ?? request.clientId,
    connection: request.connection,
    scopes: request.scopes,
    user: user?.label ?? name,
    hint: request.hint ?? name,
  }
}

function decide(state: ProviderState, request: ConnectRequest, form: URLSearchParams): BufferedResponse {
  if (form.has('cancel')) {
    state.connectRequests.cancel(request)
    const reason = 'The user cancelled the request'
    const response = backTo(request, { error: 'access_denied', error_description: reason })
    return { ...response, failure: { error: 'access_denied', reason } }
  }
  const name = form.get('account')?.trim() ?? ''
  if (name === '') {
    const problem = 'Enter the name of the account.'
    const response = htmlResponse(422, connectAccountPage({ ...view(state, request), problem }))
    return { ...response, failure: { error: 'invalid_form', reason: problem } }
  }
  const { connectCode } = state.connectRequests.accept(request, name, state.settings.codeTtl)
  return backTo(request, { connect_code: connectCode })
}

/** The page on which the user of a request to connect an account decides about it, once. */
export function connectPage(state: ProviderState, call: Call): BufferedResponse {
  const overview = state.mountPath + DEV_PATH
  const request = state.connectRequests.waiting(parseQuery(call).get('ticket') ?? '')
  if (!request) {
    const reason = 'Go back to the application and connect the account again.'
    return refusalResponse(400, { title: 'This link has expired', error: 'invalid_ticket', reason, overview })
  }
  const current = signedIn(state, call)
  if (current !== undefined && current !== request.sub) {
    const reason = 'This link belongs to a different user than the one who is signed in here.'
    return refusalResponse(403, {
      title: 'Another user is signed in',
      error: 'access_denied',
      reason,
      overview,
    })
  }
  return call.method === 'POST'
    ? decide(state, request, parseForm(call))
    : htmlResponse(200, connectAccountPage(view(state, request)))
}
