import { IdpClient } from 'idp-client'

const idp = new IdpClient({ processLasts: false })

const page = idp.withPageAuthRequired(async (request) => {
  const session = await idp.getSession(request)
  return new Response(`signed in as ${session?.user.sub}`)
})

const api = idp.withApiAuthRequired(async (request) => {
  const session = await idp.getSession(request)
  return Response.json({ sub: session?.user.sub })
})

async function application(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/protected') return page(request)
  if (pathname === '/api/me') return api(request)
  return new Response('public')
}

export default {
  fetch: (request: Request): Promise<Response> => idp.middleware(request, application),
}
