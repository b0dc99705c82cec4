import { builds } from '../lib/builds.mjs'
import { createExpressClient, createExpressProduct, nodeRequest, readFloor, send } from '../lib/express.mjs'
import { must, mustFind } from '../lib/must.mjs'
import { measureRequests } from '../lib/requests.mjs'

// Asynchronous like the functions of the products, which the caller has to await.
const floorSession = async (each) => readFloor(each)

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
    { name: 'floor', run: () => mustFind(floorSession(nodeRequest('/api/session', cookies.floor, api))) },
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

/** One request of each kind at the client of Express. */
export const measure = (effort) => measureRequests(effort, onExpress)
