import { AccessTokenError, getAccessToken, getSession, withApiAuthRequired } from '@auth0/nextjs-auth0'
import { NextResponse } from 'next/server'

export const GET = withApiAuthRequired(async () => {
  const session = await getSession()
  try {
    const { accessToken } = await getAccessToken()
    return NextResponse.json({ sub: session?.user.sub, authorized: accessToken !== undefined })
  } catch (error) {
    if (!(error instanceof AccessTokenError)) throw error
    const status = error.code === 'ERR_EXPIRED_ACCESS_TOKEN' ? 401 : 502
    return NextResponse.json({ code: error.code }, { status })
  }
})
