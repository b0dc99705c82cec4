import type { NextRequest } from 'next/server'
import { idp } from './lib/auth'

export function proxy(request: NextRequest) {
  return idp.middleware(request)
}

export const config = {
  matcher: ['/((?!_next/static|_next/image|icon.svg).*)'],
}
