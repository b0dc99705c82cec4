import type { OnCallbackContext } from 'idp-client/next'
import { IdpClient } from 'idp-client/next'
import { boundTokens } from './bound-tokens'
import { ordersApi } from './orders-api'
import { sessionStore } from './session-store'

// `form_post` makes the provider answer by a POST, which keeps the code out of addresses; needs https.
const responseMode = process.env['DEMO_RESPONSE_MODE']

// Everything else comes from IDP_DOMAIN, IDP_CLIENT_ID, IDP_CLIENT_SECRET, IDP_SECRET and APP_BASE_URL, with bound tokens
// from IDP_DPOP_PUBLIC_KEY and IDP_DPOP_PRIVATE_KEY as well.
export const idp = new IdpClient({
  sessionStore,
  // The development provider speaks http on this machine; production refuses http whatever stands here.
  allowInsecureRequests: process.env.NODE_ENV !== 'production',
  // The browser has no key to use a bound token with, so it gets none.
  ...(boundTokens ? { useDPoP: true, enableAccessTokenEndpoint: false } : {}),
  authorizationParameters: {
    ...(responseMode ? { response_mode: responseMode } : {}),
    // The login asks for an access token that the orders API accepts, and for a refresh token to renew it with.
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

/** Whoever connected an account, or did not, is told so on the page with the accounts. */
function afterConnecting({ error, responseType }: OnCallbackContext) {
  if (responseType !== 'connect_code') return
  if (!error) return { returnTo: '/accounts?result=connected' }
  const { cause } = error
  const isCancelled = cause instanceof Error && 'error' in cause && cause.error === 'access_denied'
  return { returnTo: `/accounts?result=${isCancelled ? 'cancelled' : 'failed'}` }
}
