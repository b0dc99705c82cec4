// Express with the client of docs/guides/deploy/network.md, which the test has put into lib/idp.js.
import express from 'express'
import { idp } from './lib/idp.js'

const app = express()
app.use(idp.middleware)

app.get('/', (_request, response) => response.send('public'))

app.get('/protected', idp.withPageAuthRequired(), async (_request, response) => {
  const session = await idp.getSession()
  response.send(`signed in as ${session?.user.sub}`)
})

app.get('/api/me', idp.withApiAuthRequired(), async (_request, response) => {
  const session = await idp.getSession()
  response.json({ sub: session?.user.sub })
})

app.listen(Number(process.env.PORT), '127.0.0.1')
