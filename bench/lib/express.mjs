// Express applications of the products that have an adapter, and requests to them without a connection.
import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import express from 'express'
import { Cookies } from './cookies.mjs'
import { open } from './floor.mjs'
import { senders } from './headers.mjs'
import { client, issuer, origin, scope, secret, settings } from './settings.mjs'

export const createExpressClient = (IdpClient) =>
  new IdpClient({ ...settings, routes: { login: '/login', callback: '/callback' } })

/** Opens the session cookie of the floor. */
export const readFloor = ({ headers: { cookie } }) => (cookie ? open(cookie.slice('session='.length)) : null)

/** Middleware of each product, and how a handler gets the user. Imported on use: a server loads only its own product. */
const products = {
  bare: async () => ({ getUser: () => null }),
  floor: async () => ({ getUser: (req) => readFloor(req)?.user }),
  'idp-client': async (name) => {
    const { IdpClient } = await import(`${name}/express`)
    const idp = createExpressClient(IdpClient)
    return { middleware: idp.middleware, getUser: async (req) => (await idp.getSession(req))?.user }
  },
  'express-openid-connect': async () => {
    const { default: oidc } = await import('express-openid-connect')
    const middleware = oidc.auth({
      authRequired: false,
      issuerBaseURL: issuer,
      baseURL: origin,
      clientID: client.id,
      clientSecret: client.secret,
      secret,
      authorizationParams: { response_type: 'code', scope },
    })
    return { middleware, getUser: (req) => req.oidc.user }
  },
}

/** An application with a route that ignores the session and one that responds with its subject. */
export async function createExpressApp(product) {
  const { getUser, middleware } = await (products[product] ?? products['idp-client'])(product)
  const app = express()
  if (middleware) app.use(middleware)
  app.get('/api/data', (_req, res) => {
    res.json({ sub: null })
  })
  app.get('/api/session', async (req, res) => {
    res.json({ sub: (await getUser(req))?.sub ?? null })
  })
  return app
}

/** Header fields that a proxy in front of the application adds. */
export const forwarded = { host: new URL(origin).host, 'x-forwarded-proto': 'https' }

const discard = () => new Writable({ write: (_chunk, _encoding, done) => done() })

/* Never connected: products read its properties only. */
const socket = new Socket()

/** A GET request as Node.js passes it to an application, without a connection. */
export function nodeRequest(path, cookie, headers = senders.browser.api) {
  const req = new IncomingMessage(socket)
  req.method = 'GET'
  req.url = path
  req.headers = { ...forwarded, ...headers, ...(cookie ? { cookie } : {}) }
  req.push(null)
  return req
}

/** Sends a GET request to an application, without a connection. Resolves to its response, without the body. */
export function send(app, path, cookie, headers) {
  const req = nodeRequest(path, cookie, headers)
  const res = new ServerResponse(req)
  res.assignSocket(discard())
  return new Promise((resolve, reject) => {
    res.once('finish', () => resolve(new Response(null, { status: res.statusCode, headers: toHeaders(res) })))
    app(req, res, reject)
  })
}

const toHeaders = (res) =>
  Object.entries(res.getHeaders()).flatMap(([name, value]) =>
    [value].flat().map((each) => [name, String(each)]),
  )

/** An application of a product, with a login from start to session. */
export async function createExpressProduct(product) {
  const app = await createExpressApp(product)
  return {
    app,
    async login(provider) {
      const { page } = senders.browser
      const cookies = new Cookies()
      const begun = cookies.take(await send(app, '/login', '', page))
      const query = provider.authorize(begun.headers.get('location'))
      const done = cookies.take(await send(app, `/callback?${query}`, String(cookies), page))
      if (!done.headers.has('location')) throw new Error(`bench: ${done.status} after a login with Express`)
      return cookies
    },
  }
}
