import { IdpClient } from 'idp-client/next'

export const idp = new IdpClient({
  routes: { callback: '/api/auth/callback/idp' },
  session: { absoluteDuration: 30 * 24 * 60 * 60, inactivityDuration: 30 * 24 * 60 * 60 },
})
