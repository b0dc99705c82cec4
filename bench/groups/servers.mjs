import { fileURLToPath } from 'node:url'
import { createExpressProduct, forwarded } from '../lib/express.mjs'
import { compareServers } from '../lib/load.mjs'
import { buildNextApp, toNextProgram } from '../lib/next-apps.mjs'
import { createNextClient, createNextjsAuth0 } from '../lib/products.mjs'
import { createProvider } from '../lib/provider.mjs'
import { withServers } from '../lib/servers.mjs'

const folder = fileURLToPath(new URL('..', import.meta.url))
const api = { ...forwarded, accept: 'application/json' }
const page = { ...forwarded, accept: 'text/html', 'sec-fetch-dest': 'document', 'sec-fetch-mode': 'navigate' }

const requests = {
  /* Requests to each server in a round. */
  express: { amount: 1200, headers: api, plain: '/api/data', reading: '/api/session' },
  route: { amount: 300, headers: api, plain: '/api/data', reading: '/api/session' },
  page: { amount: 150, headers: page, plain: '/page', reading: '/session' },
}

const toTarget = ({ name, origin, pid }, path, headers, rest) => ({
  name,
  pid,
  url: origin + path,
  headers,
  ...rest,
})

/** Each product beside the base, which gets the same cookie: a handler that ignores the session, and one that reads it. */
function withSession([base, ...servers], control, cookies, { headers, plain, reading }) {
  return servers.flatMap((server) => {
    const sent = { ...headers, cookie: cookies[server.name] }
    const bare = toTarget(base, plain, sent, { work: `cookie of ${server.name}` })
    return [
      bare,
      toTarget(control, plain, sent, { base: bare, work: `second process, cookie of ${server.name}` }),
      toTarget(server, plain, sent, { base: bare }),
      toTarget(server, reading, sent, { base: bare, work: 'session read', readsSession: true }),
    ]
  })
}

function anonymous([base, ...servers], control, { headers, plain }) {
  const bare = toTarget(base, plain, headers)
  return [
    bare,
    toTarget(control, plain, headers, { base: bare, work: 'second process' }),
    ...servers.map((server) => toTarget(server, plain, headers, { base: bare })),
  ]
}

/**
 * A table with a session and one without. The sessions are new, so that none is extended while it is measured. The last server is
 * a second process of the first one: what it adds is the error of the measurement.
 */
async function compareRequests({ floor, logIn, request, servers: all, title }, { rounds }) {
  const servers = all.slice(0, -1)
  const effort = { rounds, amount: request.amount }
  const compare = async (session, targets) => ({
    title: `${title}, ${session}`,
    kind: 'servers',
    floor,
    rows: await compareServers(targets, effort),
  })
  return [
    await compare('with a session', withSession(servers, all.at(-1), await logIn(), request)),
    await compare('anonymous', anonymous(servers, all.at(-1), request)),
  ]
}

async function measureExpress(provider, effort) {
  const products = ['bare', 'idp-client', 'express-openid-connect']
  const programs = [...products, 'bare'].map((name) => ({
    name,
    cwd: folder,
    args: (port) => ['servers/express.mjs', name, String(port)],
  }))
  async function logIn() {
    const cookies = {}
    for (const name of products.slice(1)) {
      const { login } = await createExpressProduct(name)
      cookies[name] = String(await login(provider))
    }
    return cookies
  }
  const floor = 'the same application without a middleware, with the same cookie'
  return withServers(programs, (servers) =>
    compareRequests({ title: 'Express 5', floor, logIn, request: requests.express, servers }, effort),
  )
}

async function measureNext(provider, effort) {
  const products = ['empty proxy', 'idp-client', 'nextjs-auth0']
  const programs = [...products, 'empty proxy'].map((name) => ({
    name,
    ...toNextProgram(buildNextApp(name)),
  }))
  const logIn = async () => ({
    'idp-client': String(await createNextClient().login(provider)),
    'nextjs-auth0': String(await createNextjsAuth0().login(provider)),
  })
  const floor = 'the same application with an empty proxy, with the same cookie'
  return withServers(programs, async (servers) => [
    ...(await compareRequests(
      { title: 'Next.js route handler', floor, logIn, request: requests.route, servers },
      effort,
    )),
    ...(await compareRequests(
      { title: 'Next.js page', floor, logIn, request: requests.page, servers },
      effort,
    )),
  ])
}

/** Real servers under load. The CPU time of the server counts, compared with that of its base in the same round. */
export async function measure(effort) {
  const provider = createProvider()
  globalThis.fetch = provider.fetch
  return [...(await measureExpress(provider, effort)), ...(await measureNext(provider, effort))]
}
