import { IdpClient } from 'idp-client/next'
import { sessionStore } from './session-store'

export const auth0 = new IdpClient({
  sessionStore,
  allowInsecureRequests: process.env.NODE_ENV !== 'production',
  session: { absoluteDuration: 7 * 24 * 60 * 60 },
  async onCallback({ error, returnTo, session }) {
    if (error) return { returnTo: `/login-failed?code=${error.code}` }
    return { returnTo: session?.user.suspended ? '/suspended' : (returnTo ?? '/') }
  },
})
