import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  APP,
  clientOptions,
  forgetNotices,
  missingBasePaths,
  signedIn,
} from '../../../test/adapters/client-options.ts'
import type { LogEvent } from '../../log/log.ts'
import type { FrameworkRequest, SessionData } from './index.ts'
import { action, IdpClient, loader } from './index.ts'

const client = (): IdpClient => new IdpClient(clientOptions)

/** Arguments as React Router passes them to the middleware of a request. */
function toArguments(path: string, headers: HeadersInit = {}): FrameworkRequest {
  return { request: new Request(APP + path, { headers }), context: new Map() }
}

/** The same request as React Router passes it to a loader: a copy, with the URL of the page. */
function toLoaderArguments({ context, request }: FrameworkRequest, path?: string): FrameworkRequest {
  const url = path === undefined ? {} : { url: new URL(path, APP) }
  return { request: new Request(request), context, ...url }
}

/** Runs a loader behind the middleware, and responds as React Router does with what it throws. */
async function run(
  idp: IdpClient,
  args: FrameworkRequest,
  handler: () => Promise<unknown>,
): Promise<Response> {
  return idp.middleware(args, async () => {
    try {
      return Response.json((await handler()) ?? null)
    } catch (thrown) {
      if (thrown instanceof Response) return thrown
      throw thrown
    }
  })
}

describe('requireLogin', () => {
  async function redirect(path: string, page?: string): Promise<Headers> {
    const idp = client()
    const args = toArguments(path)
    const { headers, status } = await run(idp, args, () => idp.requireLogin(toLoaderArguments(args, page)))
    expect(status).toBe(302)
    return headers
  }

  test('returns the session', async () => {
    const idp = client()
    const args = toArguments('/page', await signedIn('due'))
    const response = await run(idp, args, () => idp.requireLogin(toLoaderArguments(args)))
    expect(await response.json()).toMatchObject({ user: { sub: 'carol' } })
  })

  test('[N8] without settings it throws the error, because React Router renders errors itself', async () => {
    const idp = new IdpClient({ ...clientOptions, secret: '' })
    const args = toArguments('/page')
    const loaded = run(idp, args, () => idp.requireLogin(toLoaderArguments(args)))
    await expect(loaded).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
  })

  test('redirects by a navigation of the browser, also after a request for data', async () => {
    const headers = await redirect('/page')
    expect(headers.get('x-remix-reload-document')).toBe('true')
    expect(headers.get('location')).toBe('/auth/login?returnTo=%2Fpage')
  })

  test.each([
    ['/page?q=a%20b&u=%C3%BC', undefined, '/page?q=a%20b&u=%C3%BC'],
    ['/page.data?_routes=root%2Croutes%2Fpage&q=a%20b', '/page?q=a+b', '/page?q=a%20b'],
    ['/page?index&_routes=root', '/page', '/page'],
    ['/_root.data', '/', '/'],
    ['/page?index=1&next=%2Fx%3F_routes%3D', undefined, '/page?index=1&next=%2Fx%3F_routes%3D'],
  ])('returns from %s, a request for %s, to %s', async (path, page, expected) => {
    const headers = await redirect(path, page)
    expect(headers.get('location')).toBe(`/auth/login?returnTo=${encodeURIComponent(expected)}`)
  })

  test('leaves the base path to React Router, which adds its basename to redirects', async () => {
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/app')
    onTestFinished(() => void vi.unstubAllEnvs())
    const headers = await redirect('/app/page')
    expect(headers.get('location')).toBe('/auth/login?returnTo=%2Fapp%2Fpage')
  })
})

describe('requireAuth', () => {
  test('returns the session, or throws a response that is no redirect', async () => {
    const idp = client()
    const args = toArguments('/api', await signedIn('due'))
    const granted = await run(idp, args, () => idp.requireAuth(toLoaderArguments(args)))
    expect(await granted.json()).toMatchObject({ user: { sub: 'carol' } })
    const anonymous = toArguments('/api')
    const rejected = await run(idp, anonymous, () => idp.requireAuth(anonymous))
    expect([rejected.status, rejected.headers.get('location')]).toEqual([401, null])
  })
})

describe('guards without the middleware', () => {
  test.each(['requireLogin', 'requireAuth'] as const)('%s throws and names the line', async (guard) => {
    const args = toArguments('/page', await signedIn('due'))
    await expect(client()[guard](args)).rejects.toMatchObject({
      code: 'AMBIENT_REQUEST_MISSING',
      message: expect.stringContaining('export const middleware = [idp.middleware] in app/root.tsx'),
    })
  })

  test('throw for unknown options', async () => {
    const idp = client()
    const args = toArguments('/page', await signedIn('due'))
    const unknown = { role: 'admin' } as never
    const result = idp.middleware(args, async () => Response.json(await idp.requireLogin(args, unknown)))
    await expect(result).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
  })
})

test('[F1] what a loader writes with its copy of the request replaces the extended session', async () => {
  const idp = client()
  const args = toArguments('/page', await signedIn('due'))
  const response = await run(idp, args, async () => {
    const copy = toLoaderArguments(args)
    const session = (await idp.getSession(copy)) as SessionData
    await idp.updateSession({ ...session, value: 'of the loader' }, copy)
  })
  const [cookie = ''] = response.headers.getSetCookie()
  const next = new Request(APP, { headers: { cookie: cookie.split(';', 1)[0] ?? '' } })
  expect(await idp.getSession(next)).toMatchObject({ value: 'of the loader' })
  expect(response.headers.getSetCookie()).toHaveLength(1)
  expect(response.headers.get('cache-control')).toContain('no-store')
})

test('an update of a loader with a target sets its cookie, and is read back by the same request', async () => {
  const idp = client()
  const args = toArguments('/page', await signedIn())
  const headers = new Headers()
  const response = await run(idp, args, async () => {
    const copy = toLoaderArguments(args)
    const session = (await idp.getSession(copy)) as SessionData
    await idp.updateSession({ ...session, value: 'written' }, copy, headers)
    return (await idp.getSession(copy))?.['value']
  })
  expect(headers.getSetCookie()).toHaveLength(1)
  expect(await response.json()).toBe('written')
})

test('the module of auth/* responds 404 to paths that are no auth routes', async () => {
  expect([loader().status, action().status]).toEqual([404, 404])
  const args = toArguments('/auth/profile')
  expect((await client().middleware(args, async () => loader())).status).toBe(401)
})

describe('a basename of React Router that the base path does not name', () => {
  /** Returns the reported base paths after a request for a path that React Router has matched with a route. */
  async function visit(path: string, route: Partial<FrameworkRequest>): Promise<string[]> {
    forgetNotices()
    const events: LogEvent[] = []
    const idp = new IdpClient({ ...clientOptions, logger: (event) => events.push(event) })
    await idp.middleware({ ...toArguments(path), ...route }, async () => new Response('page'))
    return missingBasePaths(events)
  }

  test.each([
    ['/shop/account', { pattern: '/account', params: {} }],
    ['/shop/', { pattern: '/', params: {} }],
    ['/shop/auth/login', { pattern: '/auth/*', params: { '*': 'login' } }],
    ['/shop/prices/in-$$', { pattern: '/prices/*', params: { '*': 'in-$$' } }],
  ])('is reported for %s, which is %j', async (path, route) => {
    expect(await visit(path, route)).toEqual(['/shop'])
  })

  test.each([
    ['/account', { pattern: '/account', params: {} }],
    ['/', { pattern: '/', params: {} }],
    ['/auth/other', { pattern: '/auth/*', params: { '*': 'other' } }],
    ['/shop/orders/7', { pattern: '/orders/:id', params: { id: '7' } }],
    ['/de/account', { pattern: '/:lang?/account', params: { lang: 'de' } }],
    ['/shop/account.data', { pattern: '/account', params: {} }],
    ['/shop/a%20b', { pattern: '*', params: { '*': 'a b' } }],
    ['/shop/account', {}],
  ])('is not known for %s, which is %j', async (path, route) => {
    expect(await visit(path, route)).toEqual([])
  })

  test('is reported once, whatever spellings senders of requests choose', async () => {
    const events: LogEvent[] = []
    const idp = new IdpClient({ ...clientOptions, logger: (event) => events.push(event) })
    forgetNotices()
    for (const path of ['/shop/', '/Shop/', '/SHOP/', '/shop//']) {
      const args = { ...toArguments(path), pattern: '/', params: {} }
      await idp.middleware(args, async () => new Response('page'))
    }
    expect(missingBasePaths(events)).toEqual(['/shop'])
  })

  test.each([
    ['/shop/account', '/account'],
    ['/SHOP/account', '/account'],
    ['/shop//', '/'],
    ['/SHOP//', '/'],
    ['//', '/'],
    ['///', '/'],
  ])('is not reported for %s, which is %s, if the base path names it', async (path, pattern) => {
    vi.stubEnv('FRAMEWORK_PUBLIC_BASE_PATH', '/shop')
    onTestFinished(() => void vi.unstubAllEnvs())
    expect(await visit(path, { pattern, params: {} })).toEqual([])
  })
})
