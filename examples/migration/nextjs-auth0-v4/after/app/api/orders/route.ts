import { AccessTokenError } from 'idp-client/errors'
import { NextResponse } from 'next/server'
import { auth0 } from '@/lib/auth0'

export const GET = auth0.withApiAuthRequired(async () => {
  const session = await auth0.getSession()
  try {
    const { expiresAt } = await auth0.getAccessToken()
    return NextResponse.json({ sub: session?.user.sub, expiresAt })
  } catch (error) {
    if (!(error instanceof AccessTokenError)) throw error
    const status = error.code === 'MISSING_REFRESH_TOKEN' ? 401 : 502
    return NextResponse.json({ code: error.code }, { status })
  }
})
