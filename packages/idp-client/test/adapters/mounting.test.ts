import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import type { NextRequest } from 'next/server.js'
import { describe, expect, test } from 'vitest'
import { IdpClient as AstroClient } from '../../src/adapters/astro/index.ts'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import { IdpClient as KoaClient } from '../../src/adapters/koa/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import { IdpClient as NodeClient } from '../../src/adapters/node/index.ts'
import { IdpClient as NuxtClient } from '../../src/adapters/nuxt/index.ts'
import { IdpClient as ReactRouterClient } from '../../src/adapters/react-router/index.ts'
import { IdpClient as SvelteKitClient } from '../../src/adapters/sveltekit/index.ts'
import { IdpClient as TanStackClient } from '../../src/adapters/tanstack-start/index.ts'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { isContinue, isIdpError, IdpClient as WebClient } from '../../src/index.ts'
import { APP, clientOptions, signedIn } from './client-options.ts'

// Hono, Fastify and NestJS: tests with the real frameworks in e2e/hosts.

type Next<Sent> = () => Promise<Sent>

/** A client as a framework calls it, for one request: each function gets what that framework passes to handlers. */
interface Mounted<Sent> {
  /** The middleware. */
  serve(next: Next<Sent>): Promise<Sent>
  /** A guard, if it requires the middleware. */
  guard?(): Promise<unknown>
}

interface WebRow {
  readonly name: string
  /** The line to write. */
  readonly line: string
  mount(options: IdpClientOptions, request: Request): Mounted<Response>
}

const webHosts: readonly WebRow[] = [
  {
    name: 'Web',
    line: 'idp.middleware',
    mount(options, request) {
      const idp = new WebClient(options)
      return { serve: (next) => idp.middleware(request, next) }
    },
  },
  {
    name: 'Next.js',
    line: 'export const proxy = (request) => idp.middleware(request) in proxy.ts',
    mount(options, request) {
      const idp = new NextClient(options)
      return { serve: (next) => idp.middleware(request as NextRequest, next) }
    },
  },
  {
    name: 'SvelteKit',
    line: 'export const handle = idp.handle in src/hooks.server.ts',
    mount(options, request) {
      const idp = new SvelteKitClient(options)
      const event = {
        request,
        url: new URL(request.url),
        locals: {},
        cookies: { set() {} },
        isSubRequest: false,
        setHeaders() {},
      }
      return { serve: (resolve) => idp.handle({ event, resolve }), guard: () => idp.requireLogin(event) }
    },
  },
  {
    name: 'Astro',
    line: 'export const onRequest = idp.onRequest in src/middleware.ts',
    mount(options, request) {
      const idp = new AstroClient(options)
      const context = { request, url: new URL(request.url), locals: {}, isPrerendered: false }
      return { serve: (next) => idp.onRequest(context, next), guard: () => idp.requireLogin(context) }
    },
  },
  {
    name: 'React Router',
    line: 'export const middleware = [idp.middleware] in app/root.tsx',
    mount(options, request) {
      const idp = new ReactRouterClient(options)
      const args = { request, context: new Map() }
      return { serve: (next) => idp.middleware(args, next), guard: () => idp.requireLogin(args) }
    },
  },
  {
    name: 'TanStack Start',
    line: 'requestMiddleware: [createMiddleware().server(idp.middleware)] in src/start.ts',
    mount(options, request) {
      const idp = new TanStackClient(options)
      return {
        serve: (next) => idp.middleware({ request, next: async () => ({ response: await next() }) }),
        guard: () => idp.requireLogin(),
      }
    },
  },
]

interface NodeRow {
  readonly name: string
  readonly line: string
  mount(options: IdpClientOptions, req: IncomingMessage, res: ServerResponse): Mounted<unknown>
}

const nodeHosts: readonly NodeRow[] = [
  {
    name: 'Node.js',
    line: 'idp.middleware',
    mount(options, req, res) {
      const idp = new NodeClient(options)
      return { serve: (next) => idp.middleware(req, res, next) }
    },
  },
  {
    name: 'Express',
    line: 'idp.middleware',
    mount(options, req, res) {
      const idp = new ExpressClient(options)
      const [request, response] = [req as never, res as never]
      return { serve: (next) => idp.middleware(request, response, next) }
    },
  },
  {
    name: 'Koa',
    line: 'app.use(idp.middleware)',
    mount(options, req, res) {
      const idp = new KoaClient(options)
      const { headers, method, socket, url = '/' } = req
      const context = {
        request: { headers, method, socket, url, originalUrl: url, req },
        res,
        path: url,
        originalUrl: url,
        query: {},
        state: {},
        status: 200,
        body: null as unknown,
        set() {},
        append() {},
        remove() {},
      }
      return {
        serve: async (next) => {
          await idp.middleware(context, next)
          res.statusCode = context.status
        },
        guard: async () => idp.requireLogin()(context, async () => {}),
      }
    },
  },
  {
    name: 'Nuxt',
    line: 'export default idp.plugin in server/plugins/idp.ts',
    mount(options, req, res) {
      const idp = new NuxtClient(options)
      const event = { node: { req, res }, context: {} }
      return {
        async serve(next) {
          const app = { h3App: { handler: (): unknown => next() } }
          idp.plugin(app)
          const { handler } = app.h3App as { handler(given: typeof event): unknown }
          return handler(event)
        },
        guard: () => idp.requireLogin(event),
      }
    },
  },
]

/** A form as the provider posts it; if `isRead`, other code has read its body. */
async function toWebRequest(path: string, isRead: boolean): Promise<Request> {
  const request = new Request(APP + path, { method: 'POST', body: new URLSearchParams({ state: 'state' }) })
  if (isRead) await request.text()
  return request
}

async function toNodeRequest(path: string, isRead: boolean): Promise<[IncomingMessage, ServerResponse]> {
  const req = Object.assign(new IncomingMessage(new Socket()), {
    url: path,
    method: 'POST',
    headers: { host: 'app.example', 'content-type': 'application/x-www-form-urlencoded' },
  })
  req.push('state=state')
  req.push(null)
  if (isRead) await text(req)
  return [req, new ServerResponse(req)]
}

interface Host {
  readonly name: string
  readonly line: string
  /** Creates a client, and passes one request to it. */
  mount(options: IdpClientOptions, path: string, isRead?: boolean): Promise<Mounted<unknown>>
}

const hosts: readonly Host[] = [
  ...webHosts.map(({ line, mount, name }) => ({
    name,
    line,
    mount: async (options: IdpClientOptions, path: string, isRead = false) =>
      mount(options, await toWebRequest(path, isRead)) as Mounted<unknown>,
  })),
  ...nodeHosts.map(({ line, mount, name }) => ({
    name,
    line,
    mount: async (options: IdpClientOptions, path: string, isRead = false) =>
      mount(options, ...(await toNodeRequest(path, isRead))),
  })),
]

const respond = async (): Promise<Response> => new Response('page')

async function errorOf(failing: Promise<unknown> | undefined): Promise<{ code: unknown; message: string }> {
  const error: unknown = await failing?.then(
    () => 'no error',
    (thrown: unknown) => thrown,
  )
  if (!isIdpError(error)) throw new Error(`not an error of the library: ${String(error)}`)
  return error
}

describe.each(hosts)('$name', ({ line, mount }) => {
  test('rejects a second mount, with the line to keep', async () => {
    const { serve } = await mount(clientOptions, '/page')
    const { code, message } = await errorOf(serve(() => serve(respond)))
    expect(code).toBe('INVALID_CONFIGURATION')
    expect(message).toContain('mounted twice')
    expect(message).toContain(line)
  })
})

/** A request to an address that `appBaseUrl` does not list, as the hosts get it; returns the status and the cookies. */
interface Misdirected {
  readonly name: string
  send(options: IdpClientOptions, path: string, next: () => Promise<Response>): Promise<[number, string[]]>
}

async function misdirectedHeaders(use: 'fresh' | 'due'): Promise<Record<string, string>> {
  return { host: 'evil.example', 'sec-fetch-mode': 'navigate', ...(await signedIn(use)) }
}

const misdirected = (use: 'fresh' | 'due'): readonly Misdirected[] => [
  ...webHosts.map(
    ({ mount, name }): Misdirected => ({
      name,
      async send(options, path, next) {
        const request = new Request(`https://evil.example${path}`, { headers: await misdirectedHeaders(use) })
        const { headers, status } = await mount(options, request).serve(next)
        return [status, headers.getSetCookie()]
      },
    }),
  ),
  ...nodeHosts.map(
    ({ mount, name }): Misdirected => ({
      name,
      async send(options, path, next) {
        const headers = await misdirectedHeaders(use)
        const req = Object.assign(new IncomingMessage(new Socket()), { url: path, method: 'GET', headers })
        const res = new ServerResponse(req)
        await mount(options, req, res).serve(next)
        return [res.statusCode, [res.getHeader('set-cookie') ?? []].flat().map(String)]
      },
    }),
  ),
]

describe.each(['fresh', 'due'] as const)(
  '[Q6] a host that appBaseUrl does not list, with a %s session',
  (use) => {
    test.each(misdirected(use))(
      '$name: no route acts, pages are served, and the session stays',
      async ({ send }) => {
        const events: LogEvent[] = []
        const options = {
          ...clientOptions,
          appBaseUrl: [APP],
          logger: (event: LogEvent) => events.push(event),
        }
        for (const path of ['/auth/login', '/auth/callback?code=c&state=s', '/auth/logout'])
          expect([path, await send(options, path, respond)]).toEqual([path, [400, []]])
        expect(events).toEqual(
          Array.from({ length: 3 }, () =>
            expect.objectContaining({
              error: 'BASE_URL_NOT_ALLOWED',
              detail: expect.stringContaining('https://app.example'),
            }),
          ),
        )
        let served = 0
        const [status, cookies] = await send(options, '/page', () => {
          served++
          return respond()
        })
        expect([status, cookies, served]).toEqual([200, [], 1])
      },
    )
  },
)

describe('Next.js', () => {
  const idp = new NextClient(clientOptions)
  const request = (): NextRequest => new Request(`${APP}/page`) as NextRequest

  test('rejects a second mount that passes the request to no other middleware', async () => {
    const page = request()
    const { code, message } = await errorOf(idp.middleware(page, () => idp.middleware(page)))
    expect(code).toBe('INVALID_CONFIGURATION')
    expect(message).toMatch(/in proxy\.ts, before Next\.js 16 .* in middleware\.ts/)
  })

  test('serves a request again after the middleware has returned or thrown', async () => {
    const page = request()
    await expect(idp.middleware(page, () => Promise.reject(new Error('of the next one')))).rejects.toThrow()
    for (const _time of ['first', 'second']) {
      expect(await (await idp.middleware(page, respond)).text()).toBe('page')
      expect((await idp.middleware(page)).headers.get('x-middleware-next')).toBe('1')
    }
  })

  test('serves a request in the middleware of another client', async () => {
    const page = request()
    const other = new NextClient(clientOptions)
    const response = await idp.middleware(page, () => other.middleware(page, respond))
    expect(await response.text()).toBe('page')
  })
})

const withoutMiddleware = ['Web', 'Next.js', 'Node.js', 'Express']

describe.each(hosts.filter(({ name }) => !withoutMiddleware.includes(name)))('$name', ({ line, mount }) => {
  test('rejects a guard without the middleware, with the line to write', async () => {
    const { guard } = await mount(clientOptions, '/page')
    const { code, message } = await errorOf(guard?.())
    expect(code).toBe('AMBIENT_REQUEST_MISSING')
    expect(message).toContain(line)
  })
})

describe.each(hosts)('$name', ({ line, mount }) => {
  test('[F11] reports a form that was read before the middleware, with the line to mount first', async () => {
    const events: LogEvent[] = []
    const { serve } = await mount(
      { ...clientOptions, logger: (event) => events.push(event) },
      '/auth/callback',
      true,
    )
    await serve(respond)
    expect(events).toEqual([expect.objectContaining({ error: 'INVALID_REQUEST' })])
    expect(JSON.stringify(events)).toContain(line)
    expect(JSON.stringify(events)).not.toContain('express.')
  })
})

describe('[F9] the continue response', () => {
  const request = (): Request => new Request(`${APP}/page`)
  const web = new WebClient(clientOptions)

  test.each(webHosts)('is never the response of $name, whose handler has one', async ({ mount }) => {
    const response = await mount(clientOptions, request()).serve(respond)
    expect([isContinue(response), await response.text()]).toEqual([false, 'page'])
  })

  test.each([
    ['Bun, with its server', { port: 3000 }],
    ['Workers, with their environment', { KV: {} }],
  ])('is not the response to a call by %s in place of a handler', async (_name, second) => {
    const { code, message } = await errorOf(web.middleware(request(), second as never))
    expect([code, message]).toEqual([
      'INVALID_ARGUMENTS',
      expect.stringContaining('idp.middleware(request, next)'),
    ])
  })

  test('is not the response of a framework whose call has no handler', async () => {
    const idp = new ReactRouterClient(clientOptions)
    const call = idp.middleware as unknown as (args: object) => Promise<Response>
    const { code, message } = await errorOf(call({ request: request(), context: new Map() }))
    expect([code, message]).toEqual([
      'INVALID_ARGUMENTS',
      expect.stringContaining('[idp.middleware] in app/root.tsx'),
    ])
  })

  test('is empty, and recognized, if the application calls the middleware without a handler', async () => {
    const response = await web.middleware(request())
    expect([response.status, await response.text(), isContinue(response)]).toEqual([200, '', true])
  })
})
