import { idp } from './lib/idp'

// Serves the metadata of the API, too: the matcher includes /.well-known/.
export const proxy = (request) => idp.middleware(request)

export const config = { matcher: ['/((?!_next/|favicon.ico).*)'] }
