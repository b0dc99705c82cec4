import type { RequestListener, ServerResponse } from 'node:http'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import express from 'express'
import type { NextApiRequest, NextApiResponse } from 'next'
import { NextRequest, NextResponse } from 'next/server.js'
import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'vitest'
import * as onExpress from '../../src/adapters/express/index.ts'
import * as onNext from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { customClock } from '../../src/index.ts'
import type { ApiServer } from '../support/api-server.ts'
import { AUDIENCE, protectedApi, startApi } from '../support/api-server.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { serve } from '../support/serve.ts'

const TTL = 600

let world: World
let api: ApiServer
let options: IdpClientOptions
beforeEach(async () => {
  const authorizationParameters = { audience: AUDIENCE }
  world = await startWorld({ authorizationParameters }, { accessTokenTtl: TTL })
  api = await startApi(protectedApi(world.provider))
  options = {
    domain: world.provider.issuer,
    clientId: world.provider.clientId,
    clientSecret: world.provider.clientSecret,
    secret: SECRET,
    appBaseUrl: APP,
    allowInsecureRequests: true,
    authorizationParameters,
    logger: () => {},
    [customClock]: () => world.clock.now,
  }
})
afterEach(async () => {
  await api.stop()
  await world.provider.stop()
})

/** The cookies of a user whose access token has expired. */
async function expired(): Promise<{ cookie: string }> {
  await world.login(world.browser)
  world.clock.now += TTL + 1
  world.provider.clearRequests()
  return { cookie: world.browser.request('/').headers.get('cookie') ?? '' }
}

/** The token that the API was sent, and the one that the browser has afterwards, are the same fresh one. */
async function expectKept(setCookie: readonly string[], before: string): Promise<void> {
  const headers = new Headers(setCookie.map((line) => ['set-cookie', line]))
  expect(world.provider.count('token')).toBe(1)
  world.browser.store(new Response(null, { headers }))
  expect(world.browser.request('/').headers.get('cookie')).not.toBe(before)
  const session = await world.client.getSession(world.browser.request('/'))
  expect(api.requests[0]?.headers.authorization).toBe(`Bearer ${session?.tokenSet.accessToken}`)
}

const subOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { sub: unknown }).sub

describe('[S198,S220,S222] createFetcher in Next', () => {
  test('(request, response, options): refreshed tokens are on the response', async () => {
    const headers = await expired()
    const idp = new onNext.IdpClient(options)
    const response = NextResponse.next()
    const request = new NextRequest(`${APP}/page`, { headers })
    const { fetchWithAuth } = await idp.createFetcher(request, response, { baseUrl: api.origin })
    expect(await subOf(await fetchWithAuth('/'))).toBe('dev|alice')
    await expectKept(response.headers.getSetCookie(), headers.cookie)
  })

  test('(request, options): refreshed tokens are kept in the process', async () => {
    const headers = await expired()
    const idp = new onNext.IdpClient(options)
    const request = new NextRequest(`${APP}/page`, { headers })
    const { fetchWithAuth } = await idp.createFetcher(request, { baseUrl: api.origin })
    expect(await subOf(await fetchWithAuth('/'))).toBe('dev|alice')
    const later = await world.client.middleware(world.browser.request('/page'))
    await expectKept(later.headers.getSetCookie(), headers.cookie)
  })

  test('Pages Router: (req, res, options)', async () => {
    const headers = await expired()
    const idp = new onNext.IdpClient(options)
    const handler = async (req: NextApiRequest, res: NextApiResponse & ServerResponse): Promise<void> => {
      const { fetchWithAuth } = await idp.createFetcher(req, res, { baseUrl: api.origin })
      res.end(await subOf(await fetchWithAuth('/')))
    }
    await serve(handler as unknown as RequestListener, async (url) => {
      const response = await fetch(url, { headers })
      expect(await response.text()).toBe('dev|alice')
      await expectKept(response.headers.getSetCookie(), headers.cookie)
    })
  })

  test('[S203] without a session: MISSING_SESSION', async () => {
    const idp = new onNext.IdpClient(options)
    await expect(idp.createFetcher(new NextRequest(APP))).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  })

  test('[S121] types', () => {
    type Create = onNext.IdpClient['createFetcher']
    expectTypeOf<Create>().toBeCallableWith()
    expectTypeOf<Create>().toBeCallableWith({ useDPoP: false, baseUrl: 'https://api.example.com' })
    expectTypeOf<Create>().toBeCallableWith({} as NextRequest, { fetch })
    expectTypeOf<Create>().toBeCallableWith({} as NextApiRequest, {} as NextApiResponse, {})
    expectTypeOf<Create>().returns.resolves.toEqualTypeOf<onNext.Fetcher>()
    expectTypeOf<onNext.FetcherOptions['getAccessToken']>().toEqualTypeOf<
      onNext.AccessTokenFactory | undefined
    >()
    // @ts-expect-error: options are objects
    void ((idp: onNext.IdpClient): unknown => idp.createFetcher('https://api.example.com'))
  })
})

describe('[S198,S220,S222] createFetcher in Express', () => {
  test.each(['explicit', 'ambient', 'read-only'])('%s', async (style) => {
    const headers = await expired()
    const idp = new onExpress.IdpClient(options)
    const app = express()
    const settings = { baseUrl: api.origin }
    const create = {
      explicit: (...host: Parameters<express.RequestHandler>) =>
        idp.createFetcher(host[0], host[1], settings),
      ambient: () => idp.createFetcher(settings),
      'read-only': (...host: Parameters<express.RequestHandler>) => idp.createFetcher(host[0], settings),
    }[style]
    app.use(idp.middleware)
    const again: express.RequestHandler = (_req, res) => {
      res.end()
    }
    app.get('/again', again)
    app.get('/', async (req, res, next) => {
      const fetcher: onExpress.Fetcher | undefined = await create?.(req, res, next)
      const response = await fetcher?.fetchWithAuth('/')
      res.send(response && (await subOf(response)))
    })
    await serve(app, async (url) => {
      const response = await fetch(url, { headers })
      expect(await response.text()).toBe('dev|alice')
      const writing = style === 'read-only' ? await fetch(`${url}/again`, { headers }) : response
      await expectKept(writing.headers.getSetCookie(), headers.cookie)
    })
  })

  test('[S203] without a session: MISSING_SESSION', async () => {
    const idp = new onExpress.IdpClient(options)
    const message = Object.assign(new IncomingMessage(new Socket()), { method: 'GET', url: '/' })
    const request = message as express.Request
    await expect(idp.createFetcher(request, {})).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  })
})
