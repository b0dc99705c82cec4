import type { NextRequest } from 'next/server'
import { idp } from './lib/idp'

export const middleware = (request: NextRequest) => idp.middleware(request)

export const config = { matcher: ['/((?!_next/|favicon.ico).*)'] }
