// The contract application on Elysia, in both runtimes. Its hooks do what could undo our cookies: they read bodies before the
// handler, add headers to every response and map errors to responses.
import { Elysia } from 'elysia'
import { IdpClient } from 'idp-client'
import * as contract from './support/contract.mjs'

const idp = new IdpClient(contract.options)
contract.addProxy(idp)
const sharing = contract.sharing(idp)
const tokensOnly = contract.tokensOnly(idp)

/** Returns the query and the arguments of the style of a request. */
const read = ({ request }) => {
  const query = new URL(request.url).searchParams
  return { query, args: contract.explicit(query, request) }
}

export const app = new Elysia()
  .wrap((handle) => (request: Request) => idp.middleware(request, handle as never))
  .onParse(({ request }) => request.text())
  .onTransform(({ set }) => {
    set.headers['x-transformed'] = 'yes'
  })
  .onAfterHandle(({ set }) => {
    set.headers['x-handled'] = 'yes'
  })
  .onError(({ code, error, path }) =>
    code === 'NOT_FOUND' || contract.isOwnHandler(path)
      ? undefined
      : Response.json(contract.toFailure(error), { status: 500 }),
  )
  .get('/', 'home')
  .post('/', ({ body }) => body)
  .get('/public', ({ set }) => {
    set.headers['cache-control'] = 'public, max-age=60'
    return 'public'
  })
  .get('/page', async ({ request }) => {
    const { response, session } = await idp.requireLogin(request)
    return response ?? `user=${session.user.sub}`
  })
  .guard({ beforeHandle: async ({ request }) => (await idp.requireAuth(request)).response }, (guarded) =>
    guarded.get('/api', async ({ request }) => ({ sub: (await idp.getSession(request)).user.sub })),
  )
  .get('/resource', async ({ request }) => {
    const { auth, response } = await idp.requireAuth(request, tokensOnly)
    return response ?? contract.toShared(auth)
  })
  .all('/shared', async ({ request }) => {
    const { auth, response } = await idp.requireAuth(request, sharing)
    return response ?? contract.toShared(auth)
  })
  .get('/whoami', async (context) => contract.toKnown(await idp.getSession(...read(context).args)))
  .get('/unhandled', (context) => idp.getSession(...read(context).args))
  .get('/update', async (context) => {
    const { args, query } = read(context)
    await contract.save(idp, query, args)
    return { ok: true }
  })
  .get('/app-cookie', async ({ cookie, request }) => {
    const { args, query } = read({ request })
    cookie.app_before.value = '1'
    await contract.save(idp, query, args)
    cookie.app_after.value = '1'
    return { ok: true }
  })
  .get('/token', (context) => idp.getAccessToken(...read(context).args))
  .get('/late', (context) => {
    const { args, query } = read(context)
    contract.saveLater(idp, query, args)
    return 'late'
  })
  .get('/late-result', (context) => contract.lateResult(read(context).query))
  .get('/start', (context) => {
    const { args, query } = read(context)
    return contract.start(idp, query, args)
  })
  .get('/connect', (context) => {
    const { args, query } = read(context)
    return contract.connect(idp, query, args)
  })
