import { describe } from 'vitest'
import type { StartInteractiveLoginOptions } from '../../src/index.ts'
import { IdpClient, isIdpError } from '../../src/index.ts'
import { lateWriteContract } from '../../src/testing/index.ts'
import { listenerOf } from '../support/front.ts'
import type { MakeApplication } from './hosts.ts'
import { runContract } from './run-contract.ts'

/** The arguments of every handler: the query, and the host's objects if the style is explicit. */
interface Call {
  readonly request: Request
  readonly query: URLSearchParams
  /** Headers of the handler's response. */
  readonly headers: Headers
  /** Arguments of the explicit style; none in the ambient one. */
  readonly explicit: [] | [Request]
}

type Handler = (idp: IdpClient, call: Call) => Response | Promise<Response>

async function save(idp: IdpClient, { explicit, headers, query, request }: Call): Promise<void> {
  const session = await idp.getSession(...explicit)
  const changed = { ...(session ?? { user: { sub: 'nobody' }, tokenSet: { accessToken: '', expiresAt: 0 } }) }
  const update = { internal: { createdAt: 0 }, ...changed, value: query.get('value') }
  await (explicit.length > 0 ? idp.updateSession(request, headers, update) : idp.updateSession(update))
}

function loginOptions(query: URLSearchParams): StartInteractiveLoginOptions {
  const mode = query.get('response_mode')
  return {
    returnTo: query.get('returnTo') ?? '/',
    ...(mode === null ? {} : { authorizationParameters: { response_mode: mode } }),
  }
}

/** Updates that wait until their response has left, by their value. */
const late = new Map<string | null, { readonly release: () => void; readonly outcome: Promise<unknown> }>()

function saveLater(idp: IdpClient, call: Call): void {
  let release = (): void => {}
  const left = new Promise<void>((resolve) => {
    release = resolve
  })
  const outcome = left
    .then(() => save(idp, call))
    .then(
      () => ({ code: null }),
      (error: unknown) => ({ code: isIdpError(error) ? error.code : 'unknown' }),
    )
  late.set(call.query.get('value'), { release, outcome })
}

const handlers: Readonly<Record<string, Handler>> = {
  '/public': (_idp, { headers }) => {
    headers.set('cache-control', 'public, max-age=60')
    return new Response('public', { headers })
  },
  '/page': (idp, { request }) =>
    idp.withPageAuthRequired(async (guarded) => {
      const session = await idp.getSession(guarded)
      return new Response(`user=${session?.user.sub}`)
    })(request),
  '/api': (idp, { request }) =>
    idp.withApiAuthRequired(async (guarded) => {
      const session = await idp.getSession(guarded)
      return Response.json({ sub: session?.user.sub })
    })(request),
  '/resource': (idp, { request }) =>
    idp.withApiAuthRequired((_request, { auth }) => Response.json({ kind: auth.kind, sub: auth.sub }), {
      accept: [idp.resource({ audience: 'https://api.example.test/' })],
      authorize: ({ isClient }) => !isClient,
    })(request),
  '/shared': (idp, { request }) =>
    idp.withApiAuthRequired((_request, { auth }) => Response.json({ kind: auth.kind, sub: auth.sub }), {
      accept: ['session', idp.resource({ audience: 'https://api.example.test/' })],
    })(request),
  '/whoami': async (idp, { explicit, headers }) => {
    const session = await idp.getSession(...explicit)
    const known = {
      sub: session?.user.sub ?? null,
      value: session?.['value'] ?? null,
      hooked: session?.['hooked'] ?? null,
      createdAt: session?.internal.createdAt ?? null,
    }
    return Response.json(known, { headers })
  },
  '/unhandled': async (idp, { explicit }) => Response.json(await idp.getSession(...explicit)),
  '/update': async (idp, call) => {
    await save(idp, call)
    return Response.json({ ok: true }, { headers: call.headers })
  },
  '/app-cookie': async (idp, call) => {
    call.headers.append('set-cookie', 'app_before=1; Path=/')
    await save(idp, call)
    call.headers.append('set-cookie', 'app_after=1; Path=/')
    return Response.json({ ok: true }, { headers: call.headers })
  },
  '/token': async (idp, { explicit, headers }) =>
    Response.json(await idp.getAccessToken(explicit[0]), { headers }),
  '/late': (idp, call) => {
    saveLater(idp, call)
    return new Response('late', { headers: call.headers })
  },
  '/late-result': async (_idp, { query }) => {
    const update = late.get(query.get('value'))
    update?.release()
    return Response.json(await update?.outcome)
  },
  '/connect': (idp, { explicit: [request], query }) => {
    const options = { connection: 'github', returnTo: query.get('returnTo') ?? '/' }
    return request ? idp.connectAccount(request, options) : idp.connectAccount(options)
  },
  '/start': (idp, { explicit, query }) => idp.startInteractiveLogin(loginOptions(query), explicit[0]),
}

async function handle(idp: IdpClient, basePath: string, request: Request): Promise<Response> {
  const { pathname, searchParams: query } = new URL(request.url)
  const handler = pathname.startsWith(basePath) ? handlers[pathname.slice(basePath.length)] : undefined
  if (!handler) return new Response('not found', { status: 404 })
  const explicit: [] | [Request] = query.get('style') === 'ambient' ? [] : [request]
  try {
    return await handler(idp, { request, query, headers: new Headers(), explicit })
  } catch (error) {
    if (!isIdpError(error)) throw error
    // As a framework responds that shows messages.
    if (pathname.endsWith('/unhandled')) return new Response(String(error), { status: 500 })
    return Response.json({ code: error.code }, { status: 500 })
  }
}

const application: MakeApplication = (options, { basePath, target }) => {
  const idp = new IdpClient(options)
  idp.proxy({ prefix: '/proxied', target })
  return listenerOf((request) => idp.middleware(request, (passed) => handle(idp, basePath, passed)))
}

describe('adapter contract: Web Request and Response', () => {
  runContract(application, { cases: lateWriteContract })
})
