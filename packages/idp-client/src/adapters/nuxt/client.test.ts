import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { generateCookieHeader } from '../../testing/session-cookie.ts'
import { sendResponse } from '../node/send.ts'
import type { FrameworkRequest, NitroApp } from './index.ts'
import { IdpClient, isIdpError } from './index.ts'

const secret = 'a secret for tests, long enough to be taken as one'

function client(): IdpClient {
  return new IdpClient({
    domain: 'idp.example.com',
    clientId: 'client',
    clientSecret: 'client-secret',
    secret,
    logger: () => {},
  })
}

/** Starts an application as Nitro does: plugins may replace the handler, which sends what event handlers return. */
async function start(
  handler: (event: FrameworkRequest) => unknown,
  plugin?: (nitroApp: NitroApp) => void,
): Promise<(path: string, headers?: Record<string, string>) => Promise<Response>> {
  const nitroApp: NitroApp = {
    h3App: {
      handler: async (event) => {
        const value = await handler(event)
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

async function signedIn(): Promise<{ cookie: string }> {
  return { cookie: await generateCookieHeader({ user: { sub: 'carol' } }, { secret }) }
}

describe('plugin', () => {
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
