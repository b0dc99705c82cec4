import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { GetServerSidePropsContext, NextApiRequest, NextApiResponse } from 'next'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { IdpClient } from '../../src/adapters/next/index.ts'
import type { LogEvent } from '../../src/index.ts'
import { signedIn } from './client-options.ts'
import { client, nextRequest } from './next-support.ts'

const events: LogEvent[] = []
const make = (): IdpClient => client({ logger: (event) => events.push(event) })
const notices = (): string[] =>
  events.flatMap((event) =>
    event.code === 'NOTICE' && event.remedy === 'PROXY_NOT_REACHED' ? [event.message] : [],
  )

type Headers = Readonly<Record<string, string>>
const navigation = { 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }

function toPage(headers: Headers = navigation): { req: NextApiRequest; res: NextApiResponse } {
  const req = new IncomingMessage(new Socket())
  Object.assign(req, { method: 'GET', url: '/', headers: { host: 'app.example', ...headers } })
  return { req: req as NextApiRequest, res: new ServerResponse(req) as NextApiResponse }
}

/** Reads the session in a page, whose request carries what the proxy has forwarded, if it ran. */
async function render(idp: IdpClient, headers?: Headers): Promise<void> {
  const { req, res } = toPage(headers)
  await idp.getSession(req)
  const context = { req: Object.assign(req, { cookies: {} }), res, resolvedUrl: '/', query: {} }
  await idp.withPageAuthRequired()(context as GetServerSidePropsContext)
}

/** Each test is a process of its own. */
const restart = (): void => void Reflect.deleteProperty(globalThis, Symbol.for('idp-client'))

beforeEach(() => {
  vi.stubEnv('NODE_ENV', 'development')
  events.length = 0
  restart()
})
afterEach(() => {
  vi.unstubAllEnvs()
})

describe('[N7] Next.js without a proxy that runs', () => {
  test.each<[string, Headers]>([
    ['a navigation', navigation],
    ['a client that is no browser', {}],
  ])('the first page that reads the session causes one notice: %s', async (_name, headers) => {
    const idp = make()
    for (let times = 0; times < 2; times++) await render(idp, headers)
    expect(notices()).toEqual([
      expect.stringMatching(/404.* file, its folder and the matcher.*before Next\.js 16/),
    ])
  })

  test('a guard that redirects to a login route that is missing causes it, too', async () => {
    const { req, res } = toPage()
    const context = { req: Object.assign(req, { cookies: {} }), res, resolvedUrl: '/', query: {} }
    await make().withPageAuthRequired()(context as GetServerSidePropsContext)
    expect(notices()).toHaveLength(1)
  })

  test('no request in production causes one', async () => {
    vi.stubEnv('NODE_ENV', 'production')
    await render(make())
    expect(notices()).toEqual([])
  })
})

describe('[N7] there is no notice', () => {
  test.each<[string, (idp: IdpClient) => Promise<unknown>]>([
    [
      'the proxy',
      (idp) => idp.middleware(nextRequest('/auth/login', { headers: { 'sec-fetch-dest': 'image' } })),
    ],
    ['a route handler', (idp) => idp.handlers().GET(nextRequest('/auth/profile'))],
    [
      'an API route',
      (idp) => {
        const { req, res } = toPage()
        return idp.pagesHandler()(Object.assign(req, { url: '/auth/profile' }), res)
      },
    ],
  ])('after a request that reached %s, also of another instance in the process', async (_name, reach) => {
    await reach(make())
    await render(make())
    expect(notices()).toEqual([])
  })

  test('for a request that the proxy has forwarded from the edge runtime, which shares no memory', async () => {
    const idp = make()
    const response = await idp.middleware(nextRequest('/', { headers: navigation }))
    restart()
    const path = response.headers.get('x-middleware-request-x-idp-return-path') ?? ''
    await render(idp, { ...navigation, 'x-idp-return-path': path })
    await render(idp)
    expect(notices()).toEqual([])
  })

  test.each<[string, () => Promise<Headers>]>([
    ['with a session, which a login has created', async () => ({ ...navigation, ...(await signedIn()) })],
    ['for data, whose path the proxy does not forward', async () => ({ 'sec-fetch-dest': 'empty' })],
    ['for JSON', async () => ({ accept: 'application/json' })],
  ])('for a request %s', async (_name, headers) => {
    await render(make(), await headers())
    expect(notices()).toEqual([])
  })

  test('for a Web request, which may be that of the proxy itself', async () => {
    await make().getSession(nextRequest('/', { headers: navigation }))
    expect(notices()).toEqual([])
  })
})
