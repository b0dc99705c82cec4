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
import { idp } from '../idp.server.js'

const operations = {
  public: () => new Response('public', { headers: { 'cache-control': 'public, max-age=60' } }),
  api: async (args) => {
    const { user } = await idp.requireAuth(args)
    return Response.json({ sub: user.sub })
  },
  whoami: async (args, query) => Response.json(toKnown(await idp.getSession(...explicit(query, args)))),
  update: async (args, query) => {
    await save(idp, query, explicit(query, args))
    return Response.json({ ok: true })
  },
  'app-cookie': async (args, query) => {
    const headers = new Headers({ 'set-cookie': 'app_before=1' })
    await save(idp, query, explicit(query, args))
    headers.append('set-cookie', 'app_after=1')
    return Response.json({ ok: true }, { headers })
  },
  token: async (args, query) => Response.json(await idp.getAccessToken(...explicit(query, args))),
  late: (args, query) => {
    saveLater(idp, query, explicit(query, args))
    return new Response('late')
  },
  'late-result': async (_args, query) => Response.json(await lateResult(query)),
  start: (args, query) => start(idp, query, explicit(query, args)),
  connect: (args, query) => connect(idp, query, explicit(query, args)),
}

export async function loader(args) {
  const operation = operations[args.params.operation]
  if (!operation) return new Response('not found', { status: 404 })
  try {
    return await operation(args, new URL(args.request.url).searchParams)
  } catch (error) {
    if (error instanceof Response) throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}
