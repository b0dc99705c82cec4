// A Worker with the small entry: logins, sessions, guards, access tokens and one feature.
import { fetcher, IdpClient, isIdpError } from 'idp-client/edge'

const idp = new IdpClient({ features: { fetcher }, processLasts: false })

const page = idp.withPageAuthRequired(async (request) => {
  const session = await idp.getSession(request)
  return new Response(`signed in as ${session?.user.sub}`)
})

const api = idp.withApiAuthRequired(async (request) => {
  const session = await idp.getSession(request)
  return Response.json({ sub: session?.user.sub })
})

/** Responds with what an operation with its feature returns, and one without. */
async function features(request: Request): Promise<Response> {
  const { fetchWithAuth } = await idp.createFetcher({}, request)
  const missing = await idp.listConnectedAccounts(request).catch((error: unknown) => error)
  return Response.json({
    fetcher: typeof fetchWithAuth,
    missing: isIdpError(missing) ? { code: missing.code, detail: missing.detail } : null,
  })
}

async function application(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/protected') return page(request)
  if (pathname === '/api/me') return api(request)
  if (pathname === '/api/features') return features(request)
  return new Response('public')
}

export default {
  fetch: (request: Request): Promise<Response> => idp.middleware(request, application),
}
