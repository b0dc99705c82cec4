import { toNodeHandler } from '@modelcontextprotocol/node'
import express from 'express'
import { IdpClient } from 'idp-client/express'
import { describeApi, mcp, scopeOf, toGuardOptions } from './people.mjs'

const { APP_BASE_URL = 'http://localhost:3000', NODE_ENV, PORT = '3000' } = process.env
const idp = new IdpClient({ allowInsecureRequests: NODE_ENV !== 'production' })
const people = idp.resource(describeApi(APP_BASE_URL))
const guards = {
  'mcp:read': idp.withApiAuthRequired(toGuardOptions(people, 'mcp:read')),
  'mcp:write': idp.withApiAuthRequired(toGuardOptions(people, 'mcp:write')),
}

const app = express().use(idp.middleware, express.json())
const guard = (req, res, next) => guards[scopeOf(req.body)](req, res, next)
const respond = toNodeHandler(mcp)

app.post('/mcp', guard, (req, res) => {
  req.auth = people.authInfo(req.idpAuth)
  // Without a message that the guard has seen, the SDK must not read one itself.
  return respond(req, res, req.body ?? null)
})
// There is no stream that the client could open: each message has its response.
app.all('/mcp', (_req, res) => res.sendStatus(405))

app.listen(Number(PORT), '127.0.0.1')
