import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { GetServerSidePropsContext, NextApiRequest, NextApiResponse } from 'next'
import { NextResponse } from 'next/server.js'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { IdpClient } from '../../src/adapters/next/index.ts'
import { isIdpError } from '../../src/adapters/next/index.ts'
import { cookieNames, signedIn } from './client-options.ts'
import { client, nextRequest } from './next-support.ts'

interface Pages {
  readonly req: IncomingMessage
  readonly res: ServerResponse
}

function pages(url: string, headers: Readonly<Record<string, string>> = {}, method = 'GET'): Pages {
  const req = new IncomingMessage(new Socket())
  Object.assign(req, { method, url, headers: { host: 'app.example', ...headers } })
  return { req, res: new ServerResponse(req) }
}

function context(
  resolvedUrl: string,
  { req, res }: Pages = pages(resolvedUrl),
  more: Partial<GetServerSidePropsContext> = {},
): GetServerSidePropsContext {
  return { req: Object.assign(req, { cookies: {} }), res, resolvedUrl, query: {}, ...more }
}

function loginFrom(returnTo: string): object {
  const destination = `/auth/login?returnTo=${encodeURIComponent(returnTo)}`
  return { redirect: { destination, permanent: false } }
}

afterEach(() => {
  vi.unstubAllEnvs()
})

test('[F15] a header named get does not make the request of an API route a Web request', async () => {
  const idp = client()
  const { req, res } = pages('/api/thing', { get: '1', ...(await signedIn()) })
  expect((await idp.getSession(req))?.user.sub).toBe('carol')
  const guarded = idp.withApiAuthRequired((_request: NextApiRequest, response: NextApiResponse) => {
    response.statusCode = 204
  })
  await guarded(req as NextApiRequest, res as NextApiResponse)
  expect(res.statusCode).toBe(204)
  const nobody = pages('/api/thing', { get: '1' })
  await guarded(nobody.req as NextApiRequest, nobody.res as NextApiResponse)
  expect(nobody.res.statusCode).toBe(401)
})

describe('withPageAuthRequired for the Pages Router', () => {
  test.each([
    ['the URL of the page', {}, context('/page?x=1'), '/page?x=1'],
    [
      'the URL of the page without the parameter of the router',
      {},
      context('/page?x=1&_rsc=1a2b'),
      '/page?x=1',
    ],
    ['the option', { returnTo: '/other' }, context('/page'), '/other'],
    [
      'the option as a function',
      { returnTo: async ({ resolvedUrl }: GetServerSidePropsContext) => `${resolvedUrl}?back` },
      context('/page'),
      '/page?back',
    ],
    [
      'the path that the proxy saw',
      {},
      context('/rewritten', pages('/rewritten', { 'x-idp-return-path': '/fr/page?x=1' })),
      '/fr/page?x=1',
    ],
    ['a locale', {}, context('/page', pages('/page'), { locale: 'fr', defaultLocale: 'en' }), '/fr/page'],
    [
      'the default locale',
      {},
      context('/page', pages('/page'), { locale: 'en', defaultLocale: 'en' }),
      '/page',
    ],
  ])(
    'a request without a session is redirected to the login and back to %s',
    async (_what, options, given, expected) => {
      expect(await client().withPageAuthRequired(options)(given)).toEqual(loginFrom(expected))
      expect(given.res.hasHeader('set-cookie')).toBe(false)
    },
  )

  test('a form that is posted without a session is not posted again to the login', async () => {
    const given = context('/page')
    given.req.method = 'POST'
    const destination = '/auth/login?returnTo=%2Fpage'
    expect(await client().withPageAuthRequired()(given)).toEqual({
      redirect: { destination, statusCode: 303 },
    })
  })

  test('Next.js adds the base path to the redirect itself', async () => {
    vi.stubEnv('NEXT_PUBLIC_BASE_PATH', '/docs')
    const idp = client()
    expect(idp.basePath).toBe('/docs')
    expect(await idp.withPageAuthRequired()(context('/page'))).toEqual(loginFrom('/page'))
  })

  async function visited(options: Parameters<IdpClient['withPageAuthRequired']>[0] = {}): Promise<unknown> {
    const guarded = client().withPageAuthRequired(options as object)
    return guarded(context('/page', pages('/page', await signedIn())))
  }

  const user = { sub: 'carol', name: 'Carol' }

  test('a signed-in user gets the page, with the user as prop', async () => {
    expect(await visited()).toEqual({ props: { user } })
    expect(await visited({ getServerSideProps: async () => ({ props: { a: 1 } }) })).toEqual({
      props: { user, a: 1 },
    })
    const promised = { getServerSideProps: async () => ({ props: Promise.resolve({ a: 1 }) }) }
    expect(await visited(promised)).toEqual({ props: { user, a: 1 } })
  })

  test("the user of the page's own props is used; other results are unchanged", async () => {
    expect(await visited({ getServerSideProps: async () => ({ props: { user: 'own' } }) })).toEqual({
      props: { user: 'own' },
    })
    expect(await visited({ getServerSideProps: async () => ({ notFound: true }) })).toEqual({
      notFound: true,
    })
    const redirect = { destination: '/elsewhere', permanent: true }
    expect(await visited({ getServerSideProps: async () => ({ redirect }) })).toEqual({ redirect })
  })

  test('a page function runs only with a session, and never without a secret', async () => {
    const getServerSideProps = vi.fn(async () => ({ props: {} }))
    await client().withPageAuthRequired({ getServerSideProps })(context('/page'))
    const incomplete = client({ secret: 'short' }).withPageAuthRequired({ getServerSideProps })
    await expect(incomplete(context('/page', pages('/page', await signedIn())))).rejects.toMatchObject({
      code: 'INVALID_CONFIGURATION',
    })
    expect(getServerSideProps).not.toHaveBeenCalled()
  })
})

describe('withApiAuthRequired', () => {
  const handler = client().withApiAuthRequired(async (request, parameters: { id: string }) =>
    Response.json({ url: request.nextUrl.pathname, parameters }),
  )

  test('a route handler responds with 401 as JSON without a session', async () => {
    const response = await handler(nextRequest('/api'), { id: '1' })
    expect(response.status).toBe(401)
    expect(await response.json()).toMatchObject({ error: 'not_authenticated', code: 'NOT_AUTHENTICATED' })
  })

  test('a route handler receives request and parameters, and returns the response class of Next.js', async () => {
    const response = await handler(nextRequest('/api', { headers: await signedIn() }), { id: '1' })
    expect(response).toBeInstanceOf(NextResponse)
    expect(await response.json()).toEqual({ url: '/api', parameters: { id: '1' } })
  })

  function api(headers: Readonly<Record<string, string>>): [NextApiRequest, NextApiResponse] {
    const { req, res } = pages('/api/thing', headers)
    return [req as NextApiRequest, res as NextApiResponse]
  }

  const pagesHandler = client().withApiAuthRequired((_request: NextApiRequest, response: NextApiResponse) => {
    response.statusCode = 204
    response.end()
  })

  test('an API route responds with 401 as JSON without a session, otherwise calls the handler', async () => {
    const [request, response] = api({})
    await pagesHandler(request, response)
    expect([response.statusCode, response.getHeader('content-type')]).toEqual([401, 'application/json'])
    const [known, received] = api(await signedIn())
    await pagesHandler(known, received)
    expect(received.statusCode).toBe(204)
  })

  test('an incomplete configuration responds with 500, in both routers', async () => {
    const guard = client({ secret: 'short' })
    const never = vi.fn(() => Response.json({}))
    const refused = await guard.withApiAuthRequired(never)(
      nextRequest('/api', { headers: await signedIn() }),
      {},
    )
    expect([refused.status, (await refused.json()).code]).toEqual([500, 'INVALID_CONFIGURATION'])
    const [request, response] = api(await signedIn())
    await guard.withApiAuthRequired((_request: NextApiRequest, _response: NextApiResponse) => never())(
      request,
      response,
    )
    expect(response.statusCode).toBe(500)
    expect(never).not.toHaveBeenCalled()
  })
})

describe('auth routes without a proxy', () => {
  test('a catch-all route handler responds to every method', async () => {
    const handlers = client().handlers()
    const profile = await handlers.GET(nextRequest('/auth/profile', { headers: await signedIn('due') }))
    expect([profile.status, cookieNames(profile)]).toEqual([200, ['__session']])
    for (const method of ['POST', 'HEAD', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'] as const) {
      const response = await handlers[method](nextRequest('/auth/profile', { method }))
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
    }
    expect((await handlers.GET(nextRequest('/auth/nothing'))).status).toBe(404)
  })

  test('a catch-all API route serves the paths of the options', async () => {
    const idp = client({ routes: { profile: '/api/auth/profile' } })
    const { req, res } = pages('/api/auth/profile?x=1', await signedIn('due'))
    await idp.pagesHandler()(req as NextApiRequest, res as NextApiResponse)
    expect(res.statusCode).toBe(200)
    expect(String(res.getHeader('set-cookie'))).toMatch(/^__session=/)
    const other = pages('/api/auth/nothing')
    await idp.pagesHandler()(other.req as NextApiRequest, other.res as NextApiResponse)
    expect(other.res.statusCode).toBe(404)
  })
})

describe('operations', () => {
  test('without a request outside Next.js they throw the error of Next.js, and return no session', async () => {
    await expect(client().getSession()).rejects.toSatisfy(
      (error) => error instanceof Error && !isIdpError(error),
    )
  })

  test('getSession accepts every kind of request', async () => {
    const idp = client()
    const headers = await signedIn()
    const { req } = pages('/page', headers)
    for (const request of [
      nextRequest('/page', { headers }),
      new Request('https://app.example/', { headers }),
      req,
    ]) {
      expect((await idp.getSession(request))?.user.sub).toBe('carol')
    }
    expect(await idp.getSession(nextRequest('/page'))).toBeNull()
  })

  test('updateSession writes to NextResponse, Response, Headers or res, and requires one of them', async () => {
    const idp = client()
    const headers = await signedIn()
    const data = {
      user: { sub: 'carol' },
      tokenSet: { accessToken: 'a', expiresAt: 1 },
      internal: { createdAt: 1 },
    }
    const lines = new Headers()
    for (const target of [new NextResponse(), new Response(), lines]) {
      await idp.updateSession(nextRequest('/page', { headers }), target, data)
      const written = target instanceof Headers ? target : target.headers
      expect(written.getSetCookie()[0]).toMatch(/^__session=/)
      expect(written.get('cache-control')).toContain('no-store')
    }
    const { req, res } = pages('/page', headers)
    await idp.updateSession(req, res, data)
    expect(String(res.getHeader('set-cookie'))).toMatch(/^__session=/)
    expect(res.getHeader('cache-control')).toContain('no-store')
  })

  test('the browser variables set routes and base path', () => {
    vi.stubEnv('NEXT_PUBLIC_LOGIN_ROUTE', '/sign-in')
    vi.stubEnv('FRAMEWORK_PUBLIC_PROFILE_ROUTE', '/who')
    const { routes, basePath } = client({ routes: { logout: '/bye' } })
    expect({ routes, basePath }).toEqual({
      routes: {
        login: '/sign-in',
        logout: '/bye',
        profile: '/who',
        accessToken: '/auth/access-token',
        mfaAuthenticators: '/auth/mfa/authenticators',
        mfaChallenge: '/auth/mfa/challenge',
        mfaAssociate: '/auth/mfa/associate',
        mfaVerify: '/auth/mfa/verify',
      },
      basePath: '',
    })
  })
})
