import { AccessTokenError } from '@auth0/nextjs-auth0/errors'
import { NextResponse } from 'next/server'
import { auth0 } from '@/lib/auth0'

type RouteHandler = (request: Request, context: object) => Promise<Response>

export const GET = auth0.withApiAuthRequired(async () => {
  const session = await auth0.getSession()
  try {
    const { expiresAt } = await auth0.getAccessToken()
    return NextResponse.json({ sub: session?.user.sub, expiresAt })
  } catch (error) {
    if (!(error instanceof AccessTokenError)) throw error
    const status = error.code === 'missing_refresh_token' ? 401 : 502
    return NextResponse.json({ code: error.code }, { status })
  }
}) as RouteHandler
