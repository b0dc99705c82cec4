import { filterDefaultIdTokenClaims, IdpClient } from 'idp-client/next'
import { nextjsAuth0 } from 'idp-client/take-over'

export const idp = new IdpClient({
  // Until then, users who logged in before the migration stay signed in.
  takeOver: nextjsAuth0({ secret: process.env.AUTH0_SECRET, until: '2027-01-31' }),
  routes: { callback: '/api/auth/callback', logout: '/api/auth/logout' },
  signInReturnToPath: '/orders',
  authorizationParameters: { scope: 'openid profile email offline_access', ui_locales: 'en' },
  session: { absoluteDuration: 14 * 24 * 60 * 60 },
  onCallback({ session }) {
    if (session?.user.suspended) throw new Error('suspended')
  },
  beforeSessionSaved(session) {
    return { theme: 'light', ...session, user: filterDefaultIdTokenClaims(session.user) }
  },
})
