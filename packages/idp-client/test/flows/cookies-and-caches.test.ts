import type { IncomingMessage } from 'node:http'
import { createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { NextRequest, NextResponse } from 'next/server.js'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import { IdpClient as NodeClient, sendResponse } from '../../src/adapters/node/index.ts'
import { customClock } from '../../src/config/options.ts'
import type { IdpClientOptions, ProxyOptions } from '../../src/index.ts'
import { continueWith, IdpClient } from '../../src/index.ts'
import { generateSessionCookie } from '../../src/testing/session-cookie.ts'
import { APP } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { OWN, PROXIED_OPTIONS } from '../support/proxied.ts'

/* Every response here sets the cookie of a session whose use has to be recorded: no cache may store it for other users. */

let now = 1_700_000_000
const API_ALONE: IdpClientOptions = { domain: 'idp.example', sessions: false, logger: () => undefined }
const options = { ...PROXIED_OPTIONS, [customClock]: () => now }
let headers: { readonly host: string; readonly cookie: string }

beforeEach(async () => {
  const session = { user: { sub: 'alice' }, tokenSet: { accessToken: 'at', expiresAt: now + 3600 } }
  headers = {
    host: 'localhost:3000',
    cookie: `__session=${await generateSessionCookie(session, { secret: SECRET, now })}`,
  }
  now += 400
})

const caches = [
  ['CDN-Cache-Control', 'no-store'],
  ['Vercel-CDN-Cache-Control', 'no-store'],
  ['Surrogate-Control', 'no-store'],
  ['X-Accel-Expires', '0'],
] as const

test.each(caches)('continueWith replaces %s of the application', async (name, value) => {
  const continued = await new IdpClient(options).middleware(new Request(APP, { headers }))
  const page = new Response('page', { headers: { [name]: 'public, max-age=600' } })
  const sent = continueWith(continued, page)
  expect(sent.headers.getSetCookie()).toHaveLength(1)
  expect(sent.headers.get(name)).toBe(value)
  expect(sent.headers.get('cache-control')).toContain('no-store')
})

test.each(caches)(
  'another middleware of Next.js does not make a cookie cacheable by %s',
  async (name, value) => {
    const next = async () => NextResponse.next({ headers: { [name]: 'public, max-age=600' } })
    const sent = await new NextClient(options).middleware(new NextRequest(APP, { headers }), next)
    expect(sent.cookies.getAll()).toHaveLength(1)
    expect(sent.headers.get(name)).toBe(value)
    expect(sent.headers.get('cache-control')).toContain('no-store')
  },
)

describe('a cookie in the response of a handler behind the middleware', () => {
  const sets = (cookie: string) => async () =>
    new Response('page', { headers: { 'cache-control': 'public, max-age=600', 'set-cookie': cookie } })

  test.each(['__session=sealed', '__session__0=sealed', '__txn_state=sealed'])(
    'makes it uncacheable if it is one of the library: %s',
    async (cookie) => {
      const sent = await new IdpClient(options).middleware(new Request(APP), sets(cookie))
      expect(sent.headers.getSetCookie()).toEqual([cookie])
      expect(sent.headers.get('cache-control')).toContain('no-store')
    },
  )

  test.each<[string, IdpClient, string]>([
    ['of the application', new IdpClient(options), 'theme=dark'],
    ['of an API without sessions', new IdpClient(API_ALONE), '__session=own'],
  ])('leaves it cacheable: one %s', async (_name, client, cookie) => {
    const sent = await client.middleware(new Request(APP), sets(cookie))
    expect(sent.headers.get('cache-control')).toBe('public, max-age=600')
  })
})

const cacheable: ProxyOptions = {
  prefix: '/api/orders',
  target: 'https://api.example',
  cache: 'upstream',
  fetch: async () => new Response('{}', { headers: { 'cache-control': 'public, max-age=600' } }),
}

test('a response of an API that caches may store loses that with a cookie, in a route of Next.js', async () => {
  const request = new NextRequest(`${APP}/api/orders/1`, { headers: { ...headers, ...OWN } })
  const sent = await new NextClient(options).proxy(cacheable).handle(request)
  expect(sent?.headers.getSetCookie()).toHaveLength(1)
  expect(sent?.headers.get('cache-control')).toContain('no-store')
})

test('the same for a cache of the application inside the middleware of another client', async () => {
  const orders = new IdpClient(options).proxy(cacheable)
  const request = new Request(`${APP}/api/orders/1`, { headers: { ...headers, ...OWN } })
  await new IdpClient(options).middleware(request, async (passed) => {
    const result = (await orders.handle(passed)) ?? expect.fail('the path is below the prefix')
    expect(result.headers.getSetCookie()).toHaveLength(1)
    expect(result.headers.get('cache-control')).toContain('no-store')
    return result
  })
  expect.assertions(2)
})

test('the same on a server of Node.js without the middleware', async () => {
  const orders = new NodeClient(options).proxy(cacheable)
  const server = createServer(async (request, response) => {
    const result = await orders.handle(request)
    await sendResponse(response, result ?? new Response(null, { status: 404 }))
  })
  onTestFinished(() => void server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const sent = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, host: '127.0.0.1', path: '/api/orders/1', headers: { ...headers, ...OWN } }, resolve).on(
      'error',
      reject,
    )
  })
  sent.resume()
  expect(sent.headers['set-cookie']).toHaveLength(1)
  expect(sent.headers['cache-control']).toContain('no-store')
})
