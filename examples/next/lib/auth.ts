import { IdpClient } from 'idp-client/next'

// Everything else comes from IDP_DOMAIN, IDP_CLIENT_ID, IDP_CLIENT_SECRET, IDP_SECRET and APP_BASE_URL.
export const idp = new IdpClient({
  // The development provider speaks http on this machine; production refuses http whatever stands here.
  allowInsecureRequests: process.env.NODE_ENV !== 'production',
})
