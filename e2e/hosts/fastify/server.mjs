// The contract application on Fastify.
import Fastify from 'fastify'
import { IdpClient } from 'idp-client/fastify'
import * as contract from './support/contract.mjs'

const idp = new IdpClient(contract.options)
contract.addProxy(idp)
const app = Fastify()
await app.register(idp.plugin)
app.setErrorHandler((error, request, reply) =>
  contract.isOwnHandler(request.url) ? reply.send(error) : reply.code(500).send(contract.toFailure(error)),
)

function get(path, handler) {
  app.get(path, async (request, reply) => {
    const query = new URL(request.url, 'http://localhost').searchParams
    return handler({ query, reply, args: contract.explicit(query, request, reply) })
  })
}

get('/', () => 'home')
get('/public', ({ reply }) => reply.header('cache-control', 'public, max-age=60').send('public'))
app.get('/page', { preHandler: idp.requireLogin() }, async (request) => `user=${request.idpSession.user.sub}`)
app.get('/api', { preHandler: idp.requireAuth() }, async (request) => ({ sub: request.idpSession.user.sub }))
app.get('/resource', { preHandler: idp.requireAuth(contract.tokensOnly(idp)) }, async (request) =>
  contract.toShared(request.idpAuth),
)
app.all('/shared', { preHandler: idp.requireAuth(contract.sharing(idp)) }, async (request) =>
  contract.toShared(request.idpAuth),
)
get('/whoami', async ({ args }) => contract.toKnown(await idp.getSession(...args.slice(0, 1))))
get('/unhandled', ({ args }) => idp.getSession(...args.slice(0, 1)))
get('/update', async ({ args, query }) => {
  await contract.save(idp, query, args)
  return { ok: true }
})
get('/app-cookie', async ({ args, query, reply }) => {
  reply.header('set-cookie', 'app_before=1')
  await contract.save(idp, query, args)
  reply.header('set-cookie', 'app_after=1')
  return { ok: true }
})
get('/late', ({ args, query }) => {
  contract.saveLater(idp, query, args)
  return 'late'
})
get('/late-result', ({ query }) => contract.lateResult(query))
get('/token', ({ args }) => idp.getAccessToken(...args))
get('/start', ({ args, query }) => contract.start(idp, query, args))
get('/connect', ({ args, query }) => contract.connect(idp, query, args))

await app.listen({ host: '127.0.0.1', port: contract.port })
