import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, onTestFinished, test } from 'vitest'
import {
  APP,
  clientOptions,
  forgetNotices,
  missingBasePaths,
  signedIn,
} from '../../../test/adapters/client-options.ts'
import type { LogEvent } from '../../log/log.ts'
import type { SessionData } from './index.ts'
import { IdpClient } from './index.ts'

const client = (): IdpClient => new IdpClient(clientOptions)

/** Runs a handler behind the middleware, and responds as TanStack Start does with a response that it throws. */
async function run(idp: IdpClient, request: Request, handler: () => Promise<unknown>): Promise<Response> {
  return idp.middleware({
    request,
    async next() {
      try {
        return { response: Response.json((await handler()) ?? null) }
      } catch (thrown) {
        if (thrown instanceof Response) return { response: thrown }
        throw thrown
      }
    },
  })
}

test('the middleware of a server function, which gets no request, names the line to write', async () => {
  const call = client().middleware as unknown as (options: object) => Promise<Response>
  await expect(call({ next: async () => ({}), data: undefined, context: {} })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    message: expect.stringContaining('requestMiddleware: [createMiddleware().server(idp.middleware)]'),
  })
})

describe('requireLogin', () => {
  test('returns the session', async () => {
    const idp = client()
    const request = new Request(`${APP}/page`, { headers: await signedIn() })
    const response = await run(idp, request, () => idp.requireLogin())
    expect(await response.json()).toMatchObject({ user: { sub: 'carol' } })
  })

  test('throws a redirect that TanStack Router follows as a document', async () => {
    const idp = client()
    const response = await run(idp, new Request(`${APP}/page?q=a%20b`), () => idp.requireLogin())
    const href = `/auth/login?returnTo=${encodeURIComponent('/page?q=a%20b')}`
    expect([response.status, response.headers.get('location')]).toEqual([302, href])
    expect(response).toMatchObject({ options: { href, statusCode: 302, reloadDocument: true } })
  })

  test.each(['fresh', 'due'] as const)(
    'behind it a redirect of the router keeps its target (%s)',
    async (use) => {
      const idp = client()
      const redirect = Object.assign(new Response(null, { status: 307 }), { options: { to: '/next' } })
      const response = await run(
        idp,
        new Request(`${APP}/page`, { headers: await signedIn(use) }),
        async () => {
          await idp.requireLogin()
          throw redirect
        },
      )
      expect(response).toMatchObject({ status: 307, options: { to: '/next' } })
      expect(response.headers.get('cache-control')).toContain('no-store')
    },
  )

  test('never returns to the URL of a server function', async () => {
    const idp = client()
    const call = (): Request => new Request(`${APP}/_serverFn/abc`, { headers: { 'x-tsr-serverFn': 'true' } })
    const returnPath = async (options?: { returnTo: string }): Promise<string | null> => {
      const { headers } = await run(idp, call(), () => idp.requireLogin(options))
      return new URL(headers.get('location') ?? '', APP).searchParams.get('returnTo')
    }
    expect(await returnPath()).toBe('/')
    expect(await returnPath({ returnTo: '/account' })).toBe('/account')
  })
})

test('requireAuth returns the session, or throws a response that is no redirect', async () => {
  const idp = client()
  const granted = await run(idp, new Request(`${APP}/api`, { headers: await signedIn() }), () =>
    idp.requireAuth(),
  )
  expect(await granted.json()).toMatchObject({ user: { sub: 'carol' } })
  const rejected = await run(idp, new Request(`${APP}/api`), () => idp.requireAuth())
  expect([rejected.status, rejected.headers.get('location')]).toEqual([401, null])
  expect(rejected).not.toHaveProperty('options')
})

test.each(['requireLogin', 'requireAuth'] as const)(
  '%s throws without the middleware, and for unknown options',
  async (guard) => {
    const idp = client()
    await expect(idp[guard]()).rejects.toMatchObject({ code: 'AMBIENT_REQUEST_MISSING' })
    const request = new Request(`${APP}/page`, { headers: await signedIn() })
    const unknown = { role: 'admin' } as never
    await expect(run(idp, request, () => idp[guard](unknown))).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
    })
  },
)

test('the cookies of an update are on the response', async () => {
  const idp = client()
  const request = new Request(`${APP}/update`, { headers: await signedIn() })
  const response = await run(idp, request, async () => {
    const session = (await idp.getSession()) as SessionData
    await idp.updateSession({ ...session, value: 'new' })
  })
  const [cookie = ''] = response.headers.getSetCookie()
  const next = new Request(APP, { headers: { cookie: cookie.split(';', 1)[0] ?? '' } })
  expect(await idp.getSession(next)).toMatchObject({ value: 'new' })
  expect(response.headers.get('cache-control')).toContain('no-store')
})

describe('a base path of TanStack Start that the configuration does not name', () => {
  /** Returns the reported base paths after a redirect to the login, in a context of TanStack Start. */
  async function visit(context: object): Promise<string[]> {
    const key = Symbol.for('tanstack-start:start-storage-context')
    onTestFinished(() => void Reflect.deleteProperty(globalThis, key))
    const storage = new AsyncLocalStorage()
    Reflect.set(globalThis, key, storage)
    forgetNotices()
    const events: LogEvent[] = []
    const idp = new IdpClient({ ...clientOptions, logger: (event) => events.push(event) })
    const handler = async (): Promise<unknown> => storage.run(context, () => idp.requireLogin())
    expect((await run(idp, new Request(`${APP}/shop/account`), handler)).status).toBe(302)
    return missingBasePaths(events)
  }

  test.each([
    // From `base` of Vite, and from `router.basepath` of the plugin.
    ['shop', ['/shop']],
    ['/shop', ['/shop']],
    ['/', []],
    ['', []],
    [undefined, []],
  ])('is read from the router: %j', async (basepath, expected) => {
    expect(await visit({ handlerType: 'router', getRouter: async () => ({ basepath }) })).toEqual(expected)
  })

  test('is not read in a call of a server function, for which TanStack Start creates no router', async () => {
    const getRouter = (): never => {
      throw new Error('creates a router')
    }
    expect(await visit({ handlerType: 'serverFn', getRouter })).toEqual([])
  })
})
