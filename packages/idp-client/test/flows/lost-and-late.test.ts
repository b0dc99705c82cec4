import { createServer, request as httpRequest } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { IdpClient as ExpressClient } from '../../src/adapters/express/index.ts'
import type { IdpClientOptions, SessionData } from '../../src/index.ts'
import { customClock, customFetch } from '../../src/index.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import { generateSessionCookie } from '../../src/testing/session-cookie.ts'
import type { World } from '../support/app.ts'
import { APP, startWorld } from '../support/app.ts'
import { SECRET } from '../support/engine.ts'
import { Process } from '../support/processes.ts'

const TTL = 600
const TOKEN = '/auth/access-token'

let world: World
beforeEach(async () => {
  world = await startWorld({}, { accessTokenTtl: TTL })
})
afterEach(() => world.provider.stop())

function pass(seconds: number): void {
  world.clock.now += seconds
}

async function expired(options: IdpClientOptions = {}) {
  const made = world.another(options)
  await world.login(made.browser)
  pass(TTL + 1)
  world.provider.clearRequests()
  return made
}

const isRefresh = ({ body }: { body: Record<string, unknown> }) => body['grant_type'] === 'refresh_token'

/** Holds back the next refresh until it is let go. */
function holdRefresh(): { begun: Promise<void>; release: () => void; options: IdpClientOptions } {
  let begin = (): void => {}
  let release = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const gate = new Promise<void>((resolve) => {
    release = resolve
  })
  const held: typeof fetch = async (input, init) => {
    if (String(init?.body ?? '').includes('grant_type=refresh_token')) {
      begin()
      await gate
    }
    return fetch(input, init)
  }
  return { begun, release: () => release(), options: { [customFetch]: held } }
}

const with_ = (session: SessionData | null, changes: Record<string, unknown>) =>
  ({ ...session, ...changes }) as SessionData

describe('a rotated token is not lost if the response', () => {
  test('is an exception of the handler after its refresh', async () => {
    const { browser, client } = await expired()
    const failing = client.middleware(browser.request('/page'), async () => {
      await client.getAccessToken()
      throw new Error('the database is down')
    })
    await expect(failing).rejects.toThrow('database')
    pass(TTL + 1)
    expect((await browser.send(TOKEN)).status).toBe(200)
  })

  test('was sent before the refresh', async () => {
    const { browser, client } = await expired()
    let late: Promise<unknown> = Promise.resolve()
    let go = (): void => {}
    const responded = new Promise<void>((resolve) => {
      go = resolve
    })
    const response = await client.middleware(browser.request('/page'), () => {
      late = responded.then(() => client.getAccessToken())
      return new Response('done')
    })
    browser.store(response)
    go()
    await late
    pass(TTL + 1)
    expect((await browser.send(TOKEN)).status).toBe(200)
  })

  test('is aborted by the browser during the refresh (Express)', async () => {
    const hold = holdRefresh()
    const { browser } = await expired()
    const cookie = browser.request('/').headers.get('cookie') ?? ''
    const { issuer, clientId, clientSecret } = world.provider
    const idp = new ExpressClient({
      domain: issuer,
      clientId,
      clientSecret,
      secret: SECRET,
      appBaseUrl: APP,
      allowInsecureRequests: true,
      logger: () => {},
      [customClock]: () => world.clock.now,
      ...hold.options,
    })
    const app = express()
    app.use(idp.middleware)
    const left = new Promise<void>((resolve) => {
      app.get('/api', async (req, res) => {
        res.once('close', () => hold.release())
        await idp.getAccessToken(req, res)
        res.end()
        resolve()
      })
    })
    const server = createServer(app)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const options = { port, host: '127.0.0.1', headers: { cookie, host: 'localhost:3000' } }
    const gone = httpRequest({ ...options, path: '/api' })
    gone.on('error', () => {})
    gone.end()
    await hold.begun
    gone.destroy()
    await left
    pass(TTL + 1)
    const status = await new Promise((resolve) => {
      httpRequest({ ...options, path: TOKEN }, (response) => resolve(response.resume().statusCode)).end()
    })
    server.closeAllConnections()
    server.close()
    expect(status).toBe(200)
  })
})

describe('a late refresh does not undo a change', () => {
  test('a logout while the token is refreshed stays a logout', async () => {
    const hold = holdRefresh()
    const { browser, client } = await expired(hold.options)
    const slow = client.middleware(browser.request(TOKEN))
    await hold.begun
    await browser.send('/auth/logout')
    hold.release()
    browser.store(await slow)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test('30 pending requests and a logout, responses in any order, do not restore the session', async () => {
    const { browser, client } = await expired()
    const requests = Array.from({ length: 30 }, (_, at) => browser.request(at % 2 ? TOKEN : '/page'))
    const before = await Promise.all(requests.slice(0, 15).map((request) => client.middleware(request)))
    const during = requests.slice(15).map((request) => client.middleware(request))
    await browser.send('/auth/logout')
    // All pending responses reach the browser after the logout, the oldest last.
    for (const response of [...(await Promise.all(during)), ...before.reverse()]) browser.store(response)
    expect(browser.cookies.has('__session')).toBe(true)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })

  test('a login as another user while the token is refreshed stays that login', async () => {
    const hold = holdRefresh()
    const { browser, client } = await expired(hold.options)
    const back = await world.authorize(await world.begin(browser), { user: 'bob' })
    const slow = client.middleware(browser.request(TOKEN))
    await hold.begun
    await browser.send(back)
    hold.release()
    browser.store(await slow)
    expect((await client.getSession(browser.request('/')))?.user.sub).toBe('dev|bob')
  })

  test('an update while the token is refreshed is kept, and so is the token', async () => {
    const hold = holdRefresh()
    const { browser, client } = await expired(hold.options)
    const slow = client.middleware(browser.request(TOKEN))
    await hold.begun
    const request = browser.request('/save')
    const headers = new Headers()
    await client.updateSession(request, headers, with_(await client.getSession(request), { theme: 'dark' }))
    browser.store(new Response(null, { headers }))
    hold.release()
    const response = await slow
    browser.store(response)
    const session = await client.getSession(browser.request('/'))
    expect(session?.['theme']).toBe('dark')
    expect(session?.tokenSet.accessToken).toBe(((await response.json()) as { token: string }).token)
  })

  test('a dead refresh token is removed even if the call throws', async () => {
    const { browser, client } = await expired()
    world.provider.faults.set('token', {
      kind: 'respond',
      status: 400,
      body: '{"error":"invalid_grant"}',
      headers: { 'content-type': 'application/json' },
    })
    for (let count = 0; count < 4; count++) {
      const headers = new Headers()
      await expect(client.getAccessToken(browser.request('/api'), headers)).rejects.toMatchObject({
        name: 'AccessTokenError',
      })
      browser.store(new Response(null, { headers }))
      pass(61)
    }
    expect(world.refreshes()).toHaveLength(1)
  })
})

/** Sends a request for a page that responds when it is told to; returns when the page has begun. */
async function openSlowPage(
  { browser, client }: ReturnType<World['another']>,
  atItsEnd: () => Promise<unknown> = async () => undefined,
) {
  let begin = (): void => {}
  let finish = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const gate = new Promise<void>((resolve) => {
    finish = resolve
  })
  const response = client.middleware(browser.request('/slow'), async () => {
    begin()
    await gate
    await atItsEnd()
    return new Response('slow')
  })
  await begun
  return { response, finish: () => finish() }
}

describe.each([
  ['in cookies', () => ({})],
  ['in a store', () => ({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })],
])('the response of a slow page, with sessions %s,', (_name, toOptions: () => IdpClientOptions) => {
  test('extends its session', async () => {
    const made = await expired(toOptions())
    const page = await openSlowPage(made)
    page.finish()
    const response = await page.response
    expect(response.headers.getSetCookie()).toHaveLength(1)
    made.browser.store(response)
    expect((await made.browser.session()).user.sub).toBe('dev|alice')
  })

  test('does not restore the session after a logout', async () => {
    const made = await expired(toOptions())
    const page = await openSlowPage(made)
    await made.browser.send('/auth/logout')
    page.finish()
    expect((await page.response).headers.getSetCookie()).toEqual([])
  })

  test('does not replace the session of another user', async () => {
    const made = await expired(toOptions())
    const page = await openSlowPage(made)
    await world.login(made.browser, '', { user: 'bob' })
    page.finish()
    made.browser.store(await page.response)
    expect((await made.browser.session()).user.sub).toBe('dev|bob')
  })

  test('does not remove it if the request was sent before, and arrived after the session had ended', async () => {
    const made = await expired(toOptions())
    const late = made.browser.request('/page')
    await world.login(made.browser, '', { user: 'bob' })
    made.browser.store(await made.client.middleware(late, () => new Response('page')))
    expect((await made.browser.session()).user.sub).toBe('dev|bob')
  })

  test('does not replace it either where the page finds that its own session has ended', async () => {
    const made = await expired(toOptions())
    const before = await made.browser.session()
    const page = await openSlowPage(made, () =>
      expect(made.client.updateSession({ ...before, theme: 'dark' })).rejects.toMatchObject({
        code: 'MISSING_SESSION',
      }),
    )
    await world.login(made.browser, '', { user: 'bob' })
    page.finish()
    made.browser.store(await page.response)
    expect((await made.browser.session()).user.sub).toBe('dev|bob')
  })
})

test('a store: another process that responds to a request of before the end of a login does not remove its session', async () => {
  const made = await expired({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })
  const callback = await world.authorize(await world.begin(made.browser))
  const late = made.browser.request('/page')
  await made.browser.send(callback)
  const respond = async () => made.client.middleware(late, () => new Response('page'))
  made.browser.store(await new Process().run(respond))
  expect((await made.browser.session()).user.sub).toBe('dev|alice')
})

test('a store: where the response of the login that replaced a session was lost, its cookie is deleted after a minute', async () => {
  const made = await expired({ sessionStore: memoryStore({ name: crypto.randomUUID() }) })
  const callback = await world.authorize(await world.begin(made.browser))
  await made.client.middleware(made.browser.request(callback))
  expect((await made.browser.send('/page')).headers.getSetCookie()).toEqual([])
  // With the transaction, the browser could still complete the login.
  for (const name of made.browser.names('__txn_')) made.browser.cookies.delete(name)
  const time = vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61_000)
  await made.browser.send('/page')
  time.mockRestore()
  expect(made.browser.names('__session')).toEqual([])
})

test('a slow page sends no cookie of a session whose end in another process it has found', async () => {
  const store = memoryStore({ name: crypto.randomUUID() })
  const made = await expired({ sessionStore: store })
  const page = await openSlowPage(made, async () => {
    await store.deleteBySubject('dev|alice')
    await expect(made.client.getAccessToken()).rejects.toMatchObject({ code: 'MISSING_SESSION' })
  })
  page.finish()
  expect((await page.response).headers.getSetCookie()).toEqual([])
})

test('a request with the cookie of before a refresh does not refresh again', async () => {
  const { browser, client } = world.another()
  await world.login(browser)
  const earlier = browser.request('/')
  const before = (await world.refreshes()).length
  const { token } = await client.getAccessToken({ refresh: true }, browser.request('/'), new Headers())
  expect((await client.getAccessToken({ refresh: true }, earlier, new Headers())).token).toBe(token)
  expect((await world.refreshes()).length).toBe(before + 1)
})

describe('changes of the application to its copy of the session', () => {
  test('reach no other request', async () => {
    const { browser, client } = await expired()
    const request = browser.request('/')
    const headers = new Headers()
    const { token } = await client.getAccessToken(request, headers)
    browser.store(new Response(null, { headers }))
    const mine = (await client.getSession(request)) as Partial<SessionData> & SessionData
    mine.tokenSet.accessToken = 'redacted'
    Reflect.deleteProperty(mine, 'user')
    browser.store(await client.middleware(browser.request('/page')))
    expect((await browser.send('/auth/profile')).status).toBe(200)
    expect((await client.getSession(browser.request('/')))?.tokenSet.accessToken).toBe(token)
  })

  test('that a guard returned reach no other part of the request', async () => {
    await world.login(world.browser)
    const request = world.browser.request('/')
    for (const requirements of [{}, { scope: 'openid' }]) {
      const { session } = await world.client.requireAuth(request, requirements)
      expect(session?.user.sub).toBe('dev|alice')
      if (session) session.user.sub = 'dev|bob'
    }
    expect((await world.client.getSession(request))?.user.sub).toBe('dev|alice')
  })

  test('may be disabled with Object.freeze', async () => {
    await world.login(world.browser)
    const session = await world.client.getSession(world.browser.request('/'))
    expect(Object.freeze(session)?.tokenSet.accessToken).toEqual(expect.any(String))
    expect(session?.tokenSet.accessToken).toEqual(expect.any(String))
  })

  test('are saved if it is passed to updateSession, also after a refresh', async () => {
    const { browser, client } = await expired()
    const request = browser.request('/')
    const headers = new Headers()
    const session = await client.getSession(request)
    if (session) session.user['plan'] = 'pro'
    await client.getAccessToken(request, headers)
    if (session) await client.updateSession(request, headers, session)
    browser.store(new Response(null, { headers }))
    expect((await client.getSession(browser.request('/')))?.user['plan']).toBe('pro')
    expect((await browser.send(TOKEN)).status).toBe(200)
  })

  test('in onCallback cannot extend a session through internal', async () => {
    const { browser, client } = world.another({
      onCallback: ({ session }) => {
        if (session) session.internal.createdAt += 1_000_000
      },
    })
    await world.login(browser)
    expect((await client.getSession(browser.request('/')))?.internal.createdAt).toBe(world.clock.now)
  })
})

describe('hooks with unusual results', () => {
  test('a hook that fails at a refresh restores no claim that it removed before', async () => {
    let calls = 0
    const { browser, client } = await expired({
      beforeSessionSaved: (session) => {
        if (++calls > 1) throw new Error('the database is down')
        return { ...session, user: { sub: session.user.sub, role: 'member' } }
      },
    })
    expect((await browser.send(TOKEN)).status).toBe(200)
    expect((await client.getSession(browser.request('/')))?.user).toEqual({
      sub: 'dev|alice',
      role: 'member',
    })
  })

  test('a hook that changes sub does not stop refreshing', async () => {
    const { browser } = await expired({
      beforeSessionSaved: (session) => ({ ...session, user: { ...session.user, sub: 'row-42' } }),
    })
    expect((await browser.send(TOKEN)).status).toBe(200)
  })

  test.each([
    [
      'was read',
      async () => {
        const response = new Response('x')
        await response.text()
        return response
      },
    ],
    ['is an error', () => Response.error()],
  ])('onCallback with a response that %s creates no session', async (_, onCallback) => {
    const { browser, client } = world.another({ onCallback })
    expect((await world.login(browser)).status).toBe(500)
    expect(await client.getSession(browser.request('/'))).toBeNull()
  })
})

test('refreshes that were never written by Server Components are limited in number', async () => {
  const { client } = world
  const fault = { kind: 'respond', status: 400, body: '{"error":"invalid_grant"}' } as const
  world.provider.faults.set('token', { ...fault, headers: { 'content-type': 'application/json' } })
  for (let user = 0; user < 1001; user++) {
    const tokenSet = { accessToken: 'x', expiresAt: world.clock.now - 1, refreshToken: `dead-${user}` }
    const value = await generateSessionCookie(
      { user: { sub: `u${user}` }, tokenSet },
      { secret: SECRET, now: world.clock.now },
    )
    const request = () =>
      new Request(`${APP}/p`, { headers: { cookie: `__session=${value}`, host: 'localhost:3000' } })
    await client.getAccessToken(request()).catch(() => undefined)
    await client.middleware(request())
  }
  world.provider.faults.clear()
  const { browser } = await expired()
  expect((await client.getAccessToken(browser.request('/p'))).token).toEqual(expect.any(String))
})

test('a scope from the query does not replace the token of the login', async () => {
  // A provider that grants the known part of the requested scope (RFC 6749 section 3.3).
  const narrowing: typeof fetch = (input, init) => {
    const body = new URLSearchParams(String(init?.body ?? ''))
    if (!isRefresh({ body: Object.fromEntries(body) }) || !body.has('scope')) return fetch(input, init)
    body.set('scope', 'openid')
    return fetch(input, { ...init, body })
  }
  const { browser } = world.another({ [customFetch]: narrowing })
  await world.login(browser)
  const before = (await (await browser.send(TOKEN)).json()) as { scope: string }
  expect((await browser.send(`${TOKEN}?scope=anything&mergeScopes=false`)).status).toBe(200)
  const after = (await (await browser.send(TOKEN)).json()) as { scope: string }
  expect(after.scope).toBe(before.scope)
})
