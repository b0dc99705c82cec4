import { getJwks } from '../flows/jwks.ts'
import { failWithJson } from './fail-with-json.ts'
import type { RouteHandler } from './route.ts'

/** Responds with the public keys of the client. Nothing in it comes from the request, and it never sets a cookie. */
export const jwks: RouteHandler = {
  handle: async (engine) => {
    const headers = { 'cache-control': 'public, max-age=300', 'x-content-type-options': 'nosniff' }
    // The type that every provider accepts; RFC 7517 also registers application/jwk-set+json.
    return Response.json(await getJwks(engine), {
      headers: { ...headers, 'content-type': 'application/json' },
    })
  },
  fail: failWithJson,
}
