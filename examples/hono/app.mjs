import { Hono } from 'hono'
import { html } from 'hono/html'
import { IdpClient } from 'idp-client/hono'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })

export const app = new Hono()

app.use(idp.middleware)

const page = (body) => html`<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`

app.get('/', async (c) => {
  const session = await idp.getSession(c)
  const signedIn = html`<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>`
  const signedOut = html`<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>`
  return c.html(page(session ? signedIn : signedOut))
})

app.get('/account', idp.requireLogin(), (c) => {
  const { user } = c.var.idpSession
  return c.html(page(html`<p id="user">${user.sub}</p><a href="/">Home</a>`))
})

app.get('/api/me', idp.requireAuth(), (c) => c.json({ sub: c.var.idpSession.user.sub }))
