import {
  connect,
  explicit,
  lateResult,
  save,
  saveLater,
  start,
  toFailure,
  toKnown,
} from '../../support/contract.mjs'
import { idp } from '../lib/idp.js'

const operations = {
  public: () => new Response('public', { headers: { 'cache-control': 'public, max-age=60' } }),
  whoami: async (_event, _query, args) => Response.json(toKnown(await idp.getSession(...args))),
  update: async (_event, query, args) => {
    await save(idp, query, args)
    return Response.json({ ok: true })
  },
  'app-cookie': async ({ cookies }, query, args) => {
    cookies.set('app_before', '1', { path: '/' })
    await save(idp, query, args)
    cookies.set('app_after', '1', { path: '/' })
    return Response.json({ ok: true })
  },
  late: (_event, query, args) => {
    saveLater(idp, query, args)
    return new Response('late')
  },
  'late-result': async (_event, query) => Response.json(await lateResult(query)),
  token: async (_event, _query, args) => Response.json(await idp.getAccessToken(...args)),
  start: async (_event, query, args) => start(idp, query, args),
  connect: async (_event, query, args) => connect(idp, query, args),
}

export async function GET(event) {
  const operation = operations[event.params.operation]
  if (!operation) return new Response(null, { status: 404 })
  const query = event.url.searchParams
  try {
    return await operation(event, query, explicit(query, event))
  } catch (thrown) {
    return Response.json(toFailure(thrown), { status: 500 })
  }
}
