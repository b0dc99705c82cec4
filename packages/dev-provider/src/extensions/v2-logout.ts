import { isLoopbackUrl } from '../loopback.ts'
import type { ProviderState } from '../oidc/state.ts'
import { cookieNames } from '../oidc/state.ts'
import { noticePage, refusalResponse } from '../pages/notices.ts'
import { DEV_PATH } from '../wire/endpoints.ts'
import type { BufferedResponse, Call } from '../wire/message.ts'
import { getCookie, htmlResponse, parseQuery, redirectResponse } from '../wire/message.ts'
import { endProviderSession } from './logout-notices.ts'

function matches(pattern: string, url: string): boolean {
  const source = pattern
    .split('*')
    .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^/]*')
  return new RegExp(`^${source}$`).test(url)
}

/** May the browser be sent there? The client's allow-list decides, or those of all clients without one. */
function isAllowed(state: ProviderState, returnTo: string, clientId: string | null): boolean {
  if (!URL.canParse(returnTo)) return false
  if (state.settings.allowLoopbackRedirects && isLoopbackUrl(returnTo)) return true
  const clients = clientId === null ? state.clients.all() : [state.clients.find(clientId)]
  const patterns = clients.flatMap((client) => [...(client?.postLogoutRedirectUris ?? [])])
  return patterns.some((pattern) => matches(pattern, returnTo))
}

/**
 * `/v2/logout?client_id=&returnTo=&federated`: the vendor's logout, which predates the standard one. Ends the
 * provider's session without asking and sends the browser to `returnTo` if that is allowed.
 */
export async function v2Logout(state: ProviderState, call: Call): Promise<BufferedResponse> {
  const query = parseQuery(call)
  const returnTo = query.get('returnTo')
  const clientId = query.get('client_id')
  const overview = state.mountPath + DEV_PATH
  if (clientId !== null && !state.clients.find(clientId)) {
    const reason = 'No client with that client_id is registered.'
    return refusalResponse(400, { title: 'Unknown application', error: 'invalid_client', reason, overview })
  }
  if (returnTo !== null && !isAllowed(state, returnTo, clientId)) {
    const reason = `The address ${returnTo} is not one of the logout URLs that are registered.`
    return refusalResponse(400, { title: 'Address not allowed', error: 'invalid_request', reason, overview })
  }

  const name = cookieNames(state.issuer).session
  const sessionId = getCookie(call, name)
  if (sessionId) await endProviderSession(state, sessionId)

  const federated = query.has('federated')
  const reason = federated ? 'You are signed out here and at the upstream provider.' : 'You are signed out.'
  const response =
    returnTo === null
      ? htmlResponse(200, noticePage({ title: 'Signed out', reason, overview }))
      : redirectResponse(returnTo, 302)
  const gone = `Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly`
  return {
    ...response,
    headers: { ...response.headers, 'set-cookie': [`${name}=; ${gone}`, `${name}.sig=; ${gone}`] },
  }
}
