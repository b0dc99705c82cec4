import type { NextFunction, Request, RequestHandler, Response } from 'express'
import express from 'express'
import { filterDefaultIdTokenClaims, IdpClient, sendResponse } from 'idp-client/express'
import { expressOpenidConnect } from 'idp-client/take-over'

const idp = new IdpClient({
  // Until then, users who logged in before the migration stay signed in.
  takeOver: expressOpenidConnect({ secret: process.env.SECRET, until: '2027-01-31' }),
  routes: { login: '/login', logout: '/logout', callback: '/callback' },
  session: { absoluteDuration: 14 * 24 * 60 * 60, expiryClaim: 'session_expiry' },
  beforeSessionSaved(session) {
    return { theme: 'light', ...session, user: filterDefaultIdTokenClaims(session.user) }
  },
})

const app = express()

app.use(idp.middleware)

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

app.get('/', async (_request, response) => {
  const session = await idp.getSession()
  response.send(
    session
      ? `Hello ${escapeHtml(session.user.name ?? '')} <a href="/logout">Log out</a>`
      : '<a href="/login">Log in</a>',
  )
})

app.get('/orders', idp.withPageAuthRequired(), async (_request, response) => {
  const session = await idp.getSession()
  response.send(`signed in as ${escapeHtml(session?.user.sub ?? '')}`)
})

app.get('/api/orders', idp.withApiAuthRequired(), async (_request, response) => {
  const session = await idp.getSession()
  const { token } = await idp.getAccessToken()
  response.json({ sub: session?.user.sub, authorized: token !== undefined })
})

const staffOnly: RequestHandler = async (_request, response, next) => {
  const session = await idp.getSession()
  const groups = session?.user.groups
  if (Array.isArray(groups) && groups.includes('staff')) next()
  else response.status(403).send('not for you')
}

app.get('/staff', idp.withPageAuthRequired(), staffOnly, (_request, response) => {
  response.send('for the staff')
})

app.get('/confirm', async (_request, response) => {
  const login = { returnTo: '/orders', authorizationParameters: { prompt: 'login' } }
  await sendResponse(response, await idp.startInteractiveLogin(login))
})

app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
  response.status(500).send(error.name)
})

app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
