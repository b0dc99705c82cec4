import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import express from 'express'
import type { NextApiRequest, NextApiResponse } from 'next'
import { NextRequest } from 'next/server.js'
import { expect, onTestFinished, test, vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import { IdpClient as NextClient } from '../../src/adapters/next/index.ts'
import { IdpClient } from '../../src/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import { APP } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { runNginx } from '../support/nginx.ts'
import { PROXIED_OPTIONS } from '../support/proxied.ts'
import { serve } from '../support/serve.ts'
import { onFreePort } from '../support/service.ts'

/* Nothing here sets a cookie: whether a cache may store what a guard has let pass is decided by the guard alone. */

const NOT_STORED = 'private, no-store'

const cookieOf = (sub: string): Promise<string> => generateCookieHeader({ user: { sub } }, { secret: SECRET })
const requestOf = async (path = '/'): Promise<Request> =>
  new Request(APP + path, { headers: { cookie: await cookieOf('alice') } })
const caching = (response: Response | undefined) => response?.headers.get('cache-control')

/** Runs nginx as a cache that stores every response without `Cache-Control`. */
async function behindCache<T>(upstream: string, visit: (url: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'idp-cache-'))
  const cache = `proxy_cache_path ${folder} keys_zone=pages:1m;`
  const directives = `proxy_pass ${upstream}; proxy_set_header Host localhost:3000; proxy_cache pages; proxy_cache_valid 1m;`
  const { port, stop } = await onFreePort(async (port) => ({
    port,
    stop: await runNginx(`${cache} server { listen 127.0.0.1:${port}; location / { ${directives} } }`),
  }))
  try {
    return await visit(`http://127.0.0.1:${port}`)
  } finally {
    await stop()
    await rm(folder, { recursive: true, force: true })
  }
}

test.each([true, false])(
  'a cache passes no page of alice to bob, with the middleware or without (%s)',
  async (hasMiddleware) => {
    const idp = new ExpressClient(PROXIED_OPTIONS)
    const app = express()
    if (hasMiddleware) app.use(idp.middleware)
    app.get('/page', idp.withPageAuthRequired(), async (req, res) => {
      res.send((await idp.getSession(req))?.user.sub)
    })
    app.get('/api', idp.withApiAuthRequired(), async (req, res) => {
      res.json((await idp.getSession(req))?.user)
    })
    app.get('/open', (_req, res) => void res.send(String(Math.random())))
    await serve(app, (upstream) =>
      behindCache(upstream, async (url) => {
        const textFor = async (sub: string, path: string): Promise<string> =>
          (await fetch(url + path, { headers: { cookie: await cookieOf(sub) } })).text()
        for (const path of ['/page', '/api']) {
          expect(await textFor('alice', path)).toContain('alice')
          expect(await textFor('bob', path)).toContain('bob')
        }
        expect(await textFor('bob', '/open')).toBe(await textFor('alice', '/open'))
      }),
    )
  },
)

test('the application may allow it', async () => {
  const idp = new ExpressClient(PROXIED_OPTIONS)
  const app = express()
  app.use('/early', (_req, res, next) => {
    res.set('Cache-Control', 'private, no-cache')
    next()
  })
  app.use(idp.middleware, idp.withPageAuthRequired())
  app.use('/late', (_req, res) => void res.set('Cache-Control', 'private, max-age=60').send('late'))
  const setHeaders = (res: express.Response) => void res.set('Cache-Control', 'private, max-age=70')
  app.use('/files', express.static(import.meta.dirname, { setHeaders }))
  app.use('/plain-files', express.static(import.meta.dirname, { maxAge: '1h' }))
  app.use((_req, res) => void res.send('early'))
  await serve(app, async (url) => {
    const headers = { cookie: await cookieOf('alice'), host: 'localhost:3000' }
    expect(caching(await fetch(`${url}/early`, { headers }))).toBe('private, no-cache')
    expect(caching(await fetch(`${url}/late`, { headers }))).toBe('private, max-age=60')
    const file = 'guarded-content.test.ts'
    expect(caching(await fetch(`${url}/files/${file}`, { headers }))).toBe('private, max-age=70')
    expect(caching(await fetch(`${url}/plain-files/${file}`, { headers }))).toBe(NOT_STORED)
  })
})

const page = () => new Response('page')
const allowing = () => new Response('page', { headers: { 'cache-control': 'private, max-age=60' } })

test('of a Web server: by the middleware, and by guards without it', async () => {
  const idp = new IdpClient(PROXIED_OPTIONS)
  const guarded = idp.withPageAuthRequired(page)
  expect(caching(await guarded(await requestOf()))).toBe(NOT_STORED)
  expect(caching(await idp.withApiAuthRequired(page)(await requestOf()))).toBe(NOT_STORED)
  expect(caching(await idp.withPageAuthRequired(allowing)(await requestOf()))).toBe('private, max-age=60')
  const byMiddleware = await idp.middleware(await requestOf(), async (request) => {
    const { response } = await idp.requireLogin(request)
    return response ?? page()
  })
  expect(caching(byMiddleware)).toBe(NOT_STORED)
  const open = await idp.middleware(await requestOf(), async (request) => {
    await idp.getSession(request)
    return page()
  })
  expect(caching(open)).toBeNull()
})

test('a guard changes nothing that is no response', async () => {
  const idp = new IdpClient(PROXIED_OPTIONS)
  const value = { status: 101 } as Response
  expect(await idp.withPageAuthRequired(() => value)(await requestOf())).toBe(value)
})

test('a response stays the same object, with what its framework has added, unless its headers are immutable', async () => {
  const idp = new IdpClient(PROXIED_OPTIONS)
  const given = page()
  expect(
    await idp.middleware(
      await requestOf(),
      idp.withPageAuthRequired(() => given),
    ),
  ).toBe(given)
  expect(caching(given)).toBe(NOT_STORED)
  const redirect = idp.withPageAuthRequired(() => Response.redirect(APP, 308))
  expect(caching(await redirect(await requestOf()))).toBe(NOT_STORED)
})

test('of a server that replaces the global class: also the response of `fetch` itself', async () => {
  const idp = new IdpClient(PROXIED_OPTIONS)
  const fetched = await fetch('data:,page')
  vi.stubGlobal('Response', class extends Response {})
  onTestFinished(() => void vi.unstubAllGlobals())
  expect(fetched).not.toBeInstanceOf(Response)
  const response = await idp.withPageAuthRequired(() => fetched)(await requestOf())
  expect([caching(response), await response.text()]).toEqual([NOT_STORED, 'page'])
})

test('of both routers of Next.js', async () => {
  const idp = new NextClient(PROXIED_OPTIONS)
  const request = new NextRequest(await requestOf('/api/me'))
  expect(caching(await idp.withApiAuthRequired(page)(request, undefined))).toBe(NOT_STORED)
  expect(caching(await idp.withApiAuthRequired(allowing)(request, undefined))).toBe('private, max-age=60')
  const route = idp.withApiAuthRequired((_req: NextApiRequest, res: NextApiResponse) => res.end('{}'))
  await serve(
    (req, res) => void route(req as NextApiRequest, res as NextApiResponse),
    async (url) => {
      const headers = { cookie: await cookieOf('alice'), host: 'localhost:3000' }
      expect(caching(await fetch(`${url}/api/me`, { headers }))).toBe(NOT_STORED)
    },
  )
})
