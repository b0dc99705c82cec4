import { getIronSession } from 'iron-session'
import { must, mustFind, mustFindTokens } from '../lib/must.mjs'
import { request } from '../lib/products.mjs'
import { measureRequests, readFloor } from '../lib/requests.mjs'
import { secret } from '../lib/settings.mjs'

const iron = { password: secret, cookieName: 'iron' }

// Asynchronous like the functions of the products, which the caller has to await.
const floorSession = async (each) => readFloor(each)
const floorMiddleware = async (each) => {
  readFloor(each)
  return new Response()
}

function reads({ ours, products: { authJs, authJsAsItComes, better, betterAsItComes }, cookies }) {
  const toCandidates = ({ page }) => {
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
  return [['getSession(Request)', 'Request, open', toCandidates]]
}

/** The Web entry before a handler that does nothing. */
function passThrough({ ours, cookies }) {
  const floor = 'Request, open if there is a session, new Response()'
  const pass =
    (change) =>
    ({ api: headers }) => [
      {
        name: 'floor',
        run: () => must(floorMiddleware(request('/api/data', change(cookies.floor), { headers })), 200),
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

/** One request of each kind at the client of the Web entry. */
export const measure = (effort) =>
  measureRequests(effort, (sessions) => [reads, passThrough].flatMap((kind) => kind(sessions)))
