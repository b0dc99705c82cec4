import { once } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage, RequestListener } from 'node:http'
import { createServer, ServerResponse } from 'node:http'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import { connect, createServer as createHttp2Server } from 'node:http2'
import type { AddressInfo } from 'node:net'
import type { RequestHandler } from 'express'
import express from 'express'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { IdpClient } from '../../src/adapters/express/index.ts'
import { IdpClient as NodeIdpClient } from '../../src/adapters/node/index.ts'
import type { SessionData } from '../../src/index.ts'
import { clientOptions, SECRET, signedIn } from './client-options.ts'

/** A handler of the Express entry as hosts on `node:http` call it, which pass their own kind of `next`. */
type NodeHandler = (req: IncomingMessage, res: ServerResponse, next?: () => unknown) => Promise<unknown>

const toNode = (handler: RequestHandler): NodeHandler => handler as unknown as NodeHandler

function client(secret = SECRET): IdpClient {
  return new IdpClient({ ...clientOptions, secret })
}

type Get = (path: string) => Promise<{ readonly status: number; readonly location: string | null }>

async function serve(listener: RequestListener): Promise<Get> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return async (path) => {
    const { headers, status } = await fetch(`http://127.0.0.1:${port}${path}`, { redirect: 'manual' })
    return { status, location: headers.get('location') }
  }
}

test('[F5] the page guard stores the path of a request that has no originalUrl', async () => {
  const guard = toNode(client().withPageAuthRequired())
  const get = await serve((req, res) => void guard(req, res))
  expect(await get('/orders?page=2')).toEqual({
    status: 302,
    location: `/auth/login?returnTo=${encodeURIComponent('/orders?page=2')}`,
  })
})

test.each(['before', 'after'])(
  'a page of another site cannot pass as a reader by a method that middleware overrides %s that of the client',
  async (place) => {
    const app = express()
    const idp = client()
    if (place === 'after') app.use(idp.middleware)
    // As the package method-override does with a parameter of the query.
    app.use((request, _response, next) => {
      Object.assign(request, { originalMethod: request.method, method: request.query['_method'] })
      next()
    })
    app.use('/api', idp.withApiAuthRequired({ sameOrigin: true }), (_request, response) => {
      response.end('done')
    })
    const server = app.listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/orders?_method=GET`
    const headers = {
      ...(await signedIn()),
      'sec-fetch-site': 'same-site',
      origin: 'https://blog.example.com',
    }
    expect((await fetch(url, { method: 'POST', headers })).status).toBe(403)
    expect((await fetch(url, { headers })).status).toBe(200)
    // A link is enough where the application lets a GET be overridden, too.
    const deletion = url.replace('GET', 'DELETE')
    expect((await fetch(deletion, { headers })).status).toBe(403)
    const own = { ...(await signedIn()), 'sec-fetch-site': 'same-origin' }
    expect((await fetch(deletion, { headers: own })).status).toBe(200)
  },
)

test('[F6] the types accept request and response of HTTP/2, and its responses carry the cookies', async () => {
  const idp = new NodeIdpClient(clientOptions)
  const server = createHttp2Server((req, res) => {
    void idp.middleware(req, res, async () => {
      const { session } = await idp.requireLogin(req)
      res.setHeader('cache-control', 'public')
      res.end(session?.user.sub ?? '')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const http2 = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    http2.close()
    await new Promise((resolve) => server.close(resolve))
  })
  const { cookie } = await signedIn('due')
  const stream = http2.request({ ':path': '/page', cookie })
  const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  stream.setEncoding('utf8')
  expect((await stream.toArray()).join('')).toBe('carol')
  expect(head['set-cookie']).toEqual([expect.stringMatching(/^__session=/)])
  expect(head['cache-control']).toContain('no-store')
})

test('inside the middleware an update needs the request alone', async () => {
  const idp = new NodeIdpClient(clientOptions)
  const server = createServer((req, res) => {
    const handle = async (): Promise<void> => {
      const session = (await idp.getSession(req)) as SessionData
      await idp.updateSession({ ...session, value: 'written' }, req)
    }
    const end = (): void => void res.end()
    idp.middleware(req, res, handle).then(end, end)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const headers = { ...(await signedIn()), connection: 'close' }
  const { headers: sent } = await fetch(`http://127.0.0.1:${port}/page`, { headers })
  expect(sent.getSetCookie()).toEqual([expect.stringMatching(/^__session=/)])
})

test('inside the middleware a response that an operation gets is the one that carries its cookies', async () => {
  const idp = new NodeIdpClient(clientOptions)
  const carried: unknown[] = []
  const get = await serve((req, res) => {
    Object.assign(req.headers, signedInHeaders)
    const handle = async (): Promise<void> => {
      const session = (await idp.getSession(req)) as SessionData
      const own = new ServerResponse(req)
      await idp.updateSession({ ...session, value: 'written' }, req, own)
      carried.push(own.getHeader('set-cookie'), res.getHeader('set-cookie'))
      res.end()
    }
    void idp.middleware(req, res, handle)
  })
  const signedInHeaders = await signedIn()
  await get('/page')
  expect(carried).toEqual([[expect.stringMatching(/^__session=/)], undefined])
})

test('a request of HTTP/2 is read-only once its client has left', async () => {
  expect.assertions(1)
  const idp = new NodeIdpClient(clientOptions)
  const server = createHttp2Server()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const http2 = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(async () => {
    http2.close()
    await new Promise((resolve) => server.close(resolve))
  })
  const stream = http2.request({ ':path': '/page', ...(await signedIn()) })
  const [req, res] = (await once(server, 'request')) as [Http2ServerRequest, Http2ServerResponse]
  await idp.middleware(req, res, async () => {
    const left = once(res.stream, 'close')
    stream.close()
    await left
    const session = (await idp.getSession()) as SessionData
    const updating = idp.updateSession({ ...session, value: 'lost' })
    await expect(updating).rejects.toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })
})

test('[F8] the promise of the middleware settles after that of next', async () => {
  const middleware = toNode(client().middleware)
  const order: string[] = []
  const get = await serve(async (req, res) => {
    await middleware(req, res, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      order.push('next')
    })
    order.push('middleware')
    res.end()
  })
  await get('/page')
  expect(order).toEqual(['next', 'middleware'])
})

describe('[F7] a pattern that matches every path', () => {
  test.each(['/{*path}', '/auth/{*path}', /.*/])('serves the routes, mounted as %s', async (pattern) => {
    const idp = client()
    const app = express().use(pattern, idp.middleware)
    app.get('/orders', idp.withPageAuthRequired())
    const get = await serve(app)
    expect((await get('/auth/profile')).status).toBe(401)
    expect((await get('/auth/profile/')).status).toBe(401)
    expect((await get('/auth/access-token?audience=api')).status).toBe(401)
    expect((await get('/auth')).status).toBe(404)
    expect((await get('/orders')).location).toBe('/auth/login?returnTo=%2Forders')
  })

  test('serves the routes below a prefix that belongs to them', async () => {
    const app = express().use('/tenant', express.Router().use(client().middleware))
    const get = await serve(app)
    expect((await get('/tenant/auth/profile')).status).toBe(401)
    expect((await get('/tenant')).status).toBe(404)
    expect((await get('/auth/profile')).status).toBe(404)
  })
})

test.each(['development', 'production'])(
  '[N8] a page guard without settings sends the failure page, with the reason in development only: %s',
  async (environment) => {
    vi.stubEnv('NODE_ENV', environment)
    onTestFinished(() => void vi.unstubAllEnvs())
    const logger = vi.fn()
    const incomplete = new IdpClient({ ...clientOptions, secret: '', logger })
    const server = createServer(
      express().use(incomplete.withPageAuthRequired(), (_req, res) => res.send('page')),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const { port } = server.address() as AddressInfo
    const response = await fetch(`http://127.0.0.1:${port}/orders`, { headers: { connection: 'close' } })
    expect(response.status).toBe(500)
    const text = await response.text()
    expect(text).toContain('Login is not set up correctly')
    expect(text.includes('IDP_SECRET')).toBe(environment === 'development')
    expect(logger).toHaveBeenLastCalledWith(
      expect.objectContaining({ code: 'REQUEST_FAILED', error: 'INVALID_CONFIGURATION', level: 'error' }),
    )
  },
)

describe('[F4] a guard that fails to decide', () => {
  const failure = new TypeError('the page cannot be named')
  const rejecting = (thrown: unknown): NodeHandler =>
    toNode(client().withPageAuthRequired({ returnTo: () => Promise.reject(thrown) }))

  /** How a guard ends on a host with that `next`. */
  async function outcome(guard: NodeHandler, next: () => unknown): Promise<unknown> {
    const ended: unknown[] = []
    const get = await serve(async (req, res) => {
      ended.push(
        await guard(req, res, next).then(
          () => 'resolved',
          (error: unknown) => error,
        ),
      )
      res.end()
    })
    await get('/orders')
    return ended[0]
  }

  test('passes its error to a next that accepts one', async () => {
    const next = vi.fn<(error?: unknown) => void>((_error) => {})
    const taking = (error?: unknown): void => next(error)
    expect(await outcome(rejecting(failure), taking)).toBe('resolved')
    expect(next.mock.calls).toEqual([[failure]])
  })

  test('rejects, and never calls a next that accepts no error and would let the request pass', async () => {
    const next = vi.fn()
    const passing = (): void => next()
    expect(await outcome(rejecting(failure), passing)).toBe(failure)
    expect(next).not.toHaveBeenCalled()
  })

  test.each([undefined, null, '', 0, 'route', 'router'])(
    'passes an error instead of %o, which would let the request pass',
    async (thrown) => {
      const next = vi.fn<(error?: unknown) => void>((_error) => {})
      const taking = (error?: unknown): void => next(error)
      expect(await outcome(rejecting(thrown), taking)).toBe('resolved')
      expect(next.mock.calls).toEqual([[expect.objectContaining({ code: 'INTERNAL_ERROR', cause: thrown })]])
    },
  )
})

test.each(['middleware', 'withPageAuthRequired', 'withApiAuthRequired'] as const)(
  '[F4] %s names its parameters if the host passes something else',
  async (name) => {
    const idp = client()
    const handlers = {
      middleware: idp.middleware,
      withPageAuthRequired: idp.withPageAuthRequired(),
      withApiAuthRequired: idp.withApiAuthRequired(),
    }
    const handler = toNode(handlers[name])
    const context = { req: {}, res: {}, url: '/', method: 'GET', headers: {} }
    const next = vi.fn()
    await expect(handler(context as never, next as never)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENTS',
      message: expect.stringContaining('(req, res, next) of Express 4 or 5'),
    })
    expect(next).not.toHaveBeenCalled()
  },
)
