import type { RequestListener, Server } from 'node:http'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Socket } from 'node:net'
import type { ErrorRequestHandler } from 'express'
import express from 'express'
import type { GetServerSidePropsContext, NextApiRequest, NextApiResponse } from 'next'
import { NextRequest } from 'next/server.js'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import type { GuardRequirements, IdpClientOptions, SessionAuth } from '../../src/index.ts'
import { isIdpError, IdpClient as WebClient } from '../../src/index.ts'
import { generateCookieHeader } from '../../src/testing/index.ts'
import { openLogin } from '../support/guard-login.ts'
import { clientOptions, SECRET } from './client-options.ts'
import { client as nextClient } from './next-support.ts'

const APP = 'http://app.example'
const NOW = Math.floor(Date.now() / 1000)

const options: IdpClientOptions = { ...clientOptions, appBaseUrl: APP }

/** The session cookie of a user whose login ended `age` seconds ago with these claims and this scope. */
async function cookieOf(claims: object, scope = 'openid', age = 1000): Promise<string> {
  const idToken = `e30.${Buffer.from(JSON.stringify({ sub: 'carol', ...claims })).toString('base64url')}.c2ln`
  const tokenSet = { accessToken: 'a', expiresAt: NOW + 600, idToken, scope }
  const session = { user: { sub: 'carol' }, tokenSet, internal: { createdAt: NOW - age } }
  return generateCookieHeader(session, { secret: SECRET, now: NOW })
}

/** A guarded API with this user, whose session has no ID token. */
async function statusFor(requirements: GuardRequirements, claims: object): Promise<number> {
  const idp = new WebClient(options)
  const handler = idp.withApiAuthRequired(() => new Response('in'), requirements)
  const cookie = await generateCookieHeader({ user: { sub: 'carol', ...claims } }, { secret: SECRET })
  return (await handler(new Request(`${APP}/vault`, { headers: { cookie } }))).status
}

test.each<[GuardRequirements, object, object]>([
  [{ organization: 'org_acme' }, { org_id: 'org_acme' }, { org_id: 'org_globex' }],
  [{ organization: 'acme' }, { org_id: 'org_acme', org_name: 'acme' }, {}],
  [{ acr: 'gold' }, { acr: 'gold' }, { acr: 'silver' }],
  [{ amr: ['mfa'] }, { amr: ['pwd', 'mfa'] }, { amr: ['pwd'] }],
  [{ maxAge: 60 }, { auth_time: NOW }, { auth_time: NOW - 600 }],
])(
  'a generated session without an ID token meets %j by the claims of its user',
  async (required, met, unmet) => {
    expect(await statusFor(required, met)).toBe(200)
    expect(await statusFor(required, unmet)).not.toBe(200)
  },
)

/** The result of a guard: `'in'`, a login with these parameters, an error to throw, a page with this status, or a JSON response. */
type Outcome =
  | 'in'
  | { readonly login: Readonly<Record<string, string>> }
  | { readonly thrown: string }
  | { readonly page: number }
  | { readonly status: number; readonly challenge: string | null; readonly body: Record<string, unknown> }

interface Host {
  page(requirements: GuardRequirements, cookie: string): Promise<Outcome>
  api(requirements: GuardRequirements, cookie: string): Promise<Outcome>
}

async function loginOf(location: string | null | undefined): Promise<Outcome> {
  const url = new URL(location ?? '', APP)
  expect([url.origin, url.pathname]).toEqual([APP, '/auth/login'])
  const { returnTo, ...login } = Object.fromEntries(url.searchParams)
  expect(returnTo).toBe('/vault?x=1')
  return { login: await openLogin(login, SECRET) }
}

async function outcomeOf(respond: () => Response | Promise<Response>): Promise<Outcome> {
  try {
    const response = await respond()
    if (response.status === 302) return loginOf(response.headers.get('location'))
    const text = await response.text()
    if (text === 'in') return 'in'
    if (response.headers.get('content-type')?.startsWith('text/html')) return { page: response.status }
    expect(response.headers.get('cache-control')).toContain('no-store')
    const challenge = response.headers.get('www-authenticate')
    const { login, ...body } = JSON.parse(text)
    const opened = login ? { login: await openLogin(login, SECRET) } : {}
    return { status: response.status, challenge, body: { ...body, ...opened } }
  } catch (error) {
    if (isIdpError(error)) return { thrown: error.code }
    throw error
  }
}

const web: Host = {
  page: (requirements, cookie) =>
    outcomeOf(() =>
      new WebClient(options).withPageAuthRequired(
        () => new Response('in'),
        requirements,
      )(new Request(`${APP}/vault?x=1`, { headers: { cookie } })),
    ),
  api: (requirements, cookie) =>
    outcomeOf(() =>
      new WebClient(options).withApiAuthRequired(
        () => new Response('in'),
        requirements,
      )(new Request(`${APP}/vault?x=1`, { headers: { cookie } })),
    ),
}

let server: Server
let listener: RequestListener

beforeAll(async () => {
  server = createServer((req, res) => listener(req, res))
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
})

afterAll(async () => {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Returns the response of a real server, without following redirects. */
async function requestOutcome(serving: RequestListener, cookie: string): Promise<Outcome> {
  listener = serving
  const { port } = server.address() as AddressInfo
  const url = `http://127.0.0.1:${port}/vault?x=1`
  const response = await fetch(url, { headers: { cookie }, redirect: 'manual' })
  return response.status === 599 ? { thrown: await response.text() } : outcomeOf(() => response)
}

function fromExpress(guard: express.RequestHandler, cookie: string): Promise<Outcome> {
  const failed: ErrorRequestHandler = (error, _req, res, _next) =>
    void res.status(599).send(isIdpError(error) ? error.code : String(error))
  const shown: express.RequestHandler = (_req, res) => void res.send('in')
  return requestOutcome(express().get('/vault', guard, shown).use(failed), cookie)
}

const inExpress: Host = {
  page: (requirements, cookie) =>
    fromExpress(new ExpressClient(options).withPageAuthRequired(requirements), cookie),
  api: (requirements, cookie) =>
    fromExpress(new ExpressClient(options).withApiAuthRequired(requirements), cookie),
}

const inExpressAroundHandler: Host = {
  page: (requirements, cookie) =>
    fromExpress(
      new ExpressClient(options).withPageAuthRequired((_req, _res, next) => next(), requirements),
      cookie,
    ),
  api: (requirements, cookie) =>
    fromExpress(
      new ExpressClient(options).withApiAuthRequired((_req, _res, next) => next(), requirements),
      cookie,
    ),
}

async function fromServerSideProps(requirements: GuardRequirements, cookie: string): Promise<Outcome> {
  const req = new IncomingMessage(new Socket())
  Object.assign(req, { cookies: {}, url: '/vault?x=1', headers: { host: 'app.example', cookie } })
  const context = { req, res: new ServerResponse(req), resolvedUrl: '/vault?x=1', query: {} }
  const guarded = nextClient(options).withPageAuthRequired(requirements)
  try {
    const result = await guarded(context as GetServerSidePropsContext)
    return 'redirect' in result ? await loginOf(result.redirect.destination) : 'in'
  } catch (error) {
    if (isIdpError(error)) return { thrown: error.code }
    throw error
  }
}

function fromPagesApi(requirements: GuardRequirements, cookie: string): Promise<Outcome> {
  const guarded = nextClient(options).withApiAuthRequired(
    (_req: NextApiRequest, response: NextApiResponse) => void response.end('in'),
    requirements,
  )
  return requestOutcome((req, res) => guarded(req as NextApiRequest, res as NextApiResponse), cookie)
}

const inPages: Host = { page: fromServerSideProps, api: fromPagesApi }

const inAppRouter: Pick<Host, 'api'> = {
  api: (requirements, cookie) =>
    outcomeOf(() =>
      nextClient(options).withApiAuthRequired(() => new Response('in'), requirements)(
        new NextRequest(`${APP}/vault?x=1`, { headers: { cookie } }),
        {},
      ),
    ),
}

const AUTHENTICATION = 'INSUFFICIENT_USER_AUTHENTICATION'
const bearer = (code: string, parameters: string): unknown =>
  expect.stringMatching(new RegExp(`^Bearer error="${code}", error_description="[^"]+"${parameters}$`))

interface Row {
  readonly title: string
  readonly requirements: GuardRequirements
  readonly cookie: () => Promise<string>
  readonly page: unknown
  readonly api: unknown
}

const strong = { auth_time: NOW - 100, acr: 'gold', amr: ['pwd', 'otp'], org_id: 'org_1', org_name: 'acme' }
const everything: GuardRequirements = {
  maxAge: 300,
  acr: ['gold', 'platinum'],
  amr: ['otp'],
  organization: 'org_1',
  scope: 'read:a',
}
const everyParameter = {
  max_age: '300',
  acr_values: 'gold platinum',
  organization: 'org_1',
  scope: 'read:a',
}

/** A refusal by one requirement alone: what the page and what the API makes of it. */
function refusedBy(
  requirements: GuardRequirements,
  login: Record<string, string>,
  [status, code, challenge]: readonly [number, string, unknown],
): Pick<Row, 'requirements' | 'page' | 'api'> {
  return {
    requirements,
    page: { login },
    api: { status, challenge, body: expect.objectContaining({ code, login }) },
  }
}

const rows: readonly Row[] = [
  {
    title: 'all requirements are met',
    requirements: everything,
    cookie: () => cookieOf(strong, 'openid read:a'),
    page: 'in',
    api: 'in',
  },
  {
    title: 'no user is signed in',
    requirements: everything,
    cookie: async () => '',
    page: { login: everyParameter },
    api: {
      status: 401,
      challenge: null,
      body: { error: 'not_authenticated', code: 'NOT_AUTHENTICATED', description: expect.any(String) },
    },
  },
  {
    title: 'one of five is not met, and the login requests all',
    requirements: everything,
    cookie: () => cookieOf(strong, 'openid'),
    page: { login: everyParameter },
    api: {
      status: 403,
      challenge: bearer('insufficient_scope', ', scope="read:a"'),
      body: expect.objectContaining({ code: 'INSUFFICIENT_SCOPE', login: everyParameter }),
    },
  },
  {
    title: 'the authentication is too old',
    cookie: () => cookieOf({ ...strong, auth_time: NOW - 1000 }),
    ...refusedBy({ maxAge: 300 }, { max_age: '300' }, [
      401,
      AUTHENTICATION,
      bearer('insufficient_user_authentication', ', max_age="300"'),
    ]),
  },
  {
    title: 'the authentication is too weak',
    cookie: () => cookieOf({ ...strong, acr: 'bronze' }),
    ...refusedBy({ acr: 'gold' }, { acr_values: 'gold' }, [
      401,
      AUTHENTICATION,
      bearer('insufficient_user_authentication', ', acr_values="gold"'),
    ]),
  },
  {
    title: 'there was no second factor',
    cookie: () => cookieOf({ ...strong, amr: ['pwd'] }, 'openid', 4000),
    ...refusedBy({ amr: ['pwd', 'otp'] }, {}, [
      401,
      AUTHENTICATION,
      bearer('insufficient_user_authentication', ''),
    ]),
  },
  {
    title: 'the session belongs to another organization',
    cookie: () => cookieOf({ ...strong, org_id: 'org_2', org_name: 'other' }),
    ...refusedBy({ organization: 'org_1' }, { organization: 'org_1' }, [403, 'WRONG_ORGANIZATION', null]),
  },
  {
    title: 'a login without its own parameters has just not met the requirements',
    requirements: { amr: 'otp' },
    cookie: () => cookieOf({ auth_time: NOW - 100, amr: ['pwd'] }, 'openid', 5),
    page: { thrown: AUTHENTICATION },
    api: {
      status: 401,
      challenge: bearer('insufficient_user_authentication', ''),
      body: expect.not.objectContaining({ login: expect.anything() }),
    },
  },
]

const hosts: readonly (readonly [string, Partial<Host>])[] = [
  ['Web', web],
  ['Express', inExpress],
  ['Express, around a handler', inExpressAroundHandler],
  ['Next, Pages Router', inPages],
  ['Next, App Router', inAppRouter],
]

describe.each(hosts)('%s', (_name, { page, api }) => {
  test.each(rows)('$title', async (row) => {
    const cookie = await row.cookie()
    if (page) expect(await page(row.requirements, cookie)).toEqual(row.page)
    expect(await api?.(row.requirements, cookie)).toEqual(row.api)
  })
})

describe('authorize', () => {
  const roles = { realm_access: { roles: ['editor'] } }
  const hasRole =
    (role: string) =>
    ({ claims }: SessionAuth): boolean =>
      (claims['realm_access'] as typeof roles.realm_access).roles.includes(role)
  const denied = {
    status: 403,
    challenge: null,
    body: { error: 'access_denied', code: 'ACCESS_DENIED', description: expect.any(String) },
  }
  const shows403 = { page: 403 }
  const pages: Readonly<Record<string, unknown>> = {
    Web: shows403,
    Express: shows403,
    'Express, around a handler': shows403,
    'Next, Pages Router': { thrown: 'ACCESS_DENIED' },
  }

  describe.each(hosts)('%s', (name, { page, api }) => {
    test('lets pass whom it returns true for, after the other requirements are met', async () => {
      const seen: SessionAuth[] = []
      const authorize = (auth: SessionAuth): boolean => seen.push(auth) > 0 && hasRole('editor')(auth)
      const cookie = await cookieOf({ ...strong, ...roles }, 'openid read:a')
      expect(await api?.({ ...everything, authorize }, cookie)).toBe('in')
      expect(seen).toEqual([
        {
          kind: 'session',
          sub: 'carol',
          isClient: false,
          scope: 'openid read:a',
          claims: expect.objectContaining({ sub: 'carol', ...roles }),
          session: expect.objectContaining({ user: { sub: 'carol' } }),
        },
      ])
      if (page) expect(await page({ authorize: async (auth) => hasRole('editor')(auth) }, cookie)).toBe('in')
    })

    test.each<[string, unknown]>([
      ['false', hasRole('admin')],
      ['a promise of false', async () => false],
      ['a value that is not true', () => 'yes'],
      ['nothing', () => undefined],
    ])('denies access with 403, or the error of that status, for %s', async (_what, given) => {
      const authorize = given as () => boolean
      const cookie = await cookieOf(roles)
      expect(await api?.({ authorize }, cookie)).toEqual(denied)
      if (page) expect(await page({ authorize }, cookie)).toEqual(pages[name])
    })

    test('is not called without a session, or if another requirement is not met', async () => {
      let calls = 0
      const authorize = (): boolean => ++calls > 0
      const refused = { status: 401 }
      expect(await api?.({ authorize }, '')).toMatchObject(refused)
      expect(await api?.({ acr: 'gold', authorize }, await cookieOf({}))).toMatchObject(refused)
      if (page) expect(await page({ authorize }, '')).toEqual({ login: {} })
      expect(calls).toBe(0)
    })

    test('gets no claim that the application may have changed, if no ID token is stored', async () => {
      const user = { sub: 'carol', roles: ['admin'] }
      const tokenSet = { accessToken: 'a', expiresAt: NOW + 600 }
      const session = { user, tokenSet, internal: { createdAt: NOW } }
      const cookie = await generateCookieHeader(session, { secret: SECRET, now: NOW })
      const seen: unknown[] = []
      const authorize = ({ claims, scope }: SessionAuth): boolean => seen.push(claims, scope) > 0
      expect(await api?.({ authorize }, cookie)).toBe('in')
      expect(seen).toEqual([{ sub: 'carol' }, ''])
    })

    test('denies access if it throws', async () => {
      const authorize = (): never => {
        throw new TypeError('no roles')
      }
      const cookie = await cookieOf(roles)
      const failed = { status: 500, body: { code: 'INTERNAL_ERROR' } }
      expect(await api?.({ authorize }, cookie)).toMatchObject(failed)
      if (page) expect(JSON.stringify(await page({ authorize }, cookie).catch(String))).toContain('no roles')
    })
  })

  test('that is not a function is rejected when the guard is created', () => {
    for (const authorize of ['admin', true, {}, null, undefined])
      expect(() =>
        new WebClient(options).withApiAuthRequired(() => new Response('in'), { authorize } as object),
      ).toThrow('authorize must be a function')
  })
})

describe('options that a guard does not know throw when it is created', () => {
  const unknown = { maxAge: 5, roles: ['admin'] } as object
  const wrong = { maxAge: '5' } as object
  const handler = () => new Response('in')
  const next = nextClient(options)
  const inExpress = new ExpressClient(options)
  const pass: express.RequestHandler = (_req, _res, next) => next()

  const guards: readonly (readonly [string, (options: object) => unknown])[] = [
    ['Web page', (given) => new WebClient(options).withPageAuthRequired(handler, given)],
    ['Web API', (given) => new WebClient(options).withApiAuthRequired(handler, given)],
    ['Express page', (given) => inExpress.withPageAuthRequired(given)],
    ['Express page around a handler', (given) => inExpress.withPageAuthRequired(pass, given)],
    ['Express API', (given) => inExpress.withApiAuthRequired(given)],
    ['Express API around a handler', (given) => inExpress.withApiAuthRequired(pass, given)],
    ['page component', (given) => next.withPageAuthRequired(() => null, given)],
    ['getServerSideProps', (given) => next.withPageAuthRequired(given)],
    ['route handler or API route', (given) => next.withApiAuthRequired(handler, given)],
  ]

  test.each(guards)('%s', (_what, make) => {
    const refused = expect.objectContaining({ name: 'InvalidConfigurationError' })
    for (const given of [unknown, wrong, { max_age: 5 }, { acr: '' }, []])
      expect(() => make(given)).toThrow(refused)
    expect(() => make(null as unknown as object)).toThrow(refused)
    expect(() => make({ maxAge: 5, acr: undefined })).not.toThrow()
  })

  test('options of the other kind of guard are rejected', () => {
    expect(() => next.withPageAuthRequired(() => null, { getServerSideProps: pass } as object)).toThrow(
      'getServerSideProps is not an option',
    )
    expect(() => inExpress.withApiAuthRequired({ returnTo: '/' } as object)).toThrow(
      'returnTo is not an option',
    )
  })

  test('a second object of options, which would have no effect, is rejected', () => {
    const misused: readonly ((...given: never[]) => unknown)[] = [
      (...given) => inExpress.withPageAuthRequired(...given),
      (...given) => inExpress.withApiAuthRequired(...given),
      (...given) => next.withPageAuthRequired(...given),
    ]
    for (const make of misused) {
      for (const first of [{}, undefined]) {
        expect(() => make(first as never, { maxAge: 5 } as never)).toThrow('not a handler')
      }
    }
  })
})
