import { env } from 'cloudflare:workers'
import { IdpClient } from 'idp-client'
import { describeApi, mcp, readMessage, scopeOf, toGuardOptions } from '../people.mjs'

const idp = new IdpClient({
  appBaseUrl: env.APP_BASE_URL,
  domain: env.IDP_DOMAIN,
  clientId: env.IDP_CLIENT_ID,
  clientSecret: env.IDP_CLIENT_SECRET,
  secret: env.IDP_SECRET,
  allowInsecureRequests: env.NODE_ENV !== 'production',
  processLasts: false,
})

const people = idp.resource(describeApi(env.APP_BASE_URL))
const respond = (request, { auth }) => mcp.fetch(request, { authInfo: people.authInfo(auth) })

const guarded = {
  'mcp:read': idp.withApiAuthRequired(respond, toGuardOptions(people, 'mcp:read')),
  'mcp:write': idp.withApiAuthRequired(respond, toGuardOptions(people, 'mcp:write')),
}

async function application(request) {
  if (new URL(request.url).pathname !== '/mcp') return new Response('Not found', { status: 404 })
  if (request.method !== 'POST') return new Response(null, { status: 405 })
  return guarded[scopeOf(await readMessage(request))](request)
}

export default {
  fetch: (request) => idp.middleware(request, application),
}
