import type { IncomingHttpHeaders, Server } from 'node:http'
import { request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { ErrorRequestHandler, Express } from 'express'
import express from 'express'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { generateCookieHeader } from '../../testing/session-cookie.ts'
import type { IdpClientOptions } from './index.ts'
import { customFetch, IdpClient, isIdpError, sendResponse } from './index.ts'

const secret = 'a secret for tests, long enough to be taken as one'
const provider = 'https://idp.example.com'
const metadata = {
  issuer: provider,
  authorization_endpoint: `${provider}/authorize`,
  token_endpoint: `${provider}/token`,
  jwks_uri: `${provider}/jwks`,
  end_session_endpoint: `${provider}/logout`,
  response_types_supported: ['code'],
  subject_types_supported: ['public'],
  id_token_signing_alg_values_supported: ['RS256'],
}

/** A client whose provider only publishes its metadata, which is all that a login needs to begin. */
function client(options: IdpClientOptions = {}): IdpClient {
  return new IdpClient({
    domain: 'idp.example.com',
    clientId: 'client',
    clientSecret: 'client-secret',
    secret,
    logger: () => {},
    [customFetch]: async () => Response.json(metadata),
    ...options,
  })
}

interface ReceivedResponse {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

type Get = (path: string, headers?: Record<string, string>, body?: string) => Promise<ReceivedResponse>

/** Starts an application; requests go out as they are written, whatever `fetch` would correct. */
async function start(app: Express): Promise<Get> {
  const onError: ErrorRequestHandler = (error, _req, res, _next) => {
    res.status(599).send(isIdpError(error) ? error.code : String(error))
  }
  const server = await new Promise<Server>((resolve) => {
    const listening = app.use(onError).listen(0, '127.0.0.1', () => resolve(listening))
  })
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return (path, headers = {}, body) =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, headers, method: body === undefined ? 'GET' : 'POST' }
      const request = httpRequest(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk
        })
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
        )
      })
      request.once('error', reject).end(body)
    })
}

const carol = { user: { sub: 'carol' } }

describe('middleware', () => {
  test('is a function that works without its instance', async () => {
    const { middleware } = client()
    const get = await start(express().use(middleware))
    expect((await get('/auth/profile')).status).toBe(401)
  })

  test('rejects a hostile host on auth routes and lets public pages pass', async () => {
    const app = express().use(client().middleware)
    app.get('/public', (_req, res) => void res.send('public'))
    const get = await start(app)
    for (const host of ['evil.example/auth', 'user@evil.example', '[', 'a b']) {
      expect((await get('/auth/login', { host })).status).toBe(400)
      expect(await get('/public', { host })).toMatchObject({ status: 200, text: 'public' })
    }
  })

  test('ignores the origin of a target in absolute form', async () => {
    const get = await start(express().use(client({ appBaseUrl: 'https://app.example.com' }).middleware))
    const { headers, status } = await get('http://evil.example/auth/login')
    const location = new URL(String(headers.location))
    expect(status).toBe(302)
    expect(location.searchParams.get('redirect_uri')).toBe('https://app.example.com/auth/callback')
  })

  test('responds below a mount path if appBaseUrl has that path', async () => {
    const app = express().use('/app', client({ appBaseUrl: 'https://example.com/app' }).middleware)
    app.use((_req, res) => void res.status(404).send('not mine'))
    const get = await start(app)
    const { headers, status } = await get('/app/auth/login')
    expect(status).toBe(302)
    const redirectUri = new URL(String(headers.location)).searchParams.get('redirect_uri')
    expect(redirectUri).toBe('https://example.com/app/auth/callback')
    expect((await get('/auth/login')).status).toBe(404)
  })

  test('keeps cookies and headers that the application set on the response of an auth route', async () => {
    const app = express().use((_req, res, next) => {
      res.cookie('earlier', '1').set('X-Earlier', 'yes')
      next()
    })
    const get = await start(app.use(client().middleware))
    const { headers } = await get('/auth/login')
    expect(headers['x-earlier']).toBe('yes')
    expect(headers['set-cookie']?.map((line) => line.split('=', 1)[0])).toEqual([
      'earlier',
      expect.stringMatching(/^__txn_/),
    ])
  })

  test('passes errors outside the routes to next', async () => {
    const app = express().use((req, _res, next) => {
      Object.defineProperty(req, 'headers', { value: null })
      next()
    })
    const get = await start(app.use(client().middleware))
    expect((await get('/public')).status).toBe(599)
  })
})

describe('ambient calls', () => {
  test('find the current request after timers, body parsers and requests of other users', async () => {
    const idp = client()
    const app = express().use(idp.middleware, express.urlencoded())
    app.post('/whoami', async (req, res) => {
      await new Promise((resolve) => setTimeout(resolve, Number(req.body.wait)))
      res.send((await idp.getSession())?.user.sub)
    })
    const get = await start(app)
    const bodies = await Promise.all(
      ['20', '0', '10', '5'].map(async (wait) => {
        const cookie = await generateCookieHeader({ user: { sub: `user-${wait}` } }, { secret })
        const headers = { cookie, 'content-type': 'application/x-www-form-urlencoded' }
        return (await get('/whoami', headers, `wait=${wait}`)).text
      }),
    )
    expect(bodies).toEqual(['user-20', 'user-0', 'user-10', 'user-5'])
  })

  test('fail with different codes without the middleware and without a session', async () => {
    const idp = client()
    await expect(idp.getSession()).rejects.toMatchObject({ code: 'AMBIENT_REQUEST_MISSING' })
    await expect(idp.startInteractiveLogin()).rejects.toMatchObject({ code: 'AMBIENT_REQUEST_MISSING' })
  })

  test('work behind a guard without the middleware', async () => {
    const idp = client()
    const app = express().get('/page', idp.withPageAuthRequired(), async (_req, res) => {
      res.send((await idp.getSession())?.user.sub)
    })
    const cookie = await generateCookieHeader(carol, { secret })
    const get = await start(app)
    expect(await get('/page', { cookie })).toMatchObject({ status: 200, text: 'carol' })
  })
})

describe('guards', () => {
  test('redirect to the login with the requested URL, also in a mounted router', async () => {
    const idp = client()
    const router = express
      .Router()
      .get('/page', idp.withPageAuthRequired(), (_req, res) => void res.send('in'))
    const get = await start(express().use('/section', router))
    const { headers, status } = await get('/section/page?a=b%26c')
    const expected = `/auth/login?returnTo=${encodeURIComponent('/section/page?a=b%26c')}`
    expect([status, headers.location]).toEqual([302, expected])
  })

  test('never redirect to another site for a path that begins with two slashes', async () => {
    const idp = client({ appBaseUrl: 'https://app.example.com' })
    const app = express().use(idp.middleware, idp.withPageAuthRequired())
    const get = await start(app)
    for (const path of [
      '//evil.example/x',
      '/\\evil.example/x',
      '/%2fevil.example/x',
      '//evil.example/%2f..',
    ]) {
      const { headers } = await get(path)
      expect(headers.location).toMatch(/^\/auth\/login(?:\?returnTo=[^/]+)?$/)
    }
  })

  test('accept a fixed returnTo, a function of the request, and a handler', async () => {
    const idp = client()
    const handler = vi.fn<express.RequestHandler>((_req, res) => void res.send('in'))
    const app = express()
    app.get('/fixed', idp.withPageAuthRequired(handler, { returnTo: '/there' }))
    app.get('/by-request', idp.withPageAuthRequired({ returnTo: async (req) => `${req.path}/done` }))
    app.get('/api', idp.withApiAuthRequired(handler))
    const get = await start(app)
    expect((await get('/fixed')).headers.location).toBe('/auth/login?returnTo=%2Fthere')
    expect((await get('/by-request')).headers.location).toBe('/auth/login?returnTo=%2Fby-request%2Fdone')
    expect((await get('/api')).status).toBe(401)
    expect(handler).not.toHaveBeenCalled()
    const cookie = await generateCookieHeader(carol, { secret })
    for (const path of ['/fixed', '/api']) expect((await get(path, { cookie })).text).toBe('in')
    expect(handler).toHaveBeenCalledTimes(2)
  })

  test('pass errors of the handler and of the check to next, but a failure page for missing options', async () => {
    const idp = client()
    const app = express()
    app.get(
      '/throws',
      idp.withPageAuthRequired(() => Promise.reject(new Error('of the handler'))),
    )
    const target = (): never => {
      throw new Error('of returnTo')
    }
    app.get('/undecided', idp.withPageAuthRequired({ returnTo: target }))
    app.get('/unconfigured', client({ secret: '' }).withPageAuthRequired())
    const get = await start(app)
    const cookie = await generateCookieHeader(carol, { secret })
    expect(await get('/throws', { cookie })).toMatchObject({ status: 599, text: 'Error: of the handler' })
    expect(await get('/undecided')).toMatchObject({ status: 599, text: 'Error: of returnTo' })
    expect(await get('/unconfigured', { cookie })).toMatchObject({
      status: 500,
      text: expect.stringContaining('INVALID_CONFIGURATION'),
    })
  })
})

describe('writing', () => {
  test('fails with an error code after the headers were sent, and without a response', async () => {
    const idp = client()
    const app = express().use(idp.middleware)
    const session = { ...carol, tokenSet: { accessToken: 't', expiresAt: 0 }, internal: { createdAt: 0 } }
    app.get('/late', async (_req, res) => {
      res.flushHeaders()
      res.end(await idp.updateSession(session).catch((error: unknown) => isIdpError(error) && error.code))
    })
    const get = await start(app)
    const cookie = await generateCookieHeader(carol, { secret })
    expect((await get('/late', { cookie })).text).toBe('SESSION_NOT_WRITABLE')
  })

  test('a login that was started without a response returns its cookie in the Response', async () => {
    const idp = client()
    const app = express()
    app.get('/join', async (req, res) => sendResponse(res, await idp.startInteractiveLogin({}, req)))
    const get = await start(app)
    const { headers, status } = await get('/join')
    expect(status).toBe(302)
    expect(headers['set-cookie']).toEqual([expect.stringMatching(/^__txn_/)])
    expect(headers['cache-control']).toContain('no-store')
  })

  test('a login that was started with a response sets its cookie despite res.redirect', async () => {
    const idp = client()
    const app = express()
    app.get('/join', async (req, res) => {
      const { headers } = await idp.startInteractiveLogin({ returnTo: '/x' }, req, res)
      res.redirect(String(headers.get('location')))
    })
    const get = await start(app)
    expect((await get('/join')).headers['set-cookie']).toEqual([expect.stringMatching(/^__txn_/)])
  })
})
