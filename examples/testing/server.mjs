import express from 'express'
import { AccessTokenError } from 'idp-client/errors'
import { IdpClient } from 'idp-client/express'

const idp = new IdpClient({ allowInsecureRequests: process.env.NODE_ENV !== 'production' })
const app = express()

app.use(idp.middleware)

/** @param {string} text */
const escapeHtml = (text) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

app.get('/', async (_req, res) => {
  const session = await idp.getSession()
  res.send(session ? '<a href="/auth/logout">Log out</a>' : '<a href="/auth/login">Log in</a>')
})

app.get('/account', idp.withPageAuthRequired(), async (_req, res) => {
  const session = await idp.getSession()
  res.send(`<h1>Account of ${escapeHtml(session?.user.name ?? '')}</h1><a href="/">Home</a>`)
})

app.get('/api/me', idp.withApiAuthRequired(), async (_req, res) => {
  const session = await idp.getSession()
  res.json(session?.user)
})

app.get('/api/orders', idp.withApiAuthRequired(), async (_req, res) => {
  const { token } = await idp.getAccessToken()
  // A real application sends the token to the API that has the orders.
  res.json({ orders: token ? ['A-1'] : [] })
})

/** @type {import('express').ErrorRequestHandler} */
const onError = (error, _req, res, next) => {
  if (!(error instanceof AccessTokenError)) return next(error)
  // 502 to 504: the provider is down. Otherwise the user has to log in again.
  res.status(error.status ?? 401).json({ code: error.code })
}
app.use(onError)

app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
