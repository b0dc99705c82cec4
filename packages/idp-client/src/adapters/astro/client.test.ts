import { AsyncResource } from 'node:async_hooks'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { APP, clientOptions, signedIn } from '../../../test/adapters/client-options.ts'
import { ActionError } from '../../../test/support/astro-actions.ts'
import type { ApiGuardOptions, AstroOptions, FrameworkRequest, LogEvent, SessionData } from './index.ts'
import { ALL, IdpClient } from './index.ts'

const client = (options: AstroOptions = {}): IdpClient => new IdpClient({ ...clientOptions, ...options })

interface Context extends FrameworkRequest {
  readonly locals: Record<string, unknown>
}

function toContext(request: Request, isPrerendered = false): Context {
  return { request, url: new URL(request.url), locals: {}, isPrerendered }
}

async function signedInContext(use: 'fresh' | 'due' = 'fresh'): Promise<Context> {
  return toContext(new Request(`${APP}/page?tab=a`, { headers: await signedIn(use) }))
}

/** The context after a rewrite: another request for another page, and the same locals. */
function rewritten(context: Context): Context {
  const request = new Request(`${APP}/internal`, context.request)
  return { ...toContext(request), locals: context.locals }
}

const page = async (): Promise<Response> => new Response('page')

const outside = AsyncResource.bind(<T>(run: () => T): T => run())

async function valueAfter(idp: IdpClient, response: Response): Promise<unknown> {
  const cookie = response.headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')
  return (await idp.getSession(new Request(APP, { headers: { cookie } })))?.['value']
}

describe('Astro.locals', () => {
  test('has the session, or null', async () => {
    const idp = client()
    const context = await signedInContext()
    await idp.onRequest(context, page)
    expect(context.locals['idpSession']).toMatchObject({ user: { sub: 'carol' } })
    const anonymous = toContext(new Request(APP))
    await idp.onRequest(anonymous, page)
    expect(anonymous.locals).toHaveProperty('idpSession', null)
  })

  test('throws where the session could not be loaded, and pages that do not read it work', async () => {
    const context = await signedInContext()
    const response = await client({ secret: '' }).onRequest(context, page)
    expect(await response.text()).toBe('page')
    const code = 'INVALID_CONFIGURATION'
    expect(() => context.locals['idpSession']).toThrow(expect.objectContaining({ code }))
  })

  test('throws in a prerendered page, with the line that renders it for each request', async () => {
    const context = toContext(new Request(APP), true)
    const response = await client().onRequest(context, page)
    expect(await response.text()).toBe('page')
    expect(() => context.locals['idpSession']).toThrow('prerender = false')
  })

  test('has the session under another name; a name that is taken is an error that names the option', async () => {
    const context = await signedInContext()
    context.locals['idpSession'] = 'of the application'
    await expect(client().onRequest(context, page)).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringContaining('sessionName'),
    })
    await client({ sessionName: 'login' }).onRequest(context, page)
    expect(context.locals['login']).toMatchObject({ user: { sub: 'carol' } })
  })

  test('can be served again after its response, as for an error page', async () => {
    const idp = client()
    const context = await signedInContext()
    await idp.onRequest(context, async () => new Response(null, { status: 500 }))
    await idp.onRequest(context, page)
    expect(context.locals['idpSession']).toMatchObject({ user: { sub: 'carol' } })
  })
})

test('a context of Astro 4 is rejected with the version to install', async () => {
  const { isPrerendered: _, ...context } = toContext(new Request(APP))
  await expect(client().onRequest(context, page)).rejects.toMatchObject({
    code: 'INVALID_ARGUMENTS',
    message: expect.stringContaining('needs Astro 5 or later'),
  })
})

describe('the route cache of Astro 7, which ignores Cache-Control', () => {
  /** Returns whether Astro may store the response to a request, whose route has a rule. */
  async function isStored(use: 'fresh' | 'due' | null, path: string, enabled = true): Promise<boolean> {
    const idp = client()
    let stored = true
    const cache = {
      enabled,
      set: (options: false) => {
        stored = options
      },
    }
    const headers = use ? await signedIn(use) : {}
    const context = { ...toContext(new Request(APP + path, { headers })), cache }
    await idp.onRequest(context, async () => {
      if (path === '/page') return page()
      const stored = async (): Promise<Response> =>
        new Response('page', { headers: { 'cache-control': 'no-cache' } })
      if (path === '/api') return idp.requireAuth(stored)(context)
      return (await idp.requireLogin(context)).response ?? stored()
    })
    return stored
  }

  test.each([
    ['a page behind a guard, whatever its Cache-Control', 'fresh', '/account'],
    ['an API behind a guard, whatever its Cache-Control', 'fresh', '/api'],
    ['the redirect of a guard', null, '/account'],
    ['a page with our cookie', 'due', '/page'],
    ['the profile', 'fresh', '/auth/profile'],
  ] as const)('does not store %s', async (_title, use, path) => {
    expect(await isStored(use, path)).toBe(false)
  })

  test('stores other pages, and is not touched where it is off', async () => {
    expect(await isStored('fresh', '/page')).toBe(true)
    expect(await isStored('fresh', '/account', false)).toBe(true)
  })
})

describe('a rewrite', () => {
  test('may run the middleware again, and keeps the session and its changes', async () => {
    const idp = client()
    const context = await signedInContext('due')
    const response = await idp.onRequest(context, async () => {
      const inner = rewritten(context)
      return idp.onRequest(inner, async () => {
        const session = (await idp.getSession(inner)) as SessionData
        await idp.updateSession({ ...session, value: 'rewritten' }, inner)
        expect((await idp.getSession(context))?.['value']).toBe('rewritten')
        return page()
      })
    })
    expect(await valueAfter(idp, response)).toBe('rewritten')
    expect(response.headers.get('cache-control')).toContain('no-store')
  })

  test('works between two clients, but not as a second mount of one', async () => {
    const [idp, other] = [client(), client({ sessionName: 'other' })]
    const context = await signedInContext()
    const mount = (given: Context, next: () => Promise<Response>): Promise<Response> =>
      idp.onRequest(given, () => other.onRequest(given, next))
    await mount(context, () => mount(rewritten(context), () => mount(rewritten(context), page)))
    expect(Object.keys(context.locals)).toEqual(['idpSession', 'other'])
    const twice = mount(context, () => mount(rewritten(context), () => other.onRequest(context, page)))
    await expect(twice).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringMatching(/mounted twice, keep one: integrations: \[idp\(\)\] .* or export const/),
    })
  })

  test('is not another request for which the application passes the same locals', async () => {
    const idp = client()
    const alice = await signedInContext()
    const other = { ...toContext(new Request(`${APP}/page`)), locals: alice.locals }
    const shown = vi.fn(page)
    const response = await idp.onRequest(alice, async () => {
      // Outside the first run, as a second request arrives.
      const second = outside(() => idp.onRequest(other, shown))
      await expect(second).rejects.toMatchObject({
        code: 'INVALID_CONFIGURATION',
        message: expect.stringContaining('new object for each request'),
      })
      return page()
    })
    expect([await response.text(), shown.mock.calls]).toEqual(['page', []])
  })

  test('has no session on the page of errors of a request that gets the locals of another one', async () => {
    const idp = client()
    const alice = await signedInContext()
    const other = { ...toContext(new Request(`${APP}/page`)), locals: alice.locals }
    const read = (): unknown => alice.locals['idpSession']
    const owner = await idp.onRequest(alice, async () => {
      await outside(() => idp.onRequest(other, page)).catch(() => undefined)
      expect(read).toThrow('new object for each request')
      expect(await outside(() => idp.getSession(other))).toBeNull()
      await expect(outside(() => idp.requireLogin(other))).rejects.toThrow('middleware')
      return Response.json(await idp.getSession(alice))
    })
    expect(await owner.json()).toMatchObject({ user: { sub: 'carol' } })
    await expect(idp.onRequest(other, page)).rejects.toThrow('new object for each request')
    expect(read).toThrow('new object for each request')
  })

  test('returns to the requested page after a login', async () => {
    const idp = client()
    const context = toContext(new Request(`${APP}/page?tab=a`))
    const response = await idp.onRequest(context, async () => {
      const guarded = await idp.requireLogin(rewritten(context))
      return guarded.response ?? page()
    })
    const location = '/auth/login?returnTo=%2Fpage%3Ftab%3Da'
    expect([response.status, response.headers.get('location')]).toEqual([302, location])
  })
})

describe('guards', () => {
  test('run the handler of an endpoint with a session only', async () => {
    const idp = client()
    const handler = idp.requireAuth((context: Context) => Response.json({ path: context.url.pathname }))
    const context = await signedInContext()
    const response = await idp.onRequest(context, () => handler(context))
    expect(await response.json()).toEqual({ path: '/page' })
    const anonymous = toContext(new Request(APP))
    expect((await idp.onRequest(anonymous, () => handler(anonymous))).status).toBe(401)
  })

  test('[O2] return the session of an action, and throw the error of Astro without what they require', async () => {
    const idp = client()
    const context = await signedInContext()
    const run = (context: Context, options?: ApiGuardOptions): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const action = async (): Promise<Response> => {
          await idp.requireActionAuth(context, options).then(resolve, reject)
          return new Response()
        }
        idp.onRequest(context, action).catch(reject)
      })
    expect(await run(context)).toMatchObject({ user: { sub: 'carol' } })
    const failure = { code: 'UNAUTHORIZED', message: expect.stringContaining('not authenticated') }
    await expect(run(toContext(new Request(APP)))).rejects.toMatchObject(failure)
    const rejected = run(await signedInContext(), { organization: 'org_other' })
    await expect(rejected).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(rejected).rejects.toBeInstanceOf(ActionError)
  })

  test.each([
    [{ [Symbol.for('astro.actionAPIContext')]: true }, 'requireActionAuth'],
    [{ routePattern: '/_server-islands/[name]' }, 'getSession'],
  ])(
    '[O2] of pages are rejected where nothing can redirect, also with a session: %j',
    async (parts, name) => {
      const idp = client()
      const context = Object.assign(await signedInContext(), parts)
      const run = async (): Promise<Response> => Response.json(await idp.requireLogin(context))
      await expect(idp.onRequest(context, run)).rejects.toMatchObject({
        code: 'INVALID_ARGUMENTS',
        message: expect.stringContaining(name),
      })
    },
  )

  test('and the auth routes fail without the middleware, with the line that mounts it', async () => {
    const idp = client()
    const context = await signedInContext()
    const missing = {
      code: 'AMBIENT_REQUEST_MISSING',
      message: expect.stringContaining('onRequest = idp.onRequest'),
    }
    await expect(idp.requireLogin(context)).rejects.toMatchObject(missing)
    await expect(idp.requireAuth(page)(context)).rejects.toMatchObject(missing)
    expect(() => ALL(context)).toThrow(expect.objectContaining(missing))
    const response = await idp.onRequest(context, async () => ALL(context))
    expect(response.status).toBe(404)
  })
})

test.each([
  ['/shop', {}, ['FRAMEWORK_PUBLIC_BASE_PATH=/shop']],
  ['/shop/', { FRAMEWORK_PUBLIC_BASE_PATH: '/shop' }, []],
  ['/', {}, []],
])('the base %j of Astro with %j is reported once: %j', async (base, variables, named) => {
  onTestFinished(() => void vi.unstubAllEnvs())
  for (const [name, value] of Object.entries({ ...variables, BASE_URL: base })) vi.stubEnv(name, value)
  const events: LogEvent[] = []
  const idp = client({ logger: (event) => events.push(event) })
  // A build may lack the variables of the server.
  await idp.onRequest(toContext(new Request(APP), true), page)
  expect(events).toEqual([])
  await idp.onRequest(toContext(new Request(APP)), page)
  await idp.onRequest(toContext(new Request(APP)), page)
  expect(events.map((event) => /FRAMEWORK\w+=[^, ]+/.exec(JSON.stringify(event))?.[0])).toEqual(named)
})

test('[O4] checkOrigin accepts forms from the configured base URLs, which Astro behind a proxy does not know', async () => {
  const appBaseUrl = ['https://app.example.com', 'https://shop.example.com/store']
  const send = async (
    origin: string,
    options: AstroOptions,
    trustedOrigins: string[] = [],
  ): Promise<number> => {
    const check = client(options).checkOrigin({ trustedOrigins })
    const request = new Request('http://localhost/transfer', { method: 'POST', headers: { origin } })
    return (await check(toContext(request), page)).status
  }
  expect(await send('https://app.example.com', { appBaseUrl })).toBe(200)
  expect(await send('https://shop.example.com', { appBaseUrl })).toBe(200)
  expect(await send('http://localhost', { appBaseUrl })).toBe(200)
  expect(await send('https://pay.example.com', { appBaseUrl }, ['https://pay.example.com'])).toBe(200)
  for (const origin of ['https://evil.example.com', 'null', 'http://app.example.com'])
    expect(await send(origin, { appBaseUrl }), origin).toBe(403)
})

test('[F3] checkOrigin behind onRequest rejects forms of other origins, but not the posts of the provider', async () => {
  const idp = client()
  const check = idp.checkOrigin()
  const send = (path: string): Promise<Response> => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://idp.example',
    }
    const context = toContext(new Request(APP + path, { method: 'POST', headers, body: 'state=x' }))
    return idp.onRequest(context, () => check(context, page))
  }
  expect((await send('/transfer')).status).toBe(403)
  const callback = await send('/auth/callback')
  expect(await callback.text()).toContain('UNKNOWN_STATE')
  const prerendered = toContext(new Request(APP, { method: 'POST' }), true)
  expect((await check(prerendered, page)).status).toBe(200)
})
