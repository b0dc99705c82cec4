import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { IdpClientOptions, SessionData } from '../../src/index.ts'
import { continueWith, customFetch, IdpClient } from '../../src/index.ts'
import { APP, clientOptions, cookieNames, signedIn } from './client-options.ts'

const client = (options: IdpClientOptions = {}): IdpClient => new IdpClient({ ...clientOptions, ...options })

async function signedInRequest(use: 'fresh' | 'due' = 'fresh'): Promise<Request> {
  return new Request(`${APP}/page`, { headers: await signedIn(use) })
}

async function update(idp: IdpClient, value: string, ...target: [Request, Headers?]): Promise<void> {
  const session = await idp.getSession(target[0])
  await idp.updateSession({ ...(session as SessionData), value }, ...target)
}

/** The value that a browser sends in its next request, which has stored the cookies of a response. */
async function nextValue(idp: IdpClient, response: Response): Promise<unknown> {
  const jar = new Map<string, string>()
  for (const line of response.headers.getSetCookie()) {
    const [pair = ''] = line.split(';', 1)
    jar.set(pair.split('=', 1)[0] ?? '', pair)
  }
  const headers = { cookie: [...jar.values()].join('; ') }
  return (await idp.getSession(new Request(APP, { headers })))?.['value']
}

describe('[F1] a request whose response has left', () => {
  test('is read-only for operations without a request', async () => {
    const idp = client()
    let leave = (): void => {}
    const left = new Promise<void>((resolve) => {
      leave = resolve
    })
    let late: Promise<unknown> = Promise.resolve()
    await idp.middleware(await signedInRequest(), async () => {
      const session = (await idp.getSession()) as SessionData
      late = left
        .then(() => idp.updateSession({ ...session, value: 'late' }))
        .catch((error: unknown) => error)
      return new Response('page')
    })
    leave()
    expect(await late).toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })

  test('is read-only for operations with the request', async () => {
    const idp = client()
    const request = await signedInRequest()
    await idp.middleware(request, () => new Response('page'))
    await expect(update(idp, 'late', request)).rejects.toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })

  test('is not one that has passed a middleware without next: the application responds later', async () => {
    const idp = client()
    const request = await signedInRequest()
    const headers = new Headers()
    await idp.middleware(request)
    await update(idp, 'written', request, headers)
    expect(headers.getSetCookie()).toEqual([expect.stringMatching(/^__session=/)])
  })

  test('is read-only for operations with the headers of that response', async () => {
    const idp = client()
    const request = await signedInRequest()
    const headers = new Headers()
    await idp.middleware(request, () => new Response('page', { headers }))
    await expect(update(idp, 'late', request, headers)).rejects.toMatchObject({
      code: 'SESSION_NOT_WRITABLE',
    })
  })

  test('is read-only after its handler has thrown', async () => {
    const idp = client()
    const request = await signedInRequest()
    const failing = idp.middleware(request, () => Promise.reject(new Error('of the handler')))
    await expect(failing).rejects.toThrow('of the handler')
    await expect(update(idp, 'late', request)).rejects.toMatchObject({ code: 'SESSION_NOT_WRITABLE' })
  })

  test('can be written with the request alone before that', async () => {
    const idp = client()
    const response = await idp.middleware(await signedInRequest(), async (request) => {
      await update(idp, 'in time', request)
      return new Response('page')
    })
    expect(await nextValue(idp, response)).toBe('in time')
    expect(response.headers.get('cache-control')).toContain('no-store')
  })
})

describe('[F1] a cookie that the application has written itself', () => {
  test('is not replaced by the older one of the middleware', async () => {
    const idp = client()
    const response = await idp.middleware(await signedInRequest('due'), async (request) => {
      const headers = new Headers()
      await update(idp, 'newer', new Request(request), headers)
      return new Response('page', { headers })
    })
    expect(await nextValue(idp, response)).toBe('newer')
    expect(cookieNames(response)).toEqual(['__session'])
  })

  test('is not replaced by the older one of a continue response', async () => {
    const idp = client()
    const request = await signedInRequest('due')
    const continued = await idp.middleware(request)
    const headers = new Headers()
    await update(idp, 'newer', new Request(request), headers)
    const response = continueWith(continued, new Response('page', { headers }))
    expect(cookieNames(continued)).toEqual(['__session'])
    expect(await nextValue(idp, response)).toBe('newer')
    expect(cookieNames(response)).toEqual(['__session'])
  })

  test('is replaced, whole or split, if it is older', async () => {
    const idp = client()
    const response = await idp.middleware(await signedInRequest(), async (request) => {
      const headers = new Headers()
      await update(idp, 'older', request, headers)
      await update(idp, 'newer', request)
      return new Response('page', { headers })
    })
    expect(await nextValue(idp, response)).toBe('newer')
  })

  test('is not cacheable, even if only its line reaches the response', async () => {
    const idp = client()
    const response = await idp.middleware(await signedInRequest(), async (request) => {
      const headers = new Headers()
      await update(idp, 'theirs', request, headers)
      const [cookie = ''] = headers.getSetCookie()
      return new Response('page', {
        headers: { 'set-cookie': cookie, 'cache-control': 'public, max-age=300' },
      })
    })
    expect(await nextValue(idp, response)).toBe('theirs')
    expect(response.headers.get('cache-control')).toContain('no-store')
  })

  test('by a copy of the request does not replace a later update of ours', async () => {
    const idp = client()
    const response = await idp.middleware(await signedInRequest(), async (request) => {
      const headers = new Headers()
      const session = (await idp.getSession()) as SessionData
      await update(idp, 'earlier', new Request(request), headers)
      await idp.updateSession({ ...session, value: 'later' })
      return new Response('page', { headers })
    })
    expect(await nextValue(idp, response)).toBe('later')
  })

  test('with a target is read back by the same request', async () => {
    const idp = client()
    await idp.middleware(await signedInRequest(), async (request) => {
      await update(idp, 'written', request, new Headers())
      expect((await idp.getSession())?.['value']).toBe('written')
      return new Response('page')
    })
  })

  test('of another name stays beside ours', async () => {
    const idp = client()
    const response = await idp.middleware(await signedInRequest('due'), () => {
      return new Response('page', { headers: { 'set-cookie': '__session2=theirs' } })
    })
    expect(cookieNames(response)).toEqual(['__session2', '__session'])
  })
})

/** Responds with the metadata of a provider. */
const provider = (async (input: RequestInfo | URL) => {
  const { origin } = new URL(String(input))
  return Response.json({
    issuer: origin,
    authorization_endpoint: `${origin}/authorize`,
    token_endpoint: `${origin}/token`,
    jwks_uri: `${origin}/jwks`,
    response_types_supported: ['code'],
  })
}) as typeof fetch

describe('[F12] a login that a handler starts', () => {
  test('keeps its cookie if the handler passes on only the location', async () => {
    const idp = client({ [customFetch]: provider })
    const response = await idp.middleware(new Request(`${APP}/join`), async () => {
      const { headers } = await idp.startInteractiveLogin()
      return new Response(null, { status: 302, headers: { location: headers.get('location') ?? '' } })
    })
    expect(response.status).toBe(302)
    expect(cookieNames(response)).toEqual([expect.stringMatching(/^__txn_/)])
  })

  test('has its cookie once if the handler returns the whole response', async () => {
    const idp = client({ [customFetch]: provider })
    const response = await idp.middleware(new Request(`${APP}/join`), () => idp.startInteractiveLogin())
    expect(cookieNames(response)).toEqual([expect.stringMatching(/^__txn_/)])
    expect(response.headers.get('cache-control')).toContain('no-store')
  })
})

test('a response that a handler throws has the cookies of its request, and its own properties', async () => {
  const idp = client()
  const thrown = Object.assign(new Response(null, { status: 303, headers: { location: '/' } }), {
    options: 1,
  })
  // As Next.js and MSW do.
  Object.defineProperty(thrown, 'url', { value: APP, enumerable: true })
  const failing = idp.middleware(await signedInRequest(), async (request) => {
    await update(idp, 'kept', request)
    throw thrown
  })
  const response: unknown = await failing.catch((error: unknown) => error)
  if (!(response instanceof Response)) throw response
  expect(await nextValue(idp, response)).toBe('kept')
  expect([response.status, Reflect.get(response, 'options')]).toEqual([303, 1])
  expect(thrown.headers.getSetCookie()).toEqual([])
})

// Bun 1.3 and earlier stop at a clone of a direct stream, which React renders pages to.
test('on Bun, only a response without a content type is cloned', async () => {
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.stubGlobal('Bun', {})
  const cloned: (string | null)[] = []
  for (const type of ['text/html', null]) {
    const response = new Response(new ReadableStream(), { headers: type ? { 'content-type': type } : {} })
    vi.spyOn(response, 'clone').mockImplementation(() => {
      cloned.push(type)
      return new Response()
    })
    const copy = await client().middleware(await signedInRequest('due'), () => response)
    expect(cookieNames(copy)).not.toEqual([])
  }
  expect(cloned).toEqual([null])
})

test('a handler may return no response, as one of Bun that has upgraded the request to a WebSocket', async () => {
  const upgrade = (): Response => undefined as never
  expect(await client().middleware(await signedInRequest('due'), upgrade)).toBeUndefined()
})

test('a login that was started twice leaves no older session behind', async () => {
  const idp = client({ [customFetch]: provider })
  const response = await idp.middleware(await signedInRequest('due'), async (request) => {
    const first = await idp.startInteractiveLogin()
    await update(idp, 'latest', request)
    await idp.startInteractiveLogin()
    return first
  })
  expect(await nextValue(idp, response)).toBe('latest')
})

test('an application around two clients can write after the inner one', async () => {
  const [outer, inner] = [client(), client({ session: { cookie: { name: 'inner' } } })]
  const response = await outer.middleware(await signedInRequest(), async (request) => {
    const page = await inner.middleware(request, () => new Response('page'))
    const headers = new Headers(page.headers)
    await update(outer, 'after', request, headers)
    return new Response(page.body, { headers })
  })
  expect(await nextValue(outer, response)).toBe('after')
})

test('[F11] a form that was read before the middleware is an error of the request that names the fix', async () => {
  const events: unknown[] = []
  const idp = client({ logger: (event) => events.push(event) })
  const request = new Request(`${APP}/auth/callback`, {
    method: 'POST',
    body: new URLSearchParams({ state: 'state', code: 'code' }),
  })
  await request.formData()
  const response = await idp.middleware(request)
  expect(response.status).toBe(400)
  expect(JSON.stringify(events)).toContain('Mount the middleware first: idp.middleware')
})

test('a middleware that is mounted twice says so', async () => {
  const idp = client()
  const twice = idp.middleware(new Request(APP), (request) =>
    idp.middleware(request, () => new Response('page')),
  )
  await expect(twice).rejects.toMatchObject({
    code: 'INVALID_CONFIGURATION',
    message: expect.stringContaining('mounted twice'),
  })
})

test('middlewares of two clients serve one request', async () => {
  const [first, second] = [client(), client({ session: { cookie: { name: 'second' } } })]
  const response = await first.middleware(await signedInRequest(), (request) =>
    second.middleware(request, async () => {
      await update(first, 'first', request)
      return Response.json([
        (await first.getSession())?.user.sub,
        (await second.getSession(request))?.user.sub ?? null,
      ])
    }),
  )
  expect(await response.json()).toEqual(['carol', null])
  expect(await nextValue(first, response)).toBe('first')
})

test('a client that is not mounted shares the request of one with the same cookies', async () => {
  const [mounted, further] = [client(), client()]
  const response = await mounted.middleware(await signedInRequest(), async (request) => {
    await update(mounted, 'saved', request)
    const session = (await further.getSession()) as SessionData
    await further.updateSession({ ...session, value: `${session['value']}, and changed` })
    return new Response('page')
  })
  expect(cookieNames(response)).toEqual(['__session'])
  expect(await nextValue(mounted, response)).toBe('saved, and changed')
})

test('[F14] two copies of the package share the current request', async () => {
  const newCopy = async () => {
    vi.resetModules()
    return (await import('../../src/index.ts')).IdpClient
  }
  const [First, Second] = [await newCopy(), await newCopy()]
  expect(First).not.toBe(Second)
  const [idp, other] = [new First(clientOptions), new Second(clientOptions)]
  const response = await idp.middleware(await signedInRequest(), async () =>
    Response.json((await other.getSession())?.user.sub),
  )
  expect(await response.json()).toBe('carol')
})

describe('guards as values', () => {
  test('return the session, or a response', async () => {
    const idp = client()
    const request = await signedInRequest()
    expect((await idp.requireLogin(request)).session?.user.sub).toBe('carol')
    expect((await idp.requireAuth(request)).session?.user.sub).toBe('carol')
    const { response: login } = await idp.requireLogin(new Request(`${APP}/page?q=1`))
    expect([login?.status, login?.headers.get('location')]).toEqual([
      302,
      `/auth/login?returnTo=${encodeURIComponent('/page?q=1')}`,
    ])
    const { response: rejection } = await idp.requireAuth(new Request(`${APP}/api`))
    expect([rejection?.status, rejection?.headers.get('location')]).toEqual([401, null])
  })

  test('reject unknown options', async () => {
    const request = await signedInRequest()
    await expect(client().requireLogin(request, { role: 'admin' } as never)).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
    })
    await expect(client().requireAuth(request, { returnTo: '/' } as never)).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
    })
  })
})
