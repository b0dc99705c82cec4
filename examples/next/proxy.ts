import { isContinue, isIdpError } from 'idp-client/next'
import type { NextRequest, NextResponse } from 'next/server'
import { idp } from './lib/auth'
import { deviceName } from './lib/device'
import { sessionStore } from './lib/session-store'

/** Pages that call an API with the user's access token while they are rendered. */
const pagesWithTokens = ['/orders']

export async function proxy(request: NextRequest) {
  const response = await idp.middleware(request)
  if (!isContinue(response)) return response
  const { pathname } = request.nextUrl
  if (pagesWithTokens.includes(pathname)) await renewToken(request, response)
  if (sessionStore && request.headers.get('sec-fetch-dest') === 'document')
    await noteDevice(request, response)
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

/** Notes once by which browser a session is used, for the page with the user's devices. */
async function noteDevice(request: NextRequest, response: NextResponse): Promise<void> {
  try {
    const session = await idp.getSession(request)
    if (!session || session['device']) return
    const device = deviceName(request.headers.get('user-agent') ?? '')
    await idp.updateSession(request, response, { ...session, device })
  } catch (error) {
    // Ended meanwhile, or the store is away: the page finds out itself.
    if (!isIdpError(error)) throw error
  }
}

export const config = {
  matcher: ['/((?!_next/static|_next/image|icon.svg).*)'],
}
