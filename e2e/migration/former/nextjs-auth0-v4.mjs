import { Auth0Client } from 'nextjs-auth0-v4/server'
import { respond, serve } from './web-server.mjs'

const auth0 = new Auth0Client({ allowInsecureRequests: true })

serve(async (request) => {
  const { pathname } = request.nextUrl
  if (pathname.startsWith('/auth/')) return auth0.middleware(request)
  return pathname === '/api/orders'
    ? respond((await auth0.getSession(request))?.user.sub)
    : new Response('the application before')
})
