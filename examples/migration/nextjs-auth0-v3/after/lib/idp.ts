import { filterDefaultIdTokenClaims, IdpClient } from 'idp-client/next'

export const idp = new IdpClient({
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
