import type { ProviderState } from '../../oidc/state.ts'
import { cookieNames } from '../../oidc/state.ts'
import type { ConnectPage } from '../../pages/connect.ts'
import { connectAccountPage } from '../../pages/connect.ts'
import { noticePage } from '../../pages/notices.ts'
import { CONNECT_PATH } from '../../wire/endpoints.ts'
import type { Answer, Call } from '../../wire/message.ts'
import { cookieOf, formOf, htmlAnswer, queryOf, redirectAnswer } from '../../wire/message.ts'
import type { ConnectRequest } from './requests.ts'

/** Who is signed in at this provider in the browser that calls, if anybody. */
function signedIn(state: ProviderState, call: Call): string | undefined {
  const id = cookieOf(call, cookieNames(state.issuer).session)
  const session = id === undefined ? undefined : state.store.find('Session', id)
  return (session?.exp ?? 0) > state.clock.now() ? session?.accountId : undefined
}

function backTo(request: ConnectRequest, parameters: Readonly<Record<string, string>>): Answer {
  const query = new URLSearchParams({ ...parameters, state: request.state })
  const separator = request.redirectUri.includes('?') ? '&' : '?'
  return redirectAnswer(`${request.redirectUri}${separator}${query}`)
}

function view(state: ProviderState, request: ConnectRequest): ConnectPage {
  const user = state.users.bySub(request.sub)
  const name = user?.name ?? request.sub
  return {
    action: `${CONNECT_PATH}?${new URLSearchParams({ ticket: request.ticket })}`,
    app: state.clients.find(request.clientId)?.options.name ?? request.clientId,
    connection: request.connection,
    scopes: request.scopes,
    person: user?.label ?? name,
    hint: request.hint ?? name,
  }
}

function decide(state: ProviderState, request: ConnectRequest, form: URLSearchParams): Answer {
  if (form.has('cancel')) {
    state.connectRequests.cancel(request)
    return backTo(request, {
      error: 'access_denied',
      error_description: 'The user cancelled the request',
    })
  }
  const name = form.get('account')?.trim() ?? ''
  if (name === '') {
    const problem = 'Name the account that is to be connected.'
    return htmlAnswer(422, connectAccountPage({ ...view(state, request), problem }))
  }
  const { connectCode } = state.connectRequests.accept(request, name, state.settings.codeTtl)
  return backTo(request, { connect_code: connectCode })
}

/** The page on which the user of a request to connect an account decides about it, once. */
export function connectPage(state: ProviderState, call: Call): Answer {
  const request = state.connectRequests.waiting(queryOf(call).get('ticket') ?? '')
  if (!request) {
    const text = 'Go back to the application and connect the account again.'
    return htmlAnswer(400, noticePage('This link has expired', text, 'invalid_ticket'))
  }
  const visitor = signedIn(state, call)
  if (visitor !== undefined && visitor !== request.sub) {
    const text = 'The account would be connected for somebody else than the person who is signed in here.'
    return htmlAnswer(403, noticePage('Another person is signed in', text, 'access_denied'))
  }
  return call.method === 'POST'
    ? decide(state, request, formOf(call))
    : htmlAnswer(200, connectAccountPage(view(state, request)))
}
