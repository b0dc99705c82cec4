import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { forgetNotices } from '../../../test/adapters/client-options.ts'
import type { IdpClientOptions } from '../../config/options.ts'
import { generateCookieHeader } from '../../testing/session-cookie.ts'
import { IdpClient } from '../nuxt/client.ts'
import type { LogEvent } from '../nuxt/index.ts'
import type { HookedNitroApp, PageEvent } from './mount.ts'
import { mount } from './mount.ts'

/** Renders a page; gets a function that sends another request to the application, with the same cookies. */
type Page = (event: PageEvent, fetchItself: (path: string) => Promise<string>) => unknown

const secret = 'a secret for tests, long enough to be taken as one'
const configured = { domain: 'idp.example.com', clientId: 'client', clientSecret: 'client-secret', secret }

async function signedIn(name: string): Promise<{ cookie: string }> {
  return { cookie: await generateCookieHeader({ user: { sub: name } }, { secret }) }
}

/** Starts an application as Nitro does: hooks around the handler, which renders a page. */
async function start(
  page: Page,
  options: IdpClientOptions = configured,
): Promise<(headers?: Record<string, string>, path?: string) => Promise<Response>> {
  const idp = new IdpClient({ logger: () => {}, ...options })
  const hooks = new Map<string, (event: PageEvent) => void>()
  const h3App = {
    handler: async (event: PageEvent) => {
      hooks.get('request')?.(event)
      const body = JSON.stringify(await page(event, (path) => fetchItself(event, path))) ?? 'undefined'
      hooks.get('beforeResponse')?.(event)
      return body
    },
  }
  // As `event.fetch` does: the handler of the application gets a request and a response without a connection.
  const fetchItself = async ({ node: { req } }: PageEvent, path: string): Promise<string> => {
    const inner = Object.assign(new IncomingMessage(new Socket()), { url: path, headers: req.headers })
    return h3App.handler({ node: { req: inner, res: new ServerResponse(inner) }, context: {}, path })
  }
  const hook = (name: string, run: (event: PageEvent) => void): unknown => hooks.set(name, run)
  mount(idp, { h3App, hooks: { hook } } as HookedNitroApp)
  const server = createServer(async (req, res) => {
    const event: PageEvent = { node: { req, res }, context: {}, path: req.url ?? '' }
    await h3App.handler(event).then(
      (body) => res.end(body),
      (error: unknown) => res.writeHead(599).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  const { port } = server.address() as AddressInfo
  return (headers = {}, path = '/') => fetch(`http://127.0.0.1:${port}${path}`, { headers })
}

const readUser = (event: PageEvent): unknown => event.context.idpUser?.(event)

test('pages get the user of their request, or null', async () => {
  const get = await start(readUser)
  expect(await (await get(await signedIn('carol'))).json()).toMatchObject({ sub: 'carol' })
  expect(await (await get(await signedIn('dave'))).json()).toMatchObject({ sub: 'dave' })
  expect(await (await get()).json()).toBeNull()
})

test('rejects if the session cannot be read', async () => {
  const get = await start(readUser, {})
  const response = await get(await signedIn('carol'))
  expect([response.status, await response.text()]).toEqual([599, expect.stringContaining('IDP_SECRET')])
})

test.each([{ cache: { swr: true } }, { isr: 60 }, { prerender: true }, { static: true }])(
  'a page that all users get has no user: %j',
  async (routeRules) => {
    const get = await start((event) => {
      Object.assign(event.context, { _nitro: { routeRules } })
      return readUser(event)
    })
    expect(await (await get(await signedIn('carol'))).text()).toBe('undefined')
  },
)

test('[O3] a guard of a page that all users get is reported once, and no other page', async () => {
  const reports: string[] = []
  const logger = (event: LogEvent): void => void reports.push(JSON.stringify(event))
  const get = await start(
    (event) => {
      const isShared = event.path === '/shared'
      if (isShared) Object.assign(event.context, { _nitro: { routeRules: { cache: { swr: true } } } })
      return event.context.idpUser?.(event, event.path !== '/unguarded')
    },
    { ...configured, logger },
  )
  for (const path of ['/', '/shared', '/shared']) await get(await signedIn('carol'), path)
  expect(reports).toEqual([expect.stringMatching(/NOTICE.*idp-login.*swr/)])
})

test('a page inside a cached handler has no user', async () => {
  const get = await start((event) => {
    Object.assign(event.context, { cache: { options: { getKey: () => 'key' } } })
    return readUser(event)
  })
  expect(await (await get(await signedIn('carol'))).text()).toBe('undefined')
})

test.each([
  ['cache-control', 'public, max-age=60', 'undefined'],
  ['cache-control', 's-maxage=60', 'undefined'],
  ['cdn-cache-control', 'max-age=60', 'undefined'],
  ['surrogate-control', 'max-age=60', 'undefined'],
  ['x-accel-expires', '60', 'undefined'],
  ['x-accel-expires', '0', 'carol'],
  ['cache-control', 'private, max-age=60', 'carol'],
  ['cache-control', 'no-store', 'carol'],
  ['cache-control', 'no-cache', 'carol'],
])('a page whose response caches may store has no user: %s: %s', async (name, value, body) => {
  const get = await start((event) => {
    event.node.res.setHeader(name, value)
    return readUser(event)
  })
  const response = await get(await signedIn('carol'))
  expect(await response.text()).toContain(body)
  if (body === 'undefined') expect(response.headers.get(name)).toBe(value)
})

test('a guard in the page of an error is not reported: the route of the error need not be cached', async () => {
  forgetNotices()
  const reports: LogEvent[] = []
  const page = (event: PageEvent): unknown => event.context.idpUser?.(event, true)
  const get = await start(page, { ...configured, logger: (event) => reports.push(event) })
  const response = await get(await signedIn('carol'), '/__nuxt_error?statusCode=403')
  expect(await response.text()).toBe('undefined')
  expect(reports).toEqual([])
})

test('the page of an error has no user: caches may store the response that failed', async () => {
  const get = await start(readUser)
  const cookies = await signedIn('carol')
  expect(await (await get(cookies, '/__nuxt_error?statusCode=404')).text()).toContain('undefined')
})

test('a server component has the user of its page, and none in a page that caches may store', async () => {
  const get = await start((event, fetchItself) => {
    if (event.path === '/component') return readUser(event)
    if (event.path === '/shared') event.node.res.setHeader('cache-control', 's-maxage=60')
    return fetchItself('/component')
  })
  const cookies = await signedIn('carol')
  expect(await (await get(cookies)).text()).toContain('carol')
  expect(await (await get(cookies, '/shared')).text()).not.toContain('carol')
})

test('a page with a user is stored nowhere, whatever the page says afterwards', async () => {
  const get = await start(async (event) => {
    await readUser(event)
    event.node.res.setHeader('cache-control', 'public, max-age=60')
    event.node.res.setHeader('vercel-cdn-cache-control', 'max-age=60')
    event.node.res.setHeader('x-accel-expires', '60')
  })
  const { headers } = await get(await signedIn('carol'))
  const names = ['cache-control', 'vercel-cdn-cache-control', 'x-accel-expires']
  expect(names.map((name) => headers.get(name))).toEqual(['private, no-store', 'private, no-store', '0'])
  expect((await get()).headers.get('cache-control')).toBe('public, max-age=60')
})
