import type { RequestListener } from 'node:http'
import type { RequestHandler } from 'express'
import express from 'express'
import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import type { NextApiRequest, NextApiResponse } from 'next'
import { NextRequest } from 'next/server.js'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import type { IdpClientOptions } from '../../src/index.ts'
import { IdpClient } from '../../src/index.ts'
import { listenerOf, startFront } from '../support/front.ts'
import type { ToldStore } from '../support/logout-world.ts'
import { ROUTE, toldStore } from '../support/logout-world.ts'
import { configured } from './hosts.ts'

let provider: DevProvider
beforeAll(async () => {
  provider = await startDevProvider({ host: '127.0.0.1' })
})
afterAll(() => provider.stop())

/** An application; the prefix is where it has to be mounted. */
type Make = (options: IdpClientOptions, prefix: string) => RequestListener

const inExpress =
  (...before: RequestHandler[]): Make =>
  (options, prefix) =>
    express()
      .use(...before, (_req, _res, next) => next())
      .use(prefix || '/', new ExpressClient(options).middleware)

/** Like Next before an API route of the Pages Router: removes the prefix and parses the body. */
const inPagesRouter: Make = (options, prefix) => {
  const handler = new NextClient(options).pagesHandler()
  const unprefixed: RequestHandler = (req, _res, next) => {
    req.url = req.url.slice(prefix.length)
    next()
  }
  return express()
    .use(unprefixed, express.json(), express.urlencoded({ extended: false }))
    .use((req, res) => handler(req as unknown as NextApiRequest, res as unknown as NextApiResponse))
}

const hosts: [string, Make][] = [
  [
    'Web',
    (options) => {
      const idp = new IdpClient(options)
      return listenerOf((request) => idp.middleware(request))
    },
  ],
  ['Express', inExpress()],
  [
    'Express behind body parsers',
    inExpress(express.json(), express.text(), express.urlencoded({ extended: true })),
  ],
  [
    'Next, in the proxy',
    (options, basePath) => {
      const idp = new NextClient(options)
      const nextConfig = basePath === '' ? {} : { basePath }
      return listenerOf((request) => idp.middleware(new NextRequest(request, { nextConfig })))
    },
  ],
  [
    'Next, in a route handler',
    (options) => {
      const { POST } = new NextClient(options).handlers()
      return listenerOf(POST)
    },
  ],
  ['Next, in an API route of the Pages Router', inPagesRouter],
]

describe.each(hosts)('back-channel logout: %s', (_title, make) => {
  async function start(basePath: string): Promise<{ url: string; store: ToldStore }> {
    const store = toldStore()
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', basePath)
    const listener = make({ ...configured(provider), sessionStore: store }, basePath)
    vi.unstubAllEnvs()
    const { stop, url } = await startFront(listener)
    onTestFinished(stop)
    return { url: url + basePath, store }
  }

  test.each(['', '/app'])(
    '[S147,S150] the form of a provider is read, with the prefix "%s"',
    async (basePath) => {
      const { store, url } = await start(basePath)
      const logout_token = await provider.logoutToken({ sub: 'dev|alice' })
      const response = await fetch(url + ROUTE, {
        method: 'POST',
        body: new URLSearchParams({ logout_token }),
      })
      expect([response.status, await response.text()]).toEqual([200, ''])
      expect(response.headers.get('cache-control')).toContain('no-store')
      expect(store.told).toEqual([{ sub: 'dev|alice', iss: provider.issuer, iat: expect.any(Number) }])
    },
  )

  test('repeated parameters, JSON, large bodies and other methods are rejected', async () => {
    const { store, url } = await start('')
    const logout_token = await provider.logoutToken({ sub: 'dev|alice' })
    const twice = new URLSearchParams([
      ['logout_token', logout_token],
      ['logout_token', logout_token],
    ])
    const padding = 'x'.repeat(1_100_000)
    const bodies: RequestInit[] = [
      { body: twice },
      { body: JSON.stringify({ logout_token }), headers: { 'content-type': 'application/json' } },
      { body: new URLSearchParams({ logout_token, padding }) },
    ]
    for (const init of bodies) {
      const response = await fetch(url + ROUTE, { method: 'POST', ...init })
      expect([400, 413]).toContain(response.status)
    }
    expect((await fetch(`${url}${ROUTE}?logout_token=${logout_token}`)).status).toBe(405)
    expect(store.told).toEqual([])
  })
})
