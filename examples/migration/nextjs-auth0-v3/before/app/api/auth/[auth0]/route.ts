import type { AppRouteHandlerFn, Session } from '@auth0/nextjs-auth0'
import { handleAuth, handleCallback, handleLogin } from '@auth0/nextjs-auth0'
import type { NextRequest } from 'next/server'

const afterCallback = (_request: NextRequest, session: Session): Session => {
  if (session.user.suspended) throw new Error('suspended')
  return { ...session, theme: 'light' }
}

export const GET: AppRouteHandlerFn = handleAuth({
  login: handleLogin({ authorizationParams: { ui_locales: 'en' }, returnTo: '/orders' }),
  callback: handleCallback({ afterCallback }),
})
