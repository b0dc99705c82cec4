import express from 'express'
import { IdpClient } from 'idp-client/express'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })
const app = express()

app.use(idp.middleware)

/** @param {string} text */
const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

/** @param {string} body */
const page = (body) => `<!doctype html><html lang="en"><title>Example</title><body>${body}</body></html>`

app.get('/', async (_req, res) => {
  const session = await idp.getSession()
  res.send(
    page(
      session
        ? '<p>Signed in</p><a href="/account">Account</a> <a href="/auth/logout">Log out</a>'
        : '<p>Signed out</p><a href="/auth/login">Log in</a> <a href="/account">Account</a>',
    ),
  )
})

app.get('/account', idp.withPageAuthRequired(), async (_req, res) => {
  const session = await idp.getSession()
  res.send(page(`<p id="user">${escapeHtml(session?.user.sub ?? '')}</p><a href="/">Home</a>`))
})

app.get('/api/me', idp.withApiAuthRequired(), async (_req, res) => {
  const session = await idp.getSession()
  res.json({ sub: session?.user.sub })
})

app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
