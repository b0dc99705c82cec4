import { IdpClient } from 'idp-client/next'
import { nextAuth } from 'idp-client/take-over'

export const idp = new IdpClient({
  // Until then, users who logged in before the migration stay signed in.
  takeOver: nextAuth({
    secret: process.env.NEXTAUTH_SECRET,
    until: '2027-01-31',
    // The callback `jwt` had put these into the session, without an ID token that shows whose tokens they are.
    map: ({ sub, name, email, accessToken, expiresAt, refreshToken }) => ({
      user: { sub, name, email },
      tokens: { accessToken, expiresAt, refreshToken },
      issuer: process.env.IDP_DOMAIN,
      clientId: process.env.IDP_CLIENT_ID,
    }),
  }),
  routes: { callback: '/api/auth/callback/idp' },
  session: { absoluteDuration: 30 * 24 * 60 * 60, inactivityDuration: 30 * 24 * 60 * 60 },
})
