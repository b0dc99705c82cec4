// The contract application on Workers without Node.js compatibility: its variables are in `env` only, and operations need the
// request.
import { env } from 'cloudflare:workers'
import { IdpClient } from 'idp-client'
import { addProxy, respond, sharing, tokensOnly, toOptions, toShared } from './support/contract.mjs'

const [baseUrl, ...further] = env.APP_BASE_URL?.split(',') ?? []

const idp = new IdpClient({
  ...toOptions(env),
  appBaseUrl: further.length > 0 ? [baseUrl, ...further] : baseUrl,
  domain: env.IDP_DOMAIN,
  clientId: env.IDP_CLIENT_ID,
  clientSecret: env.IDP_CLIENT_SECRET,
  secret: env.IDP_SECRET,
})
addProxy(idp, env)

const respondWithAuth = (options) => async (request) => {
  const { auth, response } = await idp.requireAuth(request, options)
  return response ?? Response.json(toShared(auth))
}

const pages = {
  '/': async () => new Response('home'),
  '/page': async (request) => {
    const { response, session } = await idp.requireLogin(request)
    return response ?? new Response(`user=${session.user.sub}`)
  },
  '/resource': respondWithAuth(tokensOnly(idp)),
  '/shared': respondWithAuth(sharing(idp)),
  '/api': async (request) => {
    const { response, session } = await idp.requireAuth(request)
    return response ?? Response.json({ sub: session.user.sub })
  },
}

async function application(request) {
  const { pathname, searchParams: query } = new URL(request.url)
  const page = pages[pathname]
  return page ? page(request) : respond(idp, { context: request, name: pathname.slice(1), query })
}

export default {
  fetch: (request) => idp.middleware(request, application),
}
