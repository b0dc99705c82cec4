import { NextResponse } from 'next/server.js'
import { getToken } from 'next-auth/jwt'
import { must, mustFind, mustFindTokens } from '../lib/must.mjs'
import { nextRequest } from '../lib/products.mjs'
import { measureRequests, readFloor } from '../lib/requests.mjs'
import { secret } from '../lib/settings.mjs'

const foreign = Array.from({ length: 12 }, (_, index) => `other-${index}=${'v'.repeat(40)}`).join('; ')

// Asynchronous like the functions of the products, which the caller has to await.
const floorSession = async (each) => readFloor(each)

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

function reads({ ours, products, cookies }) {
  const toCandidates = ({ page }) => {
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
        run: () => mustFind(products.auth0.auth0.getSession(make(cookies.auth0))),
      },
      { name: 'next-auth', work: 'tokens read', run: () => mustFind(token(cookies.nextAuth)) },
      {
        name: 'next-auth',
        work: 'as it comes: no tokens',
        run: () => mustFind(token(cookies.nextAuthAsItComes)),
      },
    ]
  }
  return [['getSession(NextRequest)', 'NextRequest, open', toCandidates]]
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

/** One request of each kind at the client of Next.js. */
export const measure = (effort) =>
  measureRequests(effort, async (sessions) => {
    // Without it, no page would be known to run here, so that the middleware would forward the path of every request.
    for (const { nextCookie, nextIdp } of sessions.ours) {
      const handle = nextIdp.withApiAuthRequired(() => new Response())
      await must(handle(nextRequest('/api/data', nextCookie), {}), 200)
    }
    return [reads, passThrough, routesAndPage].flatMap((kind) => kind(sessions))
  })
