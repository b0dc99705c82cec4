// The contract application on Express 4 and 5.
import express from 'express'
import { IdpClient, sendResponse } from 'idp-client/express'
import * as contract from './support/contract.mjs'

const idp = new IdpClient(contract.options)
contract.addProxy(idp)
const app = express()
app.use(idp.middleware)

/** Registers a path. Express 4 ignores promises, so errors are passed on. */
function get(path, handler) {
  app.get(path, (req, res, next) => {
    const query = new URL(req.url, 'http://localhost').searchParams
    handler({ query, req, res, args: contract.explicit(query, req, res) }).catch(next)
  })
}

get('/', async ({ res }) => res.send('home'))
get('/public', async ({ res }) => res.set('Cache-Control', 'public, max-age=60').send('public'))
app.get('/page', idp.withPageAuthRequired(), (_req, res, next) => {
  idp.getSession().then((session) => res.send(`user=${session.user.sub}`), next)
})
app.get('/api', idp.withApiAuthRequired(), (req, res, next) => {
  idp.getSession(req).then((session) => res.json({ sub: session.user.sub }), next)
})
app.get('/resource', idp.withApiAuthRequired(contract.tokensOnly(idp)), (req, res) =>
  res.json(contract.toShared(req.idpAuth)),
)
app.all('/shared', idp.withApiAuthRequired(contract.sharing(idp)), (req, res) =>
  res.json(contract.toShared(req.idpAuth)),
)
get('/whoami', async ({ args, res }) => res.json(contract.toKnown(await idp.getSession(...args.slice(0, 1)))))
get('/unhandled', async ({ args, res }) => res.json(await idp.getSession(...args.slice(0, 1))))
get('/update', async ({ args, query, res }) => {
  await contract.save(idp, query, args)
  res.json({ ok: true })
})
get('/app-cookie', async ({ args, query, res }) => {
  res.cookie('app_before', '1')
  await contract.save(idp, query, args)
  res.cookie('app_after', '1').json({ ok: true })
})
get('/late', async ({ args, query, res }) => {
  contract.saveLater(idp, query, args)
  res.send('late')
})
get('/late-result', async ({ query, res }) => res.json(await contract.lateResult(query)))
get('/token', async ({ args, res }) => res.json(await idp.getAccessToken(...args)))
get('/start', async ({ args, query, res }) => sendResponse(res, await contract.start(idp, query, args)))
get('/connect', async ({ args, query, res }) => sendResponse(res, await contract.connect(idp, query, args)))

app.use((error, req, res, next) => {
  if (contract.isOwnHandler(req.path)) next(error)
  else res.status(500).json(contract.toFailure(error))
})
app.listen(contract.port, '127.0.0.1')
