import Fastify from 'fastify'
import { IdpClient } from 'idp-client/fastify'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })
const app = Fastify()
await app.register(idp.plugin)

const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

function sendPage(reply, body) {
  reply.type('text/html; charset=utf-8')
  return reply.send(`<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`)
}

app.get('/', async (_request, reply) => {
  const session = await idp.getSession()
  return sendPage(
    reply,
    session
      ? '<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>'
      : '<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>',
  )
})

app.get('/account', { preHandler: idp.requireLogin() }, async (request, reply) =>
  sendPage(reply, `<p id="user">${escapeHtml(request.idpSession?.user.sub ?? '')}</p><a href="/">Home</a>`),
)

app.get('/api/me', { preHandler: idp.requireAuth() }, async (request) => ({
  sub: request.idpSession?.user.sub,
}))

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) })
