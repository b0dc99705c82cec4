import type { NextFunction, Request, Response } from 'express'
import express from 'express'
import oidc from 'express-openid-connect'

const { auth, claimIncludes, requiresAuth } = oidc

const app = express()

app.use(
  auth({
    authRequired: false,
    idpLogout: true,
    authorizationParams: { response_type: 'code', scope: 'openid profile email offline_access' },
    session: { absoluteDuration: 14 * 24 * 60 * 60 },
    afterCallback(_request, _response, session) {
      return { ...session, theme: 'light' }
    },
  }),
)

const escapeHtml = (text: string) => text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)

app.get('/', (request, response) => {
  const { user } = request.oidc
  response.send(
    user ? `Hello ${escapeHtml(user.name)} <a href="/logout">Log out</a>` : '<a href="/login">Log in</a>',
  )
})

app.get('/orders', requiresAuth(), (request, response) => {
  response.send(`signed in as ${escapeHtml(request.oidc.user?.sub)}`)
})

app.get('/api/orders', async (request, response) => {
  if (!request.oidc.isAuthenticated()) {
    response.status(401).json({ error: 'unauthorized' })
    return
  }
  let { accessToken } = request.oidc
  if (accessToken?.isExpired()) accessToken = await accessToken.refresh()
  response.json({ sub: request.oidc.user?.sub, authorized: accessToken !== undefined })
})

app.get('/staff', claimIncludes('groups', 'staff'), (_request, response) => {
  response.send('for the staff')
})

app.get('/confirm', (_request, response) =>
  response.oidc.login({ returnTo: '/orders', authorizationParams: { prompt: 'login' } }),
)

app.use((error: Error, _request: Request, response: Response, _next: NextFunction) => {
  response.status(500).send(error.name)
})

app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
