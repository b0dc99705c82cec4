import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { clientOptions, SECRET, signedIn } from '../../../test/adapters/client-options.ts'
import { generateCookieHeader } from '../../testing/session-cookie.ts'
import { sendResponse } from '../node/send.ts'
import type { FrameworkRequest, LogEvent, NitroApp, SessionData } from './index.ts'
import { IdpClient, isIdpError } from './index.ts'

const client = (): IdpClient => new IdpClient(clientOptions)

/** Sends a request of the application to itself; returns the lines of cookies, which do not reach the browser. */
type FetchItself = (path: string, cookie?: string) => Promise<unknown>

/** Starts an application as Nitro does: plugins may replace the handler, which sends what event handlers return. */
async function start(
  handler: (event: FrameworkRequest, fetchItself: FetchItself) => unknown,
  plugin?: (nitroApp: NitroApp) => void,
): Promise<(path: string, headers?: Record<string, string>) => Promise<Response>> {
  // As `event.$fetch` does: the handler of the application gets a request and a response without a connection.
  const fetchItself: FetchItself = async (path, cookie) => {
    const req = Object.assign(new IncomingMessage(new Socket()), { url: path, method: 'GET' })
    req.headers = { host: 'localhost', ...(cookie === undefined ? {} : { cookie }) }
    const res = new ServerResponse(req)
    await nitroApp.h3App.handler({ node: { req, res }, context: {} })
    return res.getHeader('set-cookie')
  }
  const nitroApp: NitroApp = {
    h3App: {
      handler: async (event) => {
        const value = await handler(event, fetchItself)
        await sendResponse(event.node.res, value instanceof Response ? value : Response.json(value ?? null))
      },
    },
  }
  plugin?.(nitroApp)
  const server = createServer(async (req, res) => {
    try {
      await nitroApp.h3App.handler({ node: { req, res }, context: {} })
    } catch (error) {
      res.writeHead(599).end(isIdpError(error) ? error.message : String(error))
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return (path, headers = {}) => fetch(`http://127.0.0.1:${port}${path}`, { headers, redirect: 'manual' })
}

describe('plugin', () => {
  test('names the versions that it needs, in an application of h3 2', () => {
    expect(() => client().plugin({ h3: {} } as unknown as NitroApp)).toThrow(
      'needs h3 1: Nuxt 3 or 4, or Nitro 2',
    )
  })

  test('responds to the auth routes and works without its instance', async () => {
    const { plugin } = client()
    const get = await start(() => 'page', plugin)
    expect((await get('/auth/profile')).status).toBe(401)
    expect(await (await get('/page')).json()).toBe('page')
  })

  test('runs handlers inside the ambient scope', async () => {
    const idp = client()
    const get = await start(async () => (await idp.getSession())?.user.sub, idp.plugin)
    expect(await (await get('/', await signedIn())).json()).toBe('carol')
  })

  test.each([
    ['/shop', {}, ['FRAMEWORK_PUBLIC_BASE_PATH=/shop']],
    ['/shop', { FRAMEWORK_PUBLIC_BASE_PATH: '/shop' }, []],
    ['/', {}, []],
  ])('reports the base path %j of Nitro once with %j: %j', async (route, variables, named) => {
    onTestFinished(() => void vi.unstubAllEnvs())
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
    const events: LogEvent[] = []
    const { plugin } = new IdpClient({ ...clientOptions, logger: (event) => events.push(event) })
    const router = { handler: () => 'routes' }
    const stack = [
      { route: '/middleware', handler: () => undefined },
      { route, handler: router.handler },
    ]
    const get = await start(
      () => 'page',
      ({ h3App }) => plugin({ h3App: Object.assign(h3App, { stack }), router }),
    )
    await get('/other')
    await get('/shop')
    expect(events.map((event) => /FRAMEWORK\w+=[^, ]+/.exec(JSON.stringify(event))?.[0])).toEqual(named)
  })

  test('that is mounted twice says so', async () => {
    const idp = client()
    const get = await start(
      () => 'page',
      (nitroApp) => {
        idp.plugin(nitroApp)
        idp.plugin(nitroApp)
      },
    )
    const response = await get('/')
    expect([response.status, await response.text()]).toEqual([599, expect.stringContaining('mounted twice')])
  })
})

describe('guards', () => {
  test('return the session, or a response', async () => {
    const idp = client()
    const get = await start(async (event) => {
      const { response, session } = await idp.requireLogin(event)
      return response ?? session?.user.sub
    }, idp.plugin)
    expect(await (await get('/page', await signedIn())).json()).toBe('carol')
    const { headers, status } = await get('/page?q=a%20b')
    expect([status, headers.get('location')]).toEqual([302, '/auth/login?returnTo=%2Fpage%3Fq%3Da%2520b'])
  })

  test('wrap event handlers, which h3 recognizes', async () => {
    const idp = client()
    const api = idp.withApiAuthRequired(async (event) => (await idp.getSession(event))?.user.sub)
    expect(api.__is_handler__).toBe(true)
    const get = await start(api, idp.plugin)
    expect(await (await get('/api', await signedIn())).json()).toBe('carol')
    expect((await get('/api')).status).toBe(401)
    const page = await start(
      idp.withPageAuthRequired(() => 'page'),
      idp.plugin,
    )
    expect((await page('/page')).status).toBe(302)
  })

  test.each(['requireLogin', 'requireAuth'] as const)(
    '%s without the plugin throws and names the line',
    async (guard) => {
      const idp = client()
      const get = await start((event) => idp[guard](event))
      const response = await get('/page', await signedIn())
      expect([response.status, await response.text()]).toEqual([
        599,
        expect.stringContaining('export default idp.plugin in server/plugins/idp.ts'),
      ])
    },
  )

  test('reject unknown options when they are created', () => {
    const unknown = { role: 'admin' } as never
    expect(() => client().withPageAuthRequired(() => 'page', unknown)).toThrow('role is not an option')
    expect(() => client().withApiAuthRequired(() => 'api', unknown)).toThrow('role is not an option')
  })
})

describe('a request that the application sends to itself', () => {
  const update = async (idp: IdpClient, event: FrameworkRequest, value: string): Promise<void> => {
    const session = (await idp.getSession(event)) as SessionData
    await idp.updateSession({ ...session, value }, event)
  }
  const readNext = async (idp: IdpClient, { headers }: Response): Promise<unknown> => {
    const cookie = headers
      .getSetCookie()
      .map((line) => line.split(';', 1)[0])
      .join('; ')
    const get = await start(async (event) => (await idp.getSession(event))?.['value'], idp.plugin)
    return (await get('/', { cookie })).json()
  }

  test('saves the session with the response of the outer request, which sees it', async () => {
    const idp = client()
    const { cookie } = await signedIn()
    const get = await start(async (event, fetchItself) => {
      if (event.node.req.url === '/inner') return update(idp, event, 'inner')
      expect(await fetchItself('/inner', cookie)).toBeUndefined()
      return [(await idp.getSession(event))?.['value'], (await idp.getSession())?.['value']]
    }, idp.plugin)
    const response = await get('/', { cookie })
    expect(await response.json()).toEqual(['inner', 'inner'])
    expect(await readNext(idp, response)).toBe('inner')
    expect(response.headers.get('cache-control')).toContain('no-store')
  })

  test.each(['first', 'second'])(
    'sees what the outer request has saved: the %s of two clients',
    async (which) => {
      const [first, second] = [client(), client()]
      const idp = which === 'first' ? first : second
      const { cookie } = await signedIn()
      let seen: unknown
      const get = await start(
        async (event, fetchItself) => {
          if (event.node.req.url === '/inner') {
            seen = (await idp.getSession(event))?.['value']
            return
          }
          await update(idp, event, 'outer')
          await fetchItself('/inner', cookie)
          expect(await fetchItself('/auth/profile', cookie)).toBeUndefined()
        },
        (nitroApp) => {
          second.plugin(nitroApp)
          first.plugin(nitroApp)
        },
      )
      const response = await get('/', { cookie })
      expect([seen, await readNext(idp, response)]).toEqual(['outer', 'outer'])
    },
  )

  test('with other cookies has their session, and cannot save it', async () => {
    const idp = client()
    const bob = await generateCookieHeader({ user: { sub: 'bob' } }, { secret: SECRET })
    const get = await start(async (event, fetchItself) => {
      if (event.node.req.url !== '/inner') {
        await fetchItself('/inner')
        return fetchItself('/inner', bob)
      }
      const isBob = event.node.req.headers.cookie !== undefined
      for (const session of [await idp.getSession(event), await idp.getSession()]) {
        expect(session?.user.sub).toBe(isBob ? 'bob' : undefined)
      }
      return isBob ? update(idp, event, 'lost') : undefined
    }, idp.plugin)
    const response = await get('/', await signedIn())
    expect([response.status, await response.text()]).toEqual([599, expect.stringMatching(/cookie|response/i)])
    expect(response.headers.getSetCookie()).toEqual([])
  })

  test('cannot save once the response of the outer request has left', async () => {
    const idp = client()
    const { cookie } = await signedIn()
    let late: Promise<unknown> = Promise.resolve()
    const get = await start(async (event, fetchItself) => {
      if (event.node.req.url === '/inner') return update(idp, event, 'late')
      const left = new Promise((resolve) => {
        event.node.res.once('close', () => resolve(undefined))
      })
      late = left.then(() => fetchItself('/inner', cookie)).catch((error: unknown) => error)
    }, idp.plugin)
    await (await get('/', { cookie })).text()
    expect(await late).toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })
})

test('[Q4] a request that a cached handler sends to the application saves nothing, even with the cookies of the user', async () => {
  const idp = client()
  const { cookie } = await signedIn()
  let attempt: unknown
  const get = await start(async (event, fetchItself) => {
    if (event.node.req.url === '/inner') {
      const session = (await idp.getSession(event)) as SessionData
      return idp.updateSession({ ...session, value: 'lost' }, event)
    }
    // As Nitro does; the option `varies` lets the handler read cookies.
    Object.assign(event.context, { cache: { options: { getKey: () => 'key' } } })
    attempt = await fetchItself('/inner', cookie).catch((error: unknown) => error)
    return 'cached'
  }, idp.plugin)
  const response = await get('/', { cookie })
  expect(attempt).toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  expect([response.status, response.headers.getSetCookie()]).toEqual([200, []])
})

test('a cached handler is anonymous with its event, and needs it', async () => {
  const idp = client()
  const get = await start(async ({ context, node: { req, res } }) => {
    // As Nitro does: an event without cookies, whose context is that of the outer one.
    const headers = {}
    const request = new Proxy(req, {
      get: (target, name) => (name === 'headers' ? headers : Reflect.get(target, name)),
    })
    const event = {
      node: { req: request, res },
      context: Object.assign(context, { cache: 'of the application' }),
    }
    expect((await idp.getSession())?.user.sub).toBe('carol')
    Object.assign(context, { cache: { options: { getKey: () => 'key' } } })
    expect(await idp.getSession(event)).toBeNull()
    return idp.getSession()
  }, idp.plugin)
  const response = await get('/', await signedIn())
  expect([response.status, await response.text()]).toEqual([599, expect.stringContaining('pass the event')])
})
