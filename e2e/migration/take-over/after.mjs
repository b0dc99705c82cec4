// An application that uses idp-client and takes over the sessions of the library that the variable FORMER names, in cookies or, with
// STORE=1, in a store.
import { createServer } from 'node:http'
import { IdpClient } from 'idp-client/node'
import { memoryStore } from 'idp-client/stores/memory'
import { expressOpenidConnect, nextAuth, nextjsAuth0 } from 'idp-client/take-over'

const { FORMER, FORMER_SECRET: secret, IDP_CLIENT_ID, IDP_DOMAIN, PORT, STORE, UNTIL: until } = process.env

/** The token of the example before the migration, which has no ID token. */
const map = ({ accessToken, expiresAt, refreshToken, sub, name, email }) => ({
  user: { sub, name, email },
  tokens: { accessToken, expiresAt, refreshToken },
  issuer: IDP_DOMAIN,
  clientId: IDP_CLIENT_ID,
})

const readers = {
  'nextjs-auth0-v4': () => nextjsAuth0({ secret, until }),
  'nextjs-auth0-v3': () => nextjsAuth0({ secret, until }),
  'express-openid-connect': () => expressOpenidConnect({ secret, until }),
  'next-auth-v4': () => nextAuth({ secret, until, map }),
}

const events = []
const idp = new IdpClient({
  takeOver: readers[FORMER](),
  ...(STORE ? { sessionStore: memoryStore() } : {}),
  logger: (event) => events.push(event.code),
  beforeSessionSaved(session) {
    events.push('beforeSessionSaved')
    return session
  },
})

const json = (response, value) =>
  response.setHeader('content-type', 'application/json').end(JSON.stringify(value))

const page = async (_request, response) => response.end(`signed in as ${(await idp.getSession())?.user.sub}`)

const routes = {
  '/orders': idp.withPageAuthRequired(page),
  '/vault': idp.withPageAuthRequired(page, { acr: 'urn:example:second-level' }),
  '/api/orders': idp.withApiAuthRequired(async (_request, response) =>
    json(response, { sub: (await idp.getSession())?.user.sub }),
  ),
  '/api/refresh': idp.withApiAuthRequired(async (_request, response) => {
    const { token, expiresAt } = await idp.getAccessToken({ refresh: true })
    json(response, { hasToken: token.length > 0, expiresAt })
  }),
  '/events': (_request, response) => json(response, events.splice(0)),
}

createServer((request, response) =>
  idp.middleware(request, response, async () => {
    const { pathname } = new URL(request.url, 'http://localhost')
    await (routes[pathname] ?? ((_, other) => other.end('the application after')))(request, response)
  }),
).listen(Number(PORT), '127.0.0.1')
