import { isContinue, isIdpError } from 'idp-client/next'
import type { NextRequest, NextResponse } from 'next/server'
import { idp } from './lib/auth'

/** Pages that call an API with the user's access token while they are rendered. */
const pagesWithTokens = ['/orders']

export async function proxy(request: NextRequest) {
  const response = await idp.middleware(request)
  const { pathname } = request.nextUrl
  if (isContinue(response) && pagesWithTokens.includes(pathname)) await renewToken(request, response)
  return response
}

/**
 * A page cannot set cookies. Where its token may have expired, it is renewed here: the new session goes to the browser
 * with this response, and to the page with this request, so that the page finds a token that is valid.
 */
async function renewToken(request: NextRequest, response: NextResponse): Promise<void> {
  try {
    await idp.getAccessToken(request, response)
  } catch (error) {
    // Nobody signed in, or no token to be had: the page asks again, and tells the visitor.
    if (!isIdpError(error)) throw error
  }
}

export const config = {
  matcher: ['/((?!_next/static|_next/image|icon.svg).*)'],
}
