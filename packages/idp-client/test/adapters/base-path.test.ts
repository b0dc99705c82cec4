import type { RequestListener } from 'node:http'
import express from 'express'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import type { IdpClientOptions, LogEvent } from '../../src/index.ts'
import { IdpClient as WebClient } from '../../src/index.ts'
import { serve } from '../support/serve.ts'
import { clientOptions } from './client-options.ts'
import { client as nextClient, nextRequest } from './next-support.ts'

afterEach(() => {
  vi.unstubAllEnvs()
  // Each test is a process of its own: notices come once in each.
  ;(globalThis as Record<symbol, unknown>)[Symbol.for('idp-client')] = undefined
})

const events: LogEvent[] = []
const notices = (): string[] =>
  events.splice(0).flatMap((event) => (event.code === 'NOTICE' ? [event.message] : []))

const options: IdpClientOptions = {
  ...clientOptions,
  logger: (event) => events.push(event),
}

/** An Express application whose auth routes are mounted at `mount`, with a guard in a router of its own. */
function application(mount: string, changes: IdpClientOptions = {}): RequestListener {
  const idp = new ExpressClient({ ...options, ...changes })
  const app = express()
  app.use(mount, express.Router().use(idp.middleware))
  app.use('/guarded', idp.withApiAuthRequired(), (_req, res) => void res.json({}))
  return app
}

async function statuses(listener: RequestListener, paths: readonly string[]): Promise<number[]> {
  return serve(listener, (url) =>
    Promise.all(paths.map(async (path) => (await fetch(url + path, { redirect: 'manual' })).status)),
  )
}

const FOUND = 401
const NONE = 404

describe('[E4] a route contains the base path exactly once', () => {
  test.each([
    ['mounted below it', '/base', [FOUND, NONE, NONE, NONE]],
    ['mounted at the root', '/', [FOUND, NONE, NONE, NONE]],
  ])('Express, %s', async (_name, mount, expected) => {
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/base')
    const paths = ['/base/auth/profile', '/base/base/auth/profile', '/auth/profile', '/basement/auth/profile']
    expect(await statuses(application(mount), paths)).toEqual(expected)
    expect(notices()).toEqual([])
  })

  test('Express, mounted at a path to which a proxy maps it', async () => {
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/base')
    expect(await statuses(application('/inner'), ['/inner/auth/profile', '/auth/profile'])).toEqual([
      FOUND,
      NONE,
    ])
    expect(notices()).toHaveLength(1)
  })

  test('Express, mounted below it, with a router in between', async () => {
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/a/b')
    const idp = new ExpressClient(options)
    const outer = express.Router().use('/b', express.Router().use(idp.middleware))
    const app = express().use('/a', outer)
    expect(
      await statuses(app, ['/a/b/auth/profile', '/a/b/b/auth/profile', '/a/b/a/b/auth/profile']),
    ).toEqual([FOUND, NONE, NONE])
  })

  test.each([
    ['/docs/auth/profile', FOUND],
    ['/docs/docs/auth/profile', 200],
    ['/docs/fr/auth/profile', FOUND],
    ['/docs/fr/docs/auth/profile', 200],
  ])('Next.js with basePath: %s', async (path, status) => {
    vi.stubEnv('NEXT_PUBLIC_BASE_PATH', '/docs')
    const config = { basePath: '/docs', i18n: { locales: ['en', 'fr'], defaultLocale: 'en' } }
    const idp = nextClient({ logger: (event) => events.push(event) })
    expect((await idp.middleware(nextRequest(path, config))).status).toBe(status)
    expect(notices()).toEqual([])
  })

  test.each([
    ['/docs/auth/profile', FOUND],
    ['/docs/docs/auth/profile', 200],
    ['/auth/profile', 200],
  ])('Web: %s', async (path, status) => {
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/docs')
    const idp = new WebClient(options)
    expect((await idp.middleware(new Request(`https://app.example${path}`))).status).toBe(status)
  })
})

describe('[E4] routes below a path that is not configured', () => {
  const MISSING = expect.stringMatching(/FRAMEWORK_PUBLIC_BASE_PATH .*NEXT_PUBLIC_BASE_PATH/)

  test('Express: one notice says that the callback URL lacks the path', async () => {
    const listener = application('/base')
    expect(await statuses(listener, ['/base/auth/profile', '/base/auth/profile'])).toEqual([FOUND, FOUND])
    expect(notices()).toEqual([MISSING])
  })

  test('Express: no notice if the base URL has the path, or for a guard in another router', async () => {
    const listener = application('/base', { appBaseUrl: 'https://app.example/base' })
    expect(await statuses(listener, ['/base/auth/profile', '/guarded/x'])).toEqual([FOUND, FOUND])
    expect(await statuses(application('/'), ['/auth/profile', '/guarded/x'])).toEqual([FOUND, FOUND])
    expect(notices()).toEqual([])
  })

  test('Next.js: one notice if next.config has a base path and the variable is missing', async () => {
    const idp = nextClient({ logger: (event) => events.push(event) })
    for (let times = 0; times < 2; times++) {
      const request = nextRequest('/docs/auth/profile', { basePath: '/docs' })
      expect((await idp.middleware(request)).status).toBe(FOUND)
    }
    expect(notices()).toEqual([MISSING])
    const localized = nextRequest('/fr/auth/profile', {
      i18n: { locales: ['en', 'fr'], defaultLocale: 'en' },
    })
    expect((await idp.middleware(localized)).status).toBe(FOUND)
    expect(notices()).toEqual([])
  })
})
