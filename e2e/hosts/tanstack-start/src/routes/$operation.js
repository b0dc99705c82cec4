import { createFileRoute } from '@tanstack/react-router'
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
import { idp } from '../idp.server'

const operations = {
  public: () => new Response('public', { headers: { 'cache-control': 'public, max-age=60' } }),
  api: async () => {
    const { user } = await idp.requireAuth()
    return Response.json({ sub: user.sub })
  },
  whoami: async (request, query) => Response.json(toKnown(await idp.getSession(...explicit(query, request)))),
  update: async (request, query) => {
    await save(idp, query, explicit(query, request))
    return Response.json({ ok: true })
  },
  'app-cookie': async (request, query) => {
    const headers = new Headers({ 'set-cookie': 'app_before=1' })
    await save(idp, query, explicit(query, request))
    headers.append('set-cookie', 'app_after=1')
    return Response.json({ ok: true }, { headers })
  },
  token: async (request, query) => Response.json(await idp.getAccessToken(...explicit(query, request))),
  late: (request, query) => {
    saveLater(idp, query, explicit(query, request))
    return new Response('late')
  },
  'late-result': async (_request, query) => Response.json(await lateResult(query)),
  start: (request, query) => start(idp, query, explicit(query, request)),
  connect: (request, query) => connect(idp, query, explicit(query, request)),
}

async function respond({ params, request }) {
  const operation = operations[params.operation]
  if (!operation) return new Response('not found', { status: 404 })
  try {
    return await operation(request, new URL(request.url).searchParams)
  } catch (error) {
    if (error instanceof Response) throw error
    return Response.json(toFailure(error), { status: 500 })
  }
}

export const Route = createFileRoute('/$operation')({ server: { handlers: { GET: respond } } })
