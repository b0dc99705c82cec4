import { handle } from './product'

export function proxy(request) {
  return handle(request)
}

export const config = { matcher: ['/((?!_next/static|_next/image|favicon.ico).*)'] }
