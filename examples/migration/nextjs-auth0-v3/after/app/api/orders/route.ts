import { AccessTokenError } from 'idp-client/errors'
import { NextResponse } from 'next/server'
import { idp } from '@/lib/idp'

export const GET = idp.withApiAuthRequired(async () => {
  const session = await idp.getSession()
  try {
    const { token } = await idp.getAccessToken()
    return NextResponse.json({ sub: session?.user.sub, authorized: token !== undefined })
  } catch (error) {
    if (!(error instanceof AccessTokenError)) throw error
    const status = error.code === 'MISSING_REFRESH_TOKEN' ? 401 : 502
    return NextResponse.json({ code: error.code }, { status })
  }
})
