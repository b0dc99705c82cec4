import { getIronSession } from 'iron-session'
import { NextResponse } from 'next/server.js'
import { getToken } from 'next-auth/jwt'
import {
  createExpressClient,
  createExpressProduct,
  nodeRequest,
  readFloor as readNodeFloor,
  send,
} from '../lib/express.mjs'
import { open } from '../lib/floor.mjs'
import { compare } from '../lib/measure.mjs'
import { must, mustFind } from '../lib/must.mjs'
import { nextRequest, request } from '../lib/products.mjs'
import { createSessions } from '../lib/sessions.mjs'
import { secret } from '../lib/settings.mjs'

const foreign = Array.from({ length: 12 }, (_, index) => `other-${index}=${'v'.repeat(40)}`).join('; ')

function readFloor(each) {
  const cookie = each.headers.get('cookie') ?? ''
  const at = cookie.indexOf('session=')
  return at < 0 ? null : open(cookie.slice(at + 'session='.length))
}

// Asynchronous like the functions of the products, which the caller has to await.
const floorSession = async (each) => readFloor(each)
const floorNodeSession = async (each) => readNodeFloor(each)
const floorMiddleware = async (each) => {
  readFloor(each)
  return NextResponse.next()
}
const floorWebMiddleware = async (each) => {
  readFloor(each)
  return new Response()
}

const iron = { password: secret, cookieName: 'iron' }
const json = { headers: { accept: 'application/json' } }
const page = { headers: { accept: 'text/html', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' } }

/** Reading the session in a handler. */
async function reads({ auth0, authJs, better, cookies, idp, nextIdp }, add) {
  await add('getSession(NextRequest)', 'NextRequest, open', [
    { name: 'floor', run: () => mustFind(floorSession(nextRequest('/page', cookies.floor))) },
    { name: 'idp-client', run: () => mustFind(nextIdp.getSession(nextRequest('/page', cookies.next))) },
    { name: 'nextjs-auth0', run: () => mustFind(auth0.getSession(nextRequest('/page', cookies.auth0))) },
    {
      name: 'next-auth',
      run: () =>
        mustFind(getToken({ req: nextRequest('/page', cookies.nextAuth), secret, secureCookie: true })),
    },
  ])
  await add('getSession(Request)', 'Request, open', [
    { name: 'floor', run: () => mustFind(floorSession(request('/page', cookies.floor))) },
    { name: 'idp-client', run: () => mustFind(idp.getSession(request('/page', cookies.web))) },
    { name: 'Auth.js', run: () => must(authJs(request('/auth/session', cookies.authJs)), 200) },
    {
      name: 'better-auth',
      run: () => mustFind(better.api.getSession({ headers: request('/page', cookies.better).headers })),
    },
    {
      name: 'iron-session',
      run: () => mustFind(getIronSession(request('/page', cookies.iron), new Response(), iron)),
    },
  ])
}

/** The same request at the middleware of both products; `from` returns the cookies of a product. */
const atMiddlewares = ({ auth0, nextIdp }, path, from, init) => [
  { name: 'idp-client', run: () => must(nextIdp.middleware(nextRequest(path, from('next'), init)), 200) },
  { name: 'nextjs-auth0', run: () => must(auth0.middleware(nextRequest(path, from('auth0'), init)), 200) },
]

/** Requests for the application, as the middleware sees them. */
async function passThrough(sessions, add) {
  const { cookies } = sessions
  const dead = (cookie) => cookie.replace(/.{20}(?=(;|$))/, 'A'.repeat(20))
  const pass = (path, from, init) => [
    { name: 'floor', run: () => must(floorMiddleware(nextRequest(path, from('floor'), init)), 200) },
    ...atMiddlewares(sessions, path, from, init),
  ]
  const floor = 'NextRequest, open if there is a session, NextResponse.next()'
  await add(
    'Middleware, page with a session',
    floor,
    pass('/page', (name) => cookies[name], page),
  )
  await add(
    'Middleware, API with a session',
    floor,
    pass('/api/data', (name) => cookies[name], json),
  )
  await add(
    'Middleware, anonymous page',
    floor,
    pass('/page', () => '', page),
  )
  await add(
    'Middleware, anonymous API',
    floor,
    pass('/api/data', () => '', json),
  )
  await add(
    'Middleware, anonymous API, 12 cookies of others',
    floor,
    pass('/api/data', () => foreign, json),
  )
  await add('Middleware, API, a cookie that cannot be decrypted', floor, [
    { name: 'floor', run: () => must(floorMiddleware(nextRequest('/api/data', foreign, json)), 200) },
    ...atMiddlewares(sessions, '/api/data', (name) => dead(cookies[name]), json),
  ])
}

/** Routes of the library, and everything that one page needs. */
async function routesAndPage(sessions, add) {
  const { auth0, cookies, nextIdp } = sessions
  await add('Profile route', 'NextRequest, open, NextResponse.json(user)', [
    {
      name: 'floor',
      run: async () => {
        const { user } = await floorSession(nextRequest('/auth/profile', cookies.floor, json))
        return NextResponse.json(user)
      },
    },
    ...atMiddlewares(sessions, '/auth/profile', (name) => cookies[name], json),
  ])
  await add('Access-token route', 'NextRequest, open, NextResponse.json(token)', [
    {
      name: 'floor',
      run: async () => {
        const { tokenSet } = await floorSession(nextRequest('/auth/access-token', cookies.floor, json))
        return NextResponse.json({
          token: tokenSet.accessToken,
          expires_at: tokenSet.expiresAt,
          scope: tokenSet.scope,
        })
      },
    },
    ...atMiddlewares(sessions, '/auth/access-token', (name) => cookies[name], json),
  ])
  await add(
    'Page: middleware, getSession, getAccessToken',
    'NextRequest twice, open twice, NextResponse.next()',
    [
      {
        name: 'floor',
        run: async () => {
          await must(floorMiddleware(nextRequest('/page', cookies.floor, page)), 200)
          const session = await floorSession(nextRequest('/page', cookies.floor, page))
          NextResponse.next()
          return session.tokenSet.accessToken
        },
      },
      {
        name: 'idp-client',
        run: async () => {
          await must(nextIdp.middleware(nextRequest('/page', cookies.next, page)), 200)
          const current = nextRequest('/page', cookies.next, page)
          await mustFind(nextIdp.getSession(current))
          await mustFind(nextIdp.getAccessToken(current, NextResponse.next()))
        },
      },
      {
        name: 'nextjs-auth0',
        run: async () => {
          await must(auth0.middleware(nextRequest('/page', cookies.auth0, page)), 200)
          const current = nextRequest('/page', cookies.auth0, page)
          await mustFind(auth0.getSession(current))
          await mustFind(auth0.getAccessToken(current, NextResponse.next()))
        },
      },
    ],
  )
}

/** The Web entry before a handler that does nothing. */
async function passThroughOnWeb({ cookies, idp }, add) {
  const floor = 'Request, open if there is a session, new Response()'
  const pass = (from) => [
    {
      name: 'floor',
      run: () => must(floorWebMiddleware(request('/api/data', from('floor'), json)), 200),
    },
    { name: 'idp-client', run: () => must(idp.middleware(request('/api/data', from('web'), json)), 200) },
  ]
  await add(
    'Middleware of the Web entry, API with a session',
    floor,
    pass((name) => cookies[name]),
  )
  await add(
    'Middleware of the Web entry, anonymous API',
    floor,
    pass(() => ''),
  )
}

/** Express applications, without a connection. */
async function measureExpress({ cookies, provider }, add) {
  const apps = {}
  const sent = { floor: cookies.floor }
  for (const name of ['floor', 'idp-client', 'express-openid-connect']) {
    const { app, login } = await createExpressProduct(name)
    apps[name] = app
    sent[name] ??= String(await login(provider))
  }
  const idp = await createExpressClient()
  await add('getSession(Express request)', 'IncomingMessage, open', [
    { name: 'floor', run: () => mustFind(floorNodeSession(nodeRequest('/api/session', sent.floor))) },
    {
      name: 'idp-client',
      run: () => mustFind(idp.getSession(nodeRequest('/api/session', sent['idp-client']))),
    },
  ])
  const respond = (from) =>
    Object.entries(apps).map(([name, app]) => ({
      name,
      run: () => must(send(app, '/api/session', from(name)), 200),
    }))
  const floor = 'an Express application that opens the cookie if there is one'
  await add(
    'Express application, with a session',
    floor,
    respond((name) => sent[name]),
  )
  await add(
    'Express application, anonymous',
    floor,
    respond(() => ''),
  )
}

/** One request of each kind, through the public operations, at every product. */
export async function measure(effort) {
  const sessions = await createSessions()
  const tables = []
  const add = async (title, floor, candidates) =>
    tables.push({ title, floor, rows: await compare(candidates, effort) })
  for (const work of [reads, passThrough, passThroughOnWeb, routesAndPage, measureExpress])
    await work(sessions, add)
  return tables
}
