// Compiled with the types of Express 4, library declarations included.
import express from 'express'
import { IdpClient, sendResponse } from 'idp-client/express'

const idp = new IdpClient()

export const app = express()
app.use(idp.middleware)
app.get('/page', idp.withPageAuthRequired({ returnTo: (req) => req.originalUrl }), (req, res) => {
  void idp.getSession(req).then((session) => res.json(session?.user))
})
app.get(
  '/api',
  idp.withApiAuthRequired((_req, res) => res.json({})),
)
app.get('/join', (req, res, next) => {
  idp
    .startInteractiveLogin(req, res, { returnTo: '/page' })
    .then((response) => sendResponse(res, response))
    .catch(next)
})
