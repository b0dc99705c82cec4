import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  APP,
  clientOptions,
  forgetNotices,
  missingBasePaths,
  SECRET,
  signedIn,
} from '../../../test/adapters/client-options.ts'
import { redirect } from '../../../test/support/sveltekit.ts'
import { customFetch } from '../../config/options.ts'
import { serializeCookie } from '../../http/cookie-text.ts'
import type { LogEvent } from '../../log/log.ts'
import { generateCookieHeader } from '../../testing/session-cookie.ts'
import type { FrameworkRequest, SessionData, SvelteKitOptions } from './index.ts'
import { checkOrigin, IdpClient } from './index.ts'

const client = (options: SvelteKitOptions = {}): IdpClient => new IdpClient({ ...clientOptions, ...options })

interface Event extends FrameworkRequest {
  readonly locals: Record<string, unknown>
  /** The cookies that SvelteKit adds to the response to a redirect that a hook throws. */
  readonly set: string[]
}

/** An event as SvelteKit passes it to hooks. */
function toEvent(request: Request, { isSubRequest = false, page = '' } = {}): Event {
  const set: string[] = []
  const cookies: FrameworkRequest['cookies'] = {
    set(name, value, { encode, ...attributes }) {
      set.push(serializeCookie({ name, value: encode(value), attributes }))
    },
  }
  return { request, url: new URL(page, request.url), locals: {}, cookies, isSubRequest, set }
}

/** Returns the event of a load function: another object for the same request. */
const loadEvent = (event: Event): Event => ({ ...event })

async function signedInEvent(use: 'fresh' | 'due' = 'fresh'): Promise<Event> {
  return toEvent(new Request(`${APP}/page`, { headers: await signedIn(use) }))
}

const page = (): Response => new Response('page')

async function update(idp: IdpClient, event: Event, value: string): Promise<void> {
  await idp.updateSession({ ...((await idp.getSession(event)) as SessionData), value }, event)
}

/** The request that the application sends to itself with `event.fetch`. */
async function fetchItself(event: Event, headers: Record<string, string>): Promise<Event> {
  return toEvent(new Request(`${event.url.origin}/api`, { headers }), { isSubRequest: true })
}

const sameCookie = ({ request }: Event): { cookie: string } => ({
  cookie: request.headers.get('cookie') ?? '',
})

function cookieOf(response: Response): string {
  return toCookie(response.headers.getSetCookie())
}

function toCookie(lines: readonly string[]): string {
  return lines.map((line) => line.split(';', 1)[0]).join('; ')
}

describe('event.locals', () => {
  test('has the session, or null', async () => {
    const idp = client()
    const event = await signedInEvent()
    await idp.handle({ event, resolve: page })
    expect(event.locals['idpSession']).toMatchObject({ user: { sub: 'carol' } })
    const anonymous = toEvent(new Request(APP))
    await idp.handle({ event: anonymous, resolve: page })
    expect(anonymous.locals).toHaveProperty('idpSession', null)
  })

  test('throws where the session could not be loaded, and pages that do not read it work', async () => {
    const idp = client({ secret: '' })
    const event = await signedInEvent()
    const response = await idp.handle({ event, resolve: page })
    expect(await response.text()).toBe('page')
    expect(() => event.locals['idpSession']).toThrow(
      expect.objectContaining({ code: 'INVALID_CONFIGURATION' }),
    )
  })

  test('has the session under another name; a name that is taken is an error that names the option', async () => {
    const event = await signedInEvent()
    event.locals['idpSession'] = 'of the application'
    const failing = client().handle({ event, resolve: page })
    await expect(failing).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
      message: expect.stringContaining('sessionName'),
    })
    await client({ sessionName: 'login' }).handle({ event, resolve: page })
    expect(event.locals['login']).toMatchObject({ user: { sub: 'carol' } })
    const ofAnother = client({ sessionName: 'login' }).handle({ event, resolve: page })
    await expect(ofAnother).rejects.toMatchObject({ code: 'INVALID_CONFIGURATION' })
  })
})

describe('a redirect that a later hook throws', () => {
  test('sets the cookies of what the hook did before, and closes the request', async () => {
    const idp = client()
    const event = await signedInEvent()
    const resolve = async (passed: Event): Promise<Response> => {
      await update(idp, passed, 'accepted')
      return redirect(303, '/next')
    }
    await expect(idp.handle({ event, resolve })).rejects.toMatchObject({ status: 303, location: '/next' })
    expect(event.set).toEqual([expect.stringMatching(/^__session=.*; Path=\/; HttpOnly/)])
    const next = new Request(APP, { headers: { cookie: toCookie(event.set) } })
    expect((await idp.getSession(next))?.['value']).toBe('accepted')
    await expect(update(idp, event, 'late')).rejects.toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })

  test.each([
    [300, 302],
    [301, 302],
    [302, 302],
    [303, 303],
    [307, 307],
    [308, 307],
  ])(
    'of status %i leaves with %i if it sets our cookie, so that no cache stores it',
    async (status, expected) => {
      const idp = client()
      const thrownBy = (event: Event): Promise<unknown> =>
        idp.handle({ event, resolve: async () => redirect(status, '/next') }).catch((error: unknown) => error)
      const due = await signedInEvent('due')
      expect(await thrownBy(due)).toMatchObject({ status: expected, location: '/next' })
      expect(due.set).toHaveLength(1)
      expect(await thrownBy(await signedInEvent())).toMatchObject({ status, location: '/next' })
    },
  )

  test('in a request that the application sends to itself leaves the cookies to the outer response', async () => {
    const idp = client()
    const event = await signedInEvent()
    const response = await idp.handle({
      event,
      resolve: async (outer) => {
        const inner = await fetchItself(outer, sameCookie(outer))
        const resolve = async (passed: Event): Promise<Response> => {
          await update(idp, passed, 'inner')
          return redirect(303, '/next')
        }
        await expect(idp.handle({ event: inner, resolve })).rejects.toMatchObject({ status: 303 })
        expect(inner.set).toEqual([])
        return page()
      },
    })
    const next = new Request(APP, { headers: { cookie: cookieOf(response) } })
    expect((await idp.getSession(next))?.['value']).toBe('inner')
  })

  test('or returns, in a request for the data of a page, keeps our cookies', async () => {
    // SvelteKit replaces a response with a location by one for its client, without the headers of the first one.
    const idp = client()
    const request = new Request(`${APP}/page/__data.json`, { headers: await signedIn('due') })
    const event = { ...toEvent(request, { page: '/page' }), isDataRequest: true }
    const returned = async (): Promise<Response> =>
      new Response(null, { status: 302, headers: { location: 'https://idp.example/authorize' } })
    const failing = idp.handle({ event, resolve: returned })
    await expect(failing).rejects.toMatchObject({ status: 302, location: 'https://idp.example/authorize' })
    expect(event.set).toEqual([expect.stringMatching(/^__session=/)])
    const { headers, status } = await idp.handle({ event: await signedInEvent('due'), resolve: returned })
    expect([status, toCookie(headers.getSetCookie())]).toEqual([302, expect.stringMatching(/^__session=/)])
  })

  test('is not an error: that reaches the application without cookies', async () => {
    const event = await signedInEvent('due')
    const failing = client().handle({
      event,
      resolve: () => {
        throw new RangeError('of the application')
      },
    })
    await expect(failing).rejects.toThrow('of the application')
    expect(event.set).toEqual([])
  })
})

describe('guards', () => {
  test('throw the redirect of SvelteKit, which returns to the page also after a request for its data', async () => {
    const idp = client()
    const request = new Request(`${APP}/page/__data.json?tab=a&x-sveltekit-invalidated=01`)
    const event = toEvent(request, { page: '/page?tab=a' })
    const guarded = idp.handle({
      event,
      resolve: async (resolved) => {
        await idp.requireLogin(loadEvent(resolved))
        return page()
      },
    })
    const location = '/auth/login?returnTo=%2Fpage%3Ftab%3Da'
    await expect(guarded).rejects.toMatchObject({ status: 303, location })
  })

  test.each([
    // While a page is rendered, and in requests of SvelteKit's client.
    ['/page?tab=a', {}, '/auth/login?returnTo=%2Fpage%3Ftab%3Da'],
    ['/page/__data.json?tab=a', { isDataRequest: true }, '/auth/login'],
    ['/_app/remote/1/me', { isRemoteRequest: true }, '/auth/login'],
  ])('throw it in a query of SvelteKit 3, which does not tell the page: %s', async (path, kind, location) => {
    const idp = client()
    const event = { ...toEvent(new Request(APP + path)), ...kind }
    const get = (): never => {
      throw new Error('Cannot access event.url in a query')
    }
    const query = Object.defineProperty({ ...event }, 'url', { get })
    const guarded = idp.handle({ event, resolve: async () => Response.json(await idp.requireLogin(query)) })
    await expect(guarded).rejects.toMatchObject({ status: 303, location })
  })

  test('return the session, and run the handler of an API with it', async () => {
    const idp = client()
    const event = await signedInEvent()
    const handler = idp.requireAuth((passed: Event) => Response.json({ method: passed.request.method }))
    const response = await idp.handle({
      event,
      resolve: async (resolved) => {
        expect((await idp.requireLogin(loadEvent(resolved))).user.sub).toBe('carol')
        return handler(loadEvent(resolved))
      },
    })
    expect(await response.json()).toEqual({ method: 'GET' })
    const anonymous = toEvent(new Request(APP))
    expect((await idp.handle({ event: anonymous, resolve: handler })).status).toBe(401)
  })

  test('without the handle hook fail with the line that mounts it', async () => {
    const idp = client()
    const event = await signedInEvent()
    const missing = {
      code: 'AMBIENT_REQUEST_MISSING',
      message: expect.stringContaining('handle = idp.handle'),
    }
    await expect(idp.requireLogin(event)).rejects.toMatchObject(missing)
    await expect(idp.requireAuth(page)(event)).rejects.toMatchObject(missing)
  })
})

describe('a request that the application sends to itself', () => {
  test('sees the session as the outer request has saved it, and does not overwrite it', async () => {
    const idp = client()
    const event = await signedInEvent('due')
    let seen: unknown
    const response = await idp.handle({
      event,
      resolve: async (outer) => {
        await update(idp, outer, 'outer')
        const inner = await fetchItself(outer, sameCookie(outer))
        const response = await idp.handle({
          event: inner,
          resolve: async (passed) => {
            seen = (await idp.getSession(passed))?.['value']
            return page()
          },
        })
        expect(response.headers.getSetCookie()).toEqual([])
        return page()
      },
    })
    expect(seen).toBe('outer')
    const next = new Request(APP, { headers: { cookie: cookieOf(response) } })
    expect((await idp.getSession(next))?.['value']).toBe('outer')
  })

  test('saves the session with the response of the outer request', async () => {
    const idp = client()
    const response = await idp.handle({
      event: await signedInEvent(),
      resolve: async (outer) => {
        // SvelteKit adds a cookie that the application has set.
        const inner = await fetchItself(outer, {
          cookie: `${outer.request.headers.get('cookie')}; theme=dark`,
        })
        await idp.handle({
          event: inner,
          resolve: async (passed) => {
            await update(idp, passed, 'inner')
            return page()
          },
        })
        expect((await idp.getSession())?.['value']).toBe('inner')
        return page()
      },
    })
    const next = new Request(APP, { headers: { cookie: cookieOf(response) } })
    expect((await idp.getSession(next))?.['value']).toBe('inner')
    expect(response.headers.get('cache-control')).toContain('no-store')
  })

  test('with a session cookie of its own has that session, and cannot save it', async () => {
    const idp = client()
    const bob = await generateCookieHeader({ user: { sub: 'bob' } }, { secret: SECRET })
    await idp.handle({
      event: await signedInEvent(),
      resolve: async (outer) => {
        const inner = await fetchItself(outer, { cookie: bob })
        const resolve = async (passed: Event): Promise<Response> => {
          const found = [await idp.getSession(), await idp.getSession(passed), passed.locals['idpSession']]
          expect(found).toMatchObject(found.map(() => ({ user: { sub: 'bob' } })))
          await update(idp, passed, 'lost')
          return page()
        }
        const failing = idp.handle({ event: inner, resolve })
        await expect(failing).rejects.toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
        return page()
      },
    })
  })

  test('is anonymous without credentials', async () => {
    const idp = client()
    await idp.handle({
      event: await signedInEvent(),
      resolve: async (outer) => {
        const inner = await fetchItself(outer, {})
        await idp.handle({ event: inner, resolve: page })
        expect(inner.locals['idpSession']).toBeNull()
        return page()
      },
    })
  })

  test('has the session of a former library that its own cookies contain', async () => {
    const issuer = `https://${clientOptions.domain}`
    const endpoints = {
      authorization_endpoint: `${issuer}/a`,
      token_endpoint: `${issuer}/t`,
      jwks_uri: `${issuer}/k`,
    }
    const now = Date.now() / 1000
    const idp = client({
      [customFetch]: async () => Response.json({ issuer, ...endpoints }),
      takeOver: {
        until: new Date((now + 86_400) * 1000).toISOString().slice(0, 10),
        cookies: 'former',
        read: (cookies) => ({ user: { sub: cookies.get('former') ?? '' }, createdAt: now }),
      },
    })
    const outerEvent = toEvent(new Request(`${APP}/page`, { headers: { cookie: 'former=bob' } }))
    await idp.handle({
      event: outerEvent,
      resolve: async (outer) => {
        const users: (string | undefined)[] = []
        for (const headers of [{}, { cookie: 'former=alice' }, sameCookie(outer)])
          await idp.handle({
            event: await fetchItself(outer, headers),
            resolve: async (passed) => {
              users.push((await idp.getSession(passed))?.user.sub, (await idp.getSession())?.user.sub)
              return page()
            },
          })
        expect(users).toEqual([undefined, undefined, 'alice', 'alice', 'bob', 'bob'])
        return page()
      },
    })
  })

  test('cannot write once the response of the outer request has left', async () => {
    const idp = client()
    let leave = (): void => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    let late: Promise<unknown> = Promise.resolve()
    await idp.handle({
      event: await signedInEvent(),
      resolve: async (outer) => {
        const event = await fetchItself(outer, sameCookie(outer))
        const resolve = async (passed: Event): Promise<Response> => {
          await update(idp, passed, 'late')
          return page()
        }
        late = left.then(() => idp.handle({ event, resolve })).catch((error: unknown) => error)
        return page()
      },
    })
    leave()
    expect(await late).toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })
})

test('[F3] checkOrigin behind handle rejects forms of other origins, but not the posts of the provider', async () => {
  const idp = client()
  const check = checkOrigin()
  const send = (path: string): Promise<Response> => {
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      origin: 'https://idp.example',
    }
    const event = toEvent(new Request(APP + path, { method: 'POST', headers, body: 'state=x' }))
    return idp.handle({ event, resolve: (passed) => check({ event: passed, resolve: page }) })
  }
  expect((await send('/transfer')).status).toBe(403)
  const callback = await send('/auth/callback')
  expect(await callback.text()).toContain('UNKNOWN_STATE')
})

test.each([
  ['/shop', ['/shop']],
  ['', []],
])('paths.base of SvelteKit, %j, is reported if the base path does not name it', async (base, expected) => {
  // As SvelteKit's Vite plugin defines it in what it bundles.
  vi.stubGlobal('__SVELTEKIT_PATHS_BASE__', base)
  onTestFinished(() => void vi.unstubAllGlobals())
  forgetNotices()
  const events: LogEvent[] = []
  const idp = client({ logger: (event) => events.push(event) })
  // A build constructs the client, too, and may lack the variables of the server.
  expect(events).toEqual([])
  await idp.handle({ event: toEvent(new Request(APP)), resolve: page })
  expect(missingBasePaths(events)).toEqual(expected)
})

describe('the build of SvelteKit, which renders pages and follows their links', () => {
  function buildEvent(path: string): Event {
    // As SvelteKit sets it in the worker of its build.
    vi.stubEnv('SVELTEKIT_FORK', 'true')
    onTestFinished(() => void vi.unstubAllEnvs())
    return toEvent(new Request(`http://sveltekit-prerender${path}`))
  }

  test.each(['/auth/login', '/auth/logout', '/auth/profile', '/api/orders/7'])(
    'gets an empty response at %s, which it does not store as a page',
    async (path) => {
      const idp = client()
      idp.proxy({ prefix: '/api/orders', target: 'https://orders.example/' })
      const response = await idp.handle({ event: buildEvent(path), resolve: page })
      expect([response.status, await response.text()]).toEqual([204, ''])
    },
  )

  test('renders pages without a user, also while variables are missing', async () => {
    const event = buildEvent('/about')
    const response = await client({ secret: '' }).handle({ event, resolve: page })
    expect(await response.text()).toBe('page')
    expect(event.locals).toHaveProperty('idpSession', null)
  })
})
