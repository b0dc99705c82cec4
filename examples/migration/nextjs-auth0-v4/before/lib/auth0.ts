import { Auth0Client } from '@auth0/nextjs-auth0/server'
import { NextResponse } from 'next/server'
import { sessionStore } from './session-store'

const absolute = (path: string) => new URL(path, process.env.APP_BASE_URL)

export const auth0 = new Auth0Client({
  sessionStore,
  allowInsecureRequests: process.env.LOCAL_PROVIDER === 'true',
  session: { absoluteDuration: 7 * 24 * 60 * 60 },
  async onCallback(error, context, session) {
    if (error) return NextResponse.redirect(absolute(`/login-failed?code=${error.code}`))
    const path = session?.user.suspended ? '/suspended' : (context.returnTo ?? '/')
    return NextResponse.redirect(absolute(path))
  },
})
