import { NextResponse } from 'next/server.js'
import { getSession, handleAuth } from 'nextjs-auth0-v3'
import { respond, serve } from './web-server.mjs'

const handler = handleAuth()

serve(async (request) => {
  const { pathname } = request.nextUrl
  const [, route] = /^\/api\/auth\/(\w+)$/.exec(pathname) ?? []
  if (route) return handler(request, { params: { auth0: route } })
  return pathname === '/api/orders'
    ? respond((await getSession(request, new NextResponse()))?.user.sub)
    : new Response('the application before')
})
