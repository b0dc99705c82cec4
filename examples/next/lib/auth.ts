import type { OnCallbackContext } from 'idp-client/next'
import { IdpClient } from 'idp-client/next'
import { boundTokens } from './bound-tokens'
import { ordersApi } from './orders-api'
import { sessionStore } from './session-store'

// With `form_post` the provider sends the code in a POST body, which keeps it out of URLs. Requires https.
const responseMode = process.env['DEMO_RESPONSE_MODE']

// IDP_DOMAIN, IDP_CLIENT_ID, IDP_CLIENT_SECRET, IDP_SECRET and APP_BASE_URL configure the rest, and IDP_DPOP_PUBLIC_KEY
// and IDP_DPOP_PRIVATE_KEY the key pair of bound tokens.
export const idp = new IdpClient({
  sessionStore,
  // Ends the session that a page of the provider names in an iframe. Only a store can find it.
  frontChannelLogout: sessionStore !== undefined,
  // The development provider uses http on this machine. In production http is always refused.
  allowInsecureRequests: process.env.NODE_ENV !== 'production',
  // The browser does not have the key of a bound token, so it gets no token.
  ...(boundTokens ? { useDPoP: true, enableAccessTokenEndpoint: false } : {}),
  authorizationParameters: {
    ...(responseMode ? { response_mode: responseMode } : {}),
    // The provider would sign in a browser again whose session was just ended on the page "Devices".
    ...(sessionStore ? { prompt: 'login' } : {}),
    // Requests an access token for the orders API, and a refresh token to renew it.
    ...(ordersApi
      ? {
          audience: ordersApi.audience,
          scope: `openid profile email offline_access ${ordersApi.scope}`,
        }
      : {}),
  },
  enableConnectAccountEndpoint: true,
  onCallback: afterConnecting,
})

/** Shows the result of connecting an account on the page with the accounts. */
function afterConnecting({ error, responseType }: OnCallbackContext) {
  if (responseType !== 'connect_code') return
  if (!error) return { returnTo: '/accounts?result=connected' }
  const { cause } = error
  const isCancelled = cause instanceof Error && 'error' in cause && cause.error === 'access_denied'
  return { returnTo: `/accounts?result=${isCancelled ? 'cancelled' : 'failed'}` }
}
