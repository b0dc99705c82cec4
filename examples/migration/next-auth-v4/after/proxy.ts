import type { NextRequest } from 'next/server'
import { idp } from './lib/idp'

export const proxy = (request: NextRequest) => idp.middleware(request)

export const config = { matcher: ['/((?!_next/static|_next/image|favicon.ico).*)'] }
