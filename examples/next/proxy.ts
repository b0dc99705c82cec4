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
    await storeDevice(request, response)
  return response
}

/**
 * Refreshes an expired access token before the page is rendered, because a page cannot set cookies. The new session goes
 * to the browser with this response and to the page with this request.
 */
async function renewToken(request: NextRequest, response: NextResponse): Promise<void> {
  try {
    await idp.getAccessToken(request, response)
  } catch (error) {
    // Signed out, or no token available: the page tries again and shows a message.
    if (!isIdpError(error)) throw error
  }
}

/** Stores the name of the browser in a new session, for the page "Devices". */
async function storeDevice(request: NextRequest, response: NextResponse): Promise<void> {
  try {
    const session = await idp.getSession(request)
    if (!session || session['device']) return
    const device = deviceName(request.headers.get('user-agent') ?? '')
    await idp.updateSession(request, response, { ...session, device })
  } catch (error) {
    // The session has ended or the store is unavailable: the page handles that.
    if (!isIdpError(error)) throw error
  }
}

export const config = {
  matcher: ['/((?!_next/static|_next/image|icon.svg).*)'],
}
