import Router from '@koa/router'
import { IdpClient } from 'idp-client/koa'
import Koa from 'koa'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })
const app = new Koa()
const router = new Router()

app.use(idp.middleware)

const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

const page = (body) => `<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`

router.get('/', async (ctx) => {
  const session = await idp.getSession(ctx)
  ctx.body = page(
    session
      ? '<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>'
      : '<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>',
  )
})

router.get('/account', idp.requireLogin(), (ctx) => {
  const { user } = ctx.state.idpSession
  ctx.body = page(`<p id="user">${escapeHtml(user.sub)}</p><a href="/">Home</a>`)
})

router.get('/api/me', idp.requireAuth(), (ctx) => {
  ctx.body = { sub: ctx.state.idpSession.user.sub }
})

app.use(router.routes())
app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
