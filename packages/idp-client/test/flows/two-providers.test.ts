import type { DevProvider } from 'idp-dev-provider'
import { startDevProvider } from 'idp-dev-provider'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { IdpClient } from '../../src/index.ts'
import { APP, Browser } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'

// Two clients as docs/faq.md sets them up: each with its own routes, cookie and prefix.

let customersAt: DevProvider
let staffAt: DevProvider
let customers: IdpClient
let staff: IdpClient
let browser: Browser

const optionsFor = ({ issuer, clientId, clientSecret }: DevProvider) => ({
  domain: issuer,
  clientId,
  clientSecret,
  secret: SECRET,
  appBaseUrl: APP,
  allowInsecureRequests: true,
})

async function application(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/note') {
    const session = await staff.getSession()
    if (session) await staff.updateSession({ ...session, note: 'kept' })
    return new Response(null, { status: 204 })
  }
  const [customer, employee] = await Promise.all([customers.getSession(), staff.getSession()])
  if (pathname === '/notes' || pathname === '/ended-meanwhile') {
    if (employee) await staff.updateSession({ ...employee, note: 'kept' })
    if (customer) await customers.updateSession({ ...customer, note: 'kept' })
    if (pathname === '/ended-meanwhile') await customers.middleware(browser.request('/auth/logout'))
    return new Response(null, { status: 204 })
  }
  return Response.json({
    customer: customer?.user.sub,
    employee: employee?.user.sub,
    note: employee?.['note'],
    customerNote: customer?.['note'],
  })
}

beforeAll(async () => {
  ;[customersAt, staffAt] = await Promise.all([startDevProvider(), startDevProvider()])
  customers = new IdpClient(optionsFor(customersAt))
})
afterAll(() => Promise.all([customersAt.stop(), staffAt.stop()]))

function createStaff(name: string, prefix: string): IdpClient {
  return new IdpClient({
    ...optionsFor(staffAt),
    routes: {
      login: '/staff/login',
      logout: '/staff/logout',
      callback: '/staff/callback',
      profile: '/staff/profile',
      accessToken: '/staff/access-token',
      backChannelLogout: '/staff/backchannel-logout',
    },
    session: { cookie: { name } },
    transactionCookie: { prefix },
  })
}

const middleware = (request: Request): Promise<Response> =>
  customers.middleware(request, (passed) => staff.middleware(passed, application))

const send = async (path: string): Promise<Response> => browser.store(await middleware(browser.request(path)))

const seen = async (): Promise<unknown> => (await send('/')).json()

/** Begins a login. Returns the path of its callback. */
async function begin(provider: DevProvider, path: string, user: string): Promise<string> {
  const begun = await send(path)
  const { location } = await provider.login(begun.headers.get('location') ?? '', { user })
  const { pathname, search } = new URL(location ?? '')
  return pathname + search
}

async function login(provider: DevProvider, path: string, user: string): Promise<void> {
  expect((await send(await begin(provider, path, user))).status).toBe(302)
}

describe.each([
  ['__staff', '__staff_txn_'],
  // The names of the other client, continued.
  ['__session__staff', '__txn_staff_'],
])('two providers in one application, one with the cookies %s and %s', (name, prefix) => {
  beforeEach(() => {
    staff = createStaff(name, prefix)
    browser = new Browser(customers)
  })

  test('have a session each, also if the logins overlap', async () => {
    const callback = await begin(staffAt, '/staff/login', 'bob')
    await login(customersAt, '/auth/login', 'alice')
    await send(callback)
    expect(await seen()).toEqual({ customer: 'dev|alice', employee: 'dev|bob' })
  })

  test('reject the session of the other one', async () => {
    await login(staffAt, '/staff/login', 'bob')
    expect(await seen()).toEqual({ employee: 'dev|bob' })
    expect((await send('/auth/profile')).status).toBe(401)
    expect((await send('/staff/profile')).status).toBe(200)
  })

  test('end one session at a logout and keep the other', async () => {
    await login(customersAt, '/auth/login', 'alice')
    await login(staffAt, '/staff/login', 'bob')
    const out = await send('/auth/logout')
    expect(out.headers.get('location')).toContain(customersAt.issuer)
    expect(await seen()).toEqual({ employee: 'dev|bob' })
  })

  test('end one session at a logout during a login to the other, which completes', async () => {
    await login(customersAt, '/auth/login', 'alice')
    const callback = await begin(staffAt, '/staff/login', 'bob')
    await send('/auth/logout')
    expect((await send(callback)).status).toBe(302)
    expect(await seen()).toEqual({ employee: 'dev|bob' })
  })

  test('end one session in a request that writes the other', async () => {
    await login(customersAt, '/auth/login', 'alice')
    await login(staffAt, '/staff/login', 'bob')
    await send('/ended-meanwhile')
    expect(await seen()).toEqual({ employee: 'dev|bob', note: 'kept' })
  })

  test('may write either session from the application', async () => {
    await login(customersAt, '/auth/login', 'alice')
    await login(staffAt, '/staff/login', 'bob')
    await send('/note')
    expect(await seen()).toEqual({ customer: 'dev|alice', employee: 'dev|bob', note: 'kept' })
  })

  test('write the same to both sessions in one request', async () => {
    await login(customersAt, '/auth/login', 'alice')
    await login(staffAt, '/staff/login', 'bob')
    await send('/notes')
    expect(await seen()).toMatchObject({ note: 'kept', customerNote: 'kept' })
  })
})
