// The contract application on Hono, in every runtime. Middleware around and behind ours does what undid its cookies: it reads
// bodies, touches the response early and replaces it.
import { Hono } from 'hono'
import { setCookie } from 'hono/cookie'
import { IdpClient } from 'idp-client/hono'
import * as contract from './support/contract.mjs'

const idp = new IdpClient(contract.options)
contract.addProxy(idp)

export const app = new Hono().basePath(contract.basePath)

const query = (c) => new URL(c.req.url).searchParams
const styled = (c) => contract.explicit(query(c), c)

app.use(async (c, next) => {
  if (c.req.method === 'POST' && !contract.isProxied(c.req.path)) await c.req.parseBody()
  await next()
})
app.use(async (c, next) => {
  c.res.headers.set('x-outer', 'yes')
  await next()
  // Hono merges the headers of both.
  c.res = new Response(c.res.body, c.res)
})
app.use(idp.middleware)
app.get('/', (c) => c.text('home'))
app.get('/public', (c) => c.text('public', 200, { 'cache-control': 'public, max-age=60' }))
app.get('/page', idp.requireLogin(), (c) => c.text(`user=${c.var.idpSession.user.sub}`))
app.get('/unhandled', async (c) => c.json(await idp.getSession(...styled(c))))

// An application of its own, so that the error handler of Hono responds to the paths above.
const operations = new Hono().onError((error, c) => c.json(contract.toFailure(error), 500))
operations.get('/api', idp.requireAuth(), (c) => c.json({ sub: c.var.idpSession.user.sub }))
operations.get('/resource', idp.requireAuth(contract.tokensOnly(idp)), (c) =>
  c.json(contract.toShared(c.var.idpAuth)),
)
operations.all('/shared', idp.requireAuth(contract.sharing(idp)), (c) =>
  c.json(contract.toShared(c.var.idpAuth)),
)
operations.get('/whoami', async (c) => c.json(contract.toKnown(await idp.getSession(...styled(c)))))
operations.get('/update', async (c) => {
  await contract.save(idp, query(c), styled(c))
  return c.json({ ok: true })
})
operations.get('/app-cookie', async (c) => {
  setCookie(c, 'app_before', '1')
  await contract.save(idp, query(c), styled(c))
  setCookie(c, 'app_after', '1')
  return c.json({ ok: true })
})
operations.get('/token', async (c) => c.json(await idp.getAccessToken(...styled(c))))
operations.get('/user-info', async (c) => c.json(await idp.getUserInfo(...styled(c))))
operations.get('/late', (c) => {
  contract.saveLater(idp, query(c), styled(c))
  return c.text('late')
})
operations.get('/late-result', async (c) => c.json(await contract.lateResult(query(c))))
operations.get('/start', (c) => contract.start(idp, query(c), styled(c)))
operations.get('/connect', (c) => contract.connect(idp, query(c), styled(c)))
app.route('/', operations)
