import { getIronSession } from 'iron-session'
import { NextResponse } from 'next/server.js'
import { getToken } from 'next-auth/jwt'
import { builds } from '../lib/builds.mjs'
import {
  createExpressClient,
  createExpressProduct,
  nodeRequest,
  readFloor as readNodeFloor,
  send,
} from '../lib/express.mjs'
import { open } from '../lib/floor.mjs'
import { senders } from '../lib/headers.mjs'
import { compare } from '../lib/measure.mjs'
import { must, mustFind } from '../lib/must.mjs'
import { nextRequest, request } from '../lib/products.mjs'
import { createSessions } from '../lib/sessions.mjs'
import { secret } from '../lib/settings.mjs'

const foreign = Array.from({ length: 12 }, (_, index) => `other-${index}=${'v'.repeat(40)}`).join('; ')
const iron = { password: secret, cookieName: 'iron' }

function readFloor(each) {
  const cookie = each.headers.get('cookie') ?? ''
  const at = cookie.indexOf('session=')
  return at < 0 ? null : open(cookie.slice(at + 'session='.length))
}

// Asynchronous like the functions of the products, which the caller has to await.
const floorSession = async (each) => readFloor(each)
const floorNodeSession = async (each) => readNodeFloor(each)
const floorWebMiddleware = async (each) => {
  readFloor(each)
  return new Response()
}

/** Deletes a cookie that cannot be decrypted. */
async function floorMiddleware(each) {
  const response = NextResponse.next()
  try {
    readFloor(each)
  } catch {
    response.cookies.set('session', '', {
      maxAge: 0,
      path: '/',
      httpOnly: true,
      secure: true,
      sameSite: 'lax',
    })
  }
  return response
}

async function mustFindTokens(session) {
  const { accessToken, idToken, refreshToken } = (await session).tokenSet
  if (!accessToken || !idToken || !refreshToken) throw new Error('bench: no tokens')
}

/** Kinds of requests. Each returns the title, what the floor does, and the candidates for the headers of one sender. */

function reads({ ours, products: { auth0, authJs, authJsAsItComes, better, betterAsItComes }, cookies }) {
  const { auth0: client } = auth0
  const ofNext = ({ page }) => {
    const make = (cookie) => nextRequest('/page', cookie, { headers: page })
    const token = (cookie) => getToken({ req: make(cookie), secret, secureCookie: true })
    return [
      { name: 'floor', run: () => mustFind(floorSession(make(cookies.floor))) },
      ...ours.flatMap(({ name, nextCookie, nextIdp }) => [
        { name, run: () => mustFind(nextIdp.getSession(make(nextCookie))) },
        { name, work: 'tokens read', run: () => mustFindTokens(nextIdp.getSession(make(nextCookie))) },
      ]),
      {
        name: 'nextjs-auth0',
        work: 'tokens read',
        run: () => mustFind(client.getSession(make(cookies.auth0))),
      },
      { name: 'next-auth', work: 'tokens read', run: () => mustFind(token(cookies.nextAuth)) },
      {
        name: 'next-auth',
        work: 'as it comes: no tokens',
        run: () => mustFind(token(cookies.nextAuthAsItComes)),
      },
    ]
  }
  const ofWeb = ({ page }) => {
    const make = (cookie, path = '/page') => request(path, cookie, { headers: page })
    const authJsSession = ({ handle }, cookie) => must(handle(make(cookie, '/auth/session')), 200)
    const betterSession = ({ auth }, cookie) =>
      mustFind(auth.api.getSession({ headers: make(cookie).headers }))
    return [
      { name: 'floor', run: () => mustFind(floorSession(make(cookies.floor))) },
      ...ours.flatMap(({ idp, name, webCookie }) => [
        { name, run: () => mustFind(idp.getSession(make(webCookie))) },
        { name, work: 'tokens read', run: () => mustFindTokens(idp.getSession(make(webCookie))) },
      ]),
      { name: 'Auth.js', work: 'tokens read', run: () => authJsSession(authJs, cookies.authJs) },
      {
        name: 'Auth.js',
        work: 'as it comes: no tokens',
        run: () => authJsSession(authJsAsItComes, cookies.authJsAsItComes),
      },
      { name: 'better-auth', work: 'encrypted', run: () => betterSession(better, cookies.better) },
      {
        name: 'better-auth',
        work: 'as it comes',
        run: () => betterSession(betterAsItComes, cookies.betterAsItComes),
      },
      {
        name: 'iron-session',
        work: 'tokens read',
        run: () => mustFind(getIronSession(make(cookies.iron), new Response(), iron)),
      },
    ]
  }
  return [
    ['getSession(NextRequest)', 'NextRequest, open', ofNext],
    ['getSession(Request)', 'Request, open', ofWeb],
  ]
}

/** The same request at the middleware of each product. `change` is applied to its cookies. */
function atMiddlewares({ ours, products: { auth0 }, cookies }, path, headers, change = (cookie) => cookie) {
  const toCandidate = (name, middleware, given) => {
    const cookie = change(given)
    return { name, run: () => must(middleware(nextRequest(path, cookie, { headers })), 200) }
  }
  return [
    ...ours.map(({ name, nextCookie, nextIdp }) => toCandidate(name, nextIdp.middleware, nextCookie)),
    toCandidate('nextjs-auth0', (each) => auth0.auth0.middleware(each), cookies.auth0),
  ]
}

/** Requests for the application, as the middleware sees them. */
function passThrough(sessions) {
  const floor = 'NextRequest, open if there is a session, NextResponse.next()'
  const pass = (path, headers, change = (cookie) => cookie) => {
    const cookie = change(sessions.cookies.floor)
    const run = () => must(floorMiddleware(nextRequest(path, cookie, { headers })), 200)
    return [{ name: 'floor', run }, ...atMiddlewares(sessions, path, headers, change)]
  }
  const dead = (cookie) => cookie.replace(/.{20}(?=(;|$))/, 'A'.repeat(20))
  return [
    ['Middleware, page with a session', floor, ({ page }) => pass('/page', page)],
    ['Middleware, API with a session', floor, ({ api }) => pass('/api/data', api)],
    ['Middleware, anonymous page', floor, ({ page }) => pass('/page', page, () => '')],
    ['Middleware, anonymous API', floor, ({ api }) => pass('/api/data', api, () => '')],
    [
      'Middleware, anonymous API, 12 cookies of others',
      floor,
      ({ api }) => pass('/api/data', api, () => foreign),
    ],
    [
      'Middleware, API, a cookie that cannot be decrypted',
      'NextRequest, an attempt to open, NextResponse.next() with the deletion of the cookie',
      ({ api }) => pass('/api/data', api, dead),
    ],
  ]
}

/** Routes of the library, and everything that one page needs. */
function routesAndPage(sessions) {
  const { ours, products, cookies } = sessions
  const route = (path, toBody) =>
    function toCandidates({ api: headers }) {
      const run = async () =>
        NextResponse.json(toBody(await floorSession(nextRequest(path, cookies.floor, { headers }))))
      return [{ name: 'floor', run }, ...atMiddlewares(sessions, path, headers)]
    }
  const page = ({ page: headers }) => {
    const make = (cookie) => nextRequest('/page', cookie, { headers })
    const whole = (client, cookie) => async () => {
      await must(client.middleware(make(cookie)), 200)
      const handled = make(cookie)
      await mustFind(client.getSession(handled))
      await mustFind(client.getAccessToken(handled, NextResponse.next()))
    }
    const floor = {
      middleware: floorMiddleware,
      getSession: floorSession,
      getAccessToken: async (_handled, response) => response,
    }
    return [
      { name: 'floor', run: whole(floor, cookies.floor) },
      ...ours.map(({ name, nextCookie, nextIdp }) => ({ name, run: whole(nextIdp, nextCookie) })),
      { name: 'nextjs-auth0', run: whole(products.auth0.auth0, cookies.auth0) },
    ]
  }
  const toToken = ({ tokenSet: { accessToken: token, expiresAt, scope } }) => ({
    token,
    expires_at: expiresAt,
    scope,
  })
  return [
    [
      'Profile route',
      'NextRequest, open, NextResponse.json(user)',
      route('/auth/profile', ({ user }) => user),
    ],
    [
      'Access-token route',
      'NextRequest, open, NextResponse.json(token)',
      route('/auth/access-token', toToken),
    ],
    [
      'Page: middleware, getSession, getAccessToken',
      'NextRequest twice, open twice, NextResponse.next() twice',
      page,
    ],
  ]
}

/** The Web entry before a handler that does nothing. */
function passThroughOnWeb({ ours, cookies }) {
  const floor = 'Request, open if there is a session, new Response()'
  const pass =
    (change) =>
    ({ api: headers }) => [
      {
        name: 'floor',
        run: () => must(floorWebMiddleware(request('/api/data', change(cookies.floor), { headers })), 200),
      },
      ...ours.map(({ idp, name, webCookie }) => ({
        name,
        run: () => must(idp.middleware(request('/api/data', change(webCookie), { headers })), 200),
      })),
    ]
  return [
    ['Middleware of the Web entry, API with a session', floor, pass((cookie) => cookie)],
    ['Middleware of the Web entry, anonymous API', floor, pass(() => '')],
  ]
}

/** Express applications, without a connection. */
async function onExpress({ provider, cookies }) {
  const apps = []
  for (const name of ['floor', ...builds.map((build) => build.name), 'express-openid-connect']) {
    const { app, login } = await createExpressProduct(name)
    apps.push({ name, app, cookie: name === 'floor' ? cookies.floor : String(await login(provider)) })
  }
  const clients = builds.map(({ Express, name }) => ({
    name,
    idp: createExpressClient(Express),
    cookie: apps.find((each) => each.name === name).cookie,
  }))
  const read = ({ api }) => [
    { name: 'floor', run: () => mustFind(floorNodeSession(nodeRequest('/api/session', cookies.floor, api))) },
    ...clients.map(({ cookie, idp, name }) => ({
      name,
      run: () => mustFind(idp.getSession(nodeRequest('/api/session', cookie, api))),
    })),
  ]
  const respond =
    (change) =>
    ({ api }) =>
      apps.map(({ app, cookie, name }) => ({
        name,
        run: () => must(send(app, '/api/session', change(cookie), api), 200),
      }))
  const floor = 'an Express application that opens the cookie if there is one'
  return [
    ['getSession(Express request)', 'IncomingMessage, open', read],
    ['Express application, with a session', floor, respond((cookie) => cookie)],
    ['Express application, anonymous', floor, respond(() => '')],
  ]
}

const isOurs = ({ name }) => name === 'floor' || name.startsWith('idp-client')

/** One request of each kind, through the public operations: all products with a browser's headers, and ours with few. */
export async function measure(effort) {
  const sessions = await createSessions()
  // Without it, no page would be known to run here, so that the middleware would forward the path of every request.
  for (const { nextCookie, nextIdp } of sessions.ours) {
    const handle = nextIdp.withApiAuthRequired(() => new Response())
    await must(handle(nextRequest('/api/data', nextCookie), {}), 200)
  }
  const all = []
  for (const kind of [reads, passThrough, passThroughOnWeb, routesAndPage, onExpress])
    all.push(...(await kind(sessions)))
  const tables = []
  for (const [title, floor, toCandidates] of all.filter(([each]) => each.includes(effort.table ?? ''))) {
    const few = effort.isQuick ? [] : toCandidates(senders['few headers']).filter(isOurs)
    const candidates = [
      ...toCandidates(senders.browser),
      ...few.map((each) => ({ ...each, work: [each.work, 'few headers'].filter(Boolean).join(', ') })),
    ]
    tables.push({ title, floor, rows: await compare(candidates, effort) })
  }
  return tables
}
