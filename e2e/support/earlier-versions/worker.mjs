// One process of an application. It is copied beside a packed version, whose entries it then imports.
import { createServer } from 'node:http'
import { IdpClient } from 'idp-client/express'
import { postgresStore } from 'idp-client/stores/postgres'
import { redisStore } from 'idp-client/stores/redis'

const { APP_BASE_URL, AUDIENCE, PORT, POSTGRES_URL, REDIS_URL } = process.env

async function openStore() {
  if (REDIS_URL) {
    const { createClient } = await import('redis')
    return redisStore(await createClient({ url: REDIS_URL }).connect())
  }
  if (!POSTGRES_URL) return undefined
  const { default: pg } = await import('pg')
  return postgresStore(new pg.Pool({ connectionString: POSTGRES_URL }))
}

const store = await openStore()
await store?.migrate?.()

const idp = new IdpClient({
  ...(store ? { sessionStore: store } : {}),
  appBaseUrl: APP_BASE_URL,
  allowInsecureRequests: true,
  authorizationParameters: { audience: AUDIENCE },
})

const actions = {
  async '/token'() {
    const { token, expiresAt } = await idp.getAccessToken()
    return { token, expiresAt }
  },
  async '/note'(query) {
    const session = await idp.getSession()
    await idp.updateSession({ ...session, [`note:${query.get('name')}`]: true })
    return {}
  },
  async '/session'() {
    const session = await idp.getSession()
    const notes = Object.keys(session ?? {}).filter((name) => name.startsWith('note:'))
    return { sub: session?.user.sub ?? null, notes: notes.sort() }
  },
}

async function respond(request, response) {
  const { pathname, searchParams } = new URL(request.url, APP_BASE_URL)
  const send = (status, body) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  try {
    const action = actions[pathname]
    if (action) send(200, await action(searchParams))
    else send(404, {})
  } catch (error) {
    send(500, { code: error.code ?? error.message, because: error.cause?.code })
  }
}

createServer((request, response) => {
  // Express itself is not needed: its middleware takes what node:http gives.
  void idp.middleware(request, response, () => respond(request, response))
}).listen(Number(PORT), '127.0.0.1', () => process.stdout.write('ready\n'))
