import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { IdpClient } from 'idp-client/hono'
import { describeApi, mcp, readMessage, scopeOf, toGuardOptions } from './people.mjs'

const { APP_BASE_URL = 'http://localhost:3000', NODE_ENV, PORT = '3000' } = process.env
const idp = new IdpClient({ allowInsecureRequests: NODE_ENV !== 'production' })
const people = idp.resource(describeApi(APP_BASE_URL))
const guards = {
  'mcp:read': idp.requireAuth(toGuardOptions(people, 'mcp:read')),
  'mcp:write': idp.requireAuth(toGuardOptions(people, 'mcp:write')),
}

const app = new Hono().use(idp.middleware)
const guard = async (c, next) => guards[scopeOf(await readMessage(c.req.raw))](c, next)

app.post('/mcp', bodyLimit({ maxSize: 100_000 }), guard, (c) =>
  mcp.fetch(c.req.raw, { authInfo: people.authInfo(c.var.idpAuth) }),
)
// There is no stream that the client could open: each message has its response.
app.all('/mcp', (c) => c.body(null, 405))

serve({ fetch: app.fetch, hostname: '127.0.0.1', port: Number(PORT) })
