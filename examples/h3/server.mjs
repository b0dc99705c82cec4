import { H3, html } from 'h3'
import { IdpClient } from 'idp-client'
import { serve } from 'srvx'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })

const app = new H3()

app.get('/', async (event) => {
  const session = await idp.getSession(event.req)
  return session
    ? html`<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>`
    : html`<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>`
})

app.get('/account', async (event) => {
  const { response, session } = await idp.requireLogin(event.req)
  if (response) return response
  return html`<p id="user">${session.user.sub}</p><a href="/">Home</a>`
})

app.get('/api/me', async (event) => {
  const { response, session } = await idp.requireAuth(event.req)
  if (response) return response
  return { sub: session.user.sub }
})

serve({
  fetch: (request) => idp.middleware(request, (passed) => app.fetch(passed)),
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 3000),
})
