import type { NextRequest } from 'next/server'
import { idp } from './lib/idp'

export default (request: NextRequest) => idp.middleware(request)

export const config = { matcher: ['/((?!api/auth|_next/static|_next/image|favicon.ico).*)'] }
