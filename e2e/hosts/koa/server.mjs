// The contract application on Koa, behind a middleware that reads every form and one that observes the response.
import Router from '@koa/router'
import { IdpClient, sendResponse } from 'idp-client/koa'
import Koa from 'koa'
import { parseForm } from './parse-form.mjs'
import * as contract from './support/contract.mjs'

const idp = new IdpClient(contract.options)
contract.addProxy(idp)
const app = new Koa()
const router = new Router({ prefix: contract.basePath })

const query = (ctx) => ctx.URL.searchParams
const styled = (ctx) => contract.explicit(query(ctx), ctx)

app.use(async (ctx, next) => {
  try {
    await next()
  } catch (error) {
    if (contract.isOwnHandler(ctx.path)) throw error
    ctx.status = 500
    ctx.body = contract.toFailure(error)
  }
})
app.use(parseForm)
app.use(idp.middleware)

router.get('/', (ctx) => {
  ctx.body = 'home'
})
router.get('/public', (ctx) => {
  ctx.set('cache-control', 'public, max-age=60')
  ctx.body = 'public'
})
router.get('/page', idp.requireLogin(), (ctx) => {
  ctx.body = `user=${ctx.state.idpSession.user.sub}`
})
router.get('/api', idp.requireAuth(), (ctx) => {
  ctx.body = { sub: ctx.state.idpSession.user.sub }
})
router.get('/resource', idp.requireAuth(contract.tokensOnly(idp)), (ctx) => {
  ctx.body = contract.toShared(ctx.state.idpAuth)
})
router.all('/shared', idp.requireAuth(contract.sharing(idp)), (ctx) => {
  ctx.body = contract.toShared(ctx.state.idpAuth)
})
router.get('/whoami', async (ctx) => {
  ctx.body = contract.toKnown(await idp.getSession(...styled(ctx)))
})
router.get('/unhandled', async (ctx) => {
  ctx.body = await idp.getSession(...styled(ctx))
})
router.get('/update', async (ctx) => {
  await contract.save(idp, query(ctx), styled(ctx))
  ctx.body = { ok: true }
})
router.get('/app-cookie', async (ctx) => {
  ctx.cookies.set('app_before', '1')
  await contract.save(idp, query(ctx), styled(ctx))
  ctx.cookies.set('app_after', '1')
  ctx.body = { ok: true }
})
router.get('/token', async (ctx) => {
  ctx.body = await idp.getAccessToken(...styled(ctx))
})
router.get('/late', (ctx) => {
  contract.saveLater(idp, query(ctx), styled(ctx))
  ctx.body = 'late'
})
router.get('/late-result', async (ctx) => {
  ctx.body = await contract.lateResult(query(ctx))
})
router.get('/start', async (ctx) => sendResponse(ctx, await contract.start(idp, query(ctx), styled(ctx))))
router.get('/connect', async (ctx) => sendResponse(ctx, await contract.connect(idp, query(ctx), styled(ctx))))

app.use(router.routes())
app.listen(contract.port, '127.0.0.1')
