import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import type { IdpClientOptions, ProxyOptions } from '../../src/index.ts'
import { processWide } from '../../src/lib/registry.ts'
import { text } from '../../src/lib/utf8.ts'
import { memoryStore } from '../../src/stores/memory.ts'
import type { Browser } from '../support/app.ts'
import { deliver } from '../support/logout-world.ts'
import type { ProxiedWorld } from '../support/proxied.ts'
import { fromPage, startProxiedWorld } from '../support/proxied.ts'

let world: ProxiedWorld
afterEach(() => world.stop())

async function signedIn(proxy: Partial<ProxyOptions> = {}, client = {}): Promise<void> {
  world = await startProxiedWorld({ proxy, client })
  await world.login(world.browser)
}

const send = (path: string, init: Parameters<typeof fromPage>[2] = {}, browser: Browser = world.browser) =>
  world.client.middleware(fromPage(browser, path, init))

/** Opens an event stream, whose first event has arrived. */
async function openStream(browser = world.browser) {
  world.upstream.respond({ kind: 'events' })
  const response = await send('/api/orders/events', {}, browser)
  const reader = response.body?.getReader()
  if (!reader) throw new Error('the stream has no body')
  const next = async (): Promise<string> => text((await reader.read()).value ?? new Uint8Array())
  // Many servers send the head of a response with the first part of its body.
  expect(await reader.read()).toEqual({ done: false, value: new Uint8Array() })
  return { response, reader, next }
}

const closed = (): Promise<void> =>
  world.upstream.until(() =>
    world.upstream.requests.every(({ closedEarly, responded }) => closedEarly || responded),
  )

const codes = () => world.events.flatMap((event) => ('error' in event ? [event.error] : []))

describe('an event stream', () => {
  test('has its head before the first event, and each event when it comes', async () => {
    await signedIn()
    const { next, reader, response } = await openStream()
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream'])
    for (const event of ['one', 'two']) {
      await world.upstream.push(event)
      expect(await next()).toContain(event)
    }
    await world.upstream.endEvents()
    expect(await reader.read()).toMatchObject({ done: true })
    expect(world.events.filter(({ level }) => level === 'error')).toEqual([])
  })

  test('ends when its client leaves, and nothing is reported', async () => {
    await signedIn()
    const { reader } = await openStream()
    await reader.cancel()
    await closed()
    expect(codes()).toEqual([])
  })

  test('ends at the logout of its session, and of no other', async () => {
    await signedIn({}, { logoutStrategy: 'local' })
    const other = world.newBrowser()
    await world.login(other)
    const [mine, theirs] = [await openStream(), await openStream(other)]
    await world.browser.send('/auth/logout')
    expect((await mine.reader.read()).done).toBe(true)
    await world.upstream.until(() => world.upstream.requests[0]?.closedEarly === true)
    expect(world.upstream.requests[1]?.closedEarly).toBe(false)
    await world.upstream.push('still here')
    expect(await theirs.next()).toContain('still here')
    await theirs.reader.cancel()
  })

  test.each(['cookies', 'a store'])('ends when another login replaces its session in %s', async (place) => {
    await signedIn({}, place === 'a store' ? { sessionStore: memoryStore() } : {})
    const { reader } = await openStream()
    await world.login(world.browser, '', { user: 'bob' })
    expect((await reader.read()).done).toBe(true)
  })

  test('is a 401 if the session ends before its head', async () => {
    await signedIn({}, { logoutStrategy: 'local' })
    world.upstream.respond({ kind: 'silent' })
    const response = send('/api/orders/events')
    await world.upstream.until(() => world.upstream.requests.length === 1)
    await world.browser.send('/auth/logout')
    expect([(await response).status, (await response).headers.get('idp-client-error')]).toEqual([401, '1'])
    await closed()
  })

  test('does not begin after a logout during the guard', async () => {
    let decide = (): void => undefined
    const decided = new Promise<void>((resolve) => {
      decide = resolve
    })
    let isAsked = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve
    })
    const authorize = async (): Promise<boolean> => {
      isAsked()
      await decided
      return true
    }
    // A fetch of the application may ignore the signal of the request.
    const fetch = vi.fn(async () => new Response('orders'))
    await signedIn({ guard: { authorize }, fetch }, { logoutStrategy: 'local' })
    const response = send('/api/orders/events')
    await asked
    await world.browser.send('/auth/logout')
    decide()
    expect((await response).status).toBe(401)
    expect(fetch).not.toHaveBeenCalled()
  })

  test('ends when the session is revoked in the store', async () => {
    await signedIn({}, { sessionStore: memoryStore() })
    const other = world.newBrowser()
    await world.login(other)
    const [mine, theirs] = [await openStream(), await openStream(other)]
    const id = (await world.client.sessions.currentId(world.browser.request('/'))) ?? ''
    await world.client.sessions.revoke(id)
    expect((await mine.reader.read()).done).toBe(true)
    await world.client.sessions.revokeBySubject('dev|alice')
    expect((await theirs.reader.read()).done).toBe(true)
  })

  test('ends at a front-channel logout of its session, and of no other', async () => {
    await signedIn({}, { sessionStore: memoryStore(), frontChannelLogout: true })
    const other = world.newBrowser()
    await world.login(other)
    const [mine, theirs] = [await openStream(), await openStream(other)]
    const { sid = '' } = (await world.browser.session()).internal
    const query = new URLSearchParams({ iss: world.provider.issuer, sid })
    expect((await other.send(`/auth/frontchannel-logout?${query}`)).status).toBe(200)
    expect((await mine.reader.read()).done).toBe(true)
    await world.upstream.push('still here')
    expect(await theirs.next()).toContain('still here')
    await theirs.reader.cancel()
  })

  describe('ends with the sessions that the store deletes', () => {
    const alice = { sub: 'dev|alice' }
    /** A hook may give `user.sub` another meaning. */
    const renaming: IdpClientOptions = {
      beforeSessionSaved: (session) => ({ ...session, user: { ...session.user, sub: 'row-42' } }),
    }

    test('at a back-channel logout of its user, whatever a hook calls the user, and of no other', async () => {
      await signedIn({}, { sessionStore: memoryStore(), ...renaming })
      const other = world.newBrowser()
      await world.login(other, '', { user: 'bob' })
      const [mine, theirs] = [await openStream(), await openStream(other)]
      await deliver(world.client, await world.provider.logoutToken(alice))
      expect((await mine.reader.read()).done).toBe(true)
      await world.upstream.push('still here')
      expect(await theirs.next()).toContain('still here')
      await theirs.reader.cancel()
    })

    test('at a logout token of up to 60 s before the session, by the clocks', async () => {
      world = await startProxiedWorld({ client: { sessionStore: memoryStore() } })
      const token = await world.provider.logoutToken(alice)
      world.clock.now += 60
      await world.login(world.browser)
      const other = world.newBrowser()
      world.clock.now += 1
      await world.login(other)
      const [earlier, later] = [await openStream(), await openStream(other)]
      await deliver(world.client, token)
      expect((await earlier.reader.read()).done).toBe(true)
      expect(await world.client.getSession(world.browser.request('/'))).toBeNull()
      await world.upstream.push('still here')
      expect(await later.next()).toContain('still here')
      await later.reader.cancel()
    })

    test('at a logout token with its sid, whatever else the token says', async () => {
      await signedIn({}, { sessionStore: memoryStore() })
      const { reader } = await openStream()
      const { sid = '' } = (await world.browser.session()).internal
      await deliver(world.client, await world.provider.logoutToken({ sid, sub: 'dev|bob' }))
      expect((await reader.read()).done).toBe(true)
      expect(await world.client.getSession(world.browser.request('/'))).toBeNull()
    })

    test('and never with those of another client of this process', async () => {
      await signedIn({}, { sessionStore: memoryStore(), frontChannelLogout: true })
      const { clientId, clientSecret = '' } = await world.provider.addClient()
      const sessionStore = memoryStore({ name: crypto.randomUUID() })
      const another = world.another({ sessionStore, frontChannelLogout: true, clientId, clientSecret })
      const { next, reader } = await openStream()
      const { sid = '' } = (await world.browser.session()).internal
      await another.client.sessions.revokeBySubject(alice.sub)
      expect(
        (await deliver(another.client, await world.provider.logoutToken(alice, { clientId }))).status,
      ).toBe(200)
      const query = new URLSearchParams({ iss: world.provider.issuer, sid })
      expect((await another.browser.send(`/auth/frontchannel-logout?${query}`)).status).toBe(200)
      await world.upstream.push('still here')
      expect(await next()).toContain('still here')
      await reader.cancel()
    })

    test('at a revocation by a store that cannot list sessions, whatever a hook calls the user', async () => {
      const { listBySubject: _listBySubject, ...sessionStore } = memoryStore()
      await signedIn({}, { sessionStore, ...renaming })
      const { reader } = await openStream()
      await world.client.sessions.revokeBySubject(alice.sub)
      expect((await reader.read()).done).toBe(true)
    })
  })

  test('ends when a refresh learns that the session has ended at the provider', async () => {
    await signedIn({}, { session: { expiryClaim: 'session_expiry' } })
    const { reader } = await openStream()
    world.provider.settings.sessionExpiry = -1
    const refreshing = world.client.getAccessToken(world.browser.request('/'), new Response(), {
      refresh: true,
    })
    await expect(refreshing).rejects.toMatchObject({ code: 'SESSION_EXPIRED' })
    expect((await reader.read()).done).toBe(true)
  })

  test('ends with all sessions of the user, also of those that nobody has used', async () => {
    const session = { inactivityDuration: 600, absoluteDuration: 36_000 }
    await signedIn({}, { sessionStore: memoryStore(), session })
    const { reader } = await openStream()
    world.clock.now += 700
    await world.client.sessions.revokeBySubject('dev|alice')
    expect((await reader.read()).done).toBe(true)
  })

  test('ends when the provider has moved the end of its session to it', async () => {
    await signedIn({}, { session: { expiryClaim: 'session_expiry' } })
    const { reader } = await openStream()
    world.provider.settings.sessionExpiry = 1
    await world.client.getAccessToken(world.browser.request('/'), new Response(), { refresh: true })
    expect((await reader.read()).done).toBe(true)
  })

  test('ends after maxDuration, and nothing is reported', async () => {
    await signedIn({ maxDuration: 0.05 })
    const { reader } = await openStream()
    expect((await reader.read()).done).toBe(true)
    await closed()
    expect(codes()).toEqual([])
  })

  test('gets 501 where the host sends only whole responses, and the request to the API ends', async () => {
    await signedIn({ eventStreams: false })
    world.upstream.respond({ kind: 'events' })
    const response = await send('/api/orders')
    expect(response.status).toBe(501)
    expect(await response.json()).toMatchObject({ code: 'PROXY_STREAM_UNSUPPORTED' })
    await closed()
    world.upstream.respond({ kind: 'echo' })
    expect((await send('/api/orders')).status).toBe(200)
  })

  test('of another type breaks off when the session ends', async () => {
    await signedIn({}, { logoutStrategy: 'local' })
    world.upstream.respond({ kind: 'stall', after: 100 })
    const broken = expect((await send('/api/orders')).arrayBuffer()).rejects.toThrow(TypeError)
    await world.browser.send('/auth/logout')
    await broken
    expect(codes()).toEqual([])
  })

  test('ends at the absolute end of the session', async () => {
    await signedIn({}, { session: { absoluteDuration: 3600, inactivityDuration: 3600 } })
    world.clock.now += 3599
    const { reader } = await openStream()
    expect((await reader.read()).done).toBe(true)
    await closed()
  })

  test('does not end when its session would by inactivity', async () => {
    await signedIn({}, { session: { absoluteDuration: 7000, inactivityDuration: 3600 } })
    world.clock.now += 3400
    await world.browser.send('/')
    const other = world.newBrowser()
    await world.login(other)
    world.clock.now += 3599
    // Its session ends when that of the other one would.
    const [used, { reader }] = [await openStream(other), await openStream()]
    expect((await reader.read()).done).toBe(true)
    await world.upstream.push('still here')
    expect(await used.next()).toContain('still here')
    await used.reader.cancel()
  })
})

describe('an API that does not respond', () => {
  test.each([
    ['silence', 'silent', 504, 'PROXY_UPSTREAM_TIMEOUT'],
    ['half a head', 'raw', 504, 'PROXY_UPSTREAM_TIMEOUT'],
  ] as const)('%s is a timeout', async (_name, kind, status, code) => {
    await signedIn({ idleTimeout: 0.05 })
    world.upstream.respond(kind === 'raw' ? { kind, bytes: 'HTTP/1.1 200 O' } : { kind })
    const response = await send('/api/orders')
    expect([response.status, response.headers.get('idp-client-error')]).toEqual([status, '1'])
    expect(await response.json()).toMatchObject({ code })
    await world.upstream.until(() => world.upstream.openConnections === 0)
    expect(codes()).toEqual([code])
  })

  test('is a timeout after maxDuration, too', async () => {
    await signedIn({ maxDuration: 0.05 })
    world.upstream.respond({ kind: 'silent' })
    const response = await send('/api/orders')
    expect([response.status, codes()]).toEqual([504, ['PROXY_UPSTREAM_TIMEOUT']])
    expect(world.events).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining('maxDuration') }),
    )
  })

  test('a refused connection is 502, and the log says why', async () => {
    await signedIn()
    await world.upstream.refuse()
    const response = await send('/api/orders')
    expect(response.status).toBe(502)
    expect(await response.json()).toMatchObject({ code: 'PROXY_UPSTREAM_FAILED' })
    expect(world.events).toContainEqual(
      expect.objectContaining({ detail: expect.stringContaining('ECONNREFUSED') }),
    )
  })

  test('a body that stalls breaks off', async () => {
    // Long enough for the head of the response on a busy machine.
    await signedIn({ idleTimeout: 2 })
    world.upstream.respond({ kind: 'stall', after: 100 })
    const response = await send('/api/orders')
    expect(response.status).toBe(200)
    await expect(response.arrayBuffer()).rejects.toThrow(TypeError)
    await world.upstream.until(() => world.upstream.openConnections === 0)
    expect(codes()).toEqual(['PROXY_UPSTREAM_TIMEOUT'])
  })

  test.each([false, true])('a body that is cut never looks complete (chunked: %s)', async (chunked) => {
    await signedIn()
    world.upstream.respond({ kind: 'cut', after: 100, chunked })
    const response = await send('/api/orders')
    await expect(response.arrayBuffer()).rejects.toThrow(TypeError)
    expect(codes()).toEqual(['PROXY_UPSTREAM_FAILED'])
  })
})

test('a long body is sent on where the runtime rejects redirect: error, as workerd does', async () => {
  const redirects: unknown[] = []
  await signedIn({
    fetch: (url, init) => {
      redirects.push(init?.redirect)
      return fetch(url, init)
    },
  })
  class WorkerRequest extends Request {
    constructor(input: RequestInfo | URL, init?: RequestInit) {
      if (init?.redirect === 'error') throw new TypeError('Invalid redirect value')
      super(input, init)
    }
  }
  vi.stubGlobal('Request', WorkerRequest)
  onTestFinished(() => void vi.unstubAllGlobals())
  const body = new Uint8Array(2_000_000)
  const headers = { 'content-length': String(body.length) }
  const response = await send('/api/orders', { method: 'POST', body, headers })
  expect(response.status).toBe(200)
  expect(redirects).toEqual(['manual'])
})

test('the length of a short body is stated once, by fetch', async () => {
  const stated: unknown[] = []
  await signedIn({
    fetch: (url, init) => {
      stated.push(new Headers(init?.headers).get('content-length'))
      return fetch(url, init)
    },
  })
  const headers = { 'content-length': '7', 'content-type': 'application/json' }
  const response = await send('/api/orders', { method: 'POST', body: '{"a":1}', headers })
  expect(await response.json()).toMatchObject({ bytes: 7 })
  expect(world.upstream.requests[0]?.header('content-length')).toBe('7')
  expect(stated).toEqual([null])
})

test('a client that never sends its short body is a timeout, and nothing is sent', async () => {
  await signedIn({ idleTimeout: 0.05 })
  const headers = { 'content-length': '10' }
  const body = new ReadableStream<Uint8Array>()
  const response = await send('/api/orders', { method: 'POST', body, duplex: 'half', headers })
  expect(response.status).toBe(504)
  expect(await response.json()).toMatchObject({ code: 'PROXY_UPSTREAM_TIMEOUT' })
  expect(world.upstream.connections).toBe(0)
})

const watchedRequests = (): number => processWide<Set<unknown>>('queue:open-streams/1', () => new Set()).size

test('a request whose body was read before is not watched', async () => {
  await signedIn()
  const request = fromPage(world.browser, '/api/orders', { method: 'POST', body: 'x' })
  await request.text()
  const response = await world.client.middleware(request)
  expect(await response.json()).toMatchObject({ code: 'PROXY_BODY_CONSUMED' })
  expect(watchedRequests()).toBe(0)
})

test('a request that the guard rejects is not watched', async () => {
  await signedIn({ guard: { authorize: () => false } })
  const response = await send('/api/orders')
  expect(response.status).toBe(403)
  expect(await response.json()).toMatchObject({ code: 'ACCESS_DENIED' })
  expect(watchedRequests()).toBe(0)
})

test('a request whose guard throws is not watched', async () => {
  const authorize = (): boolean => {
    throw new Error('of the application')
  }
  await signedIn({ guard: { authorize } })
  expect((await send('/api/orders')).status).toBe(500)
  expect(watchedRequests()).toBe(0)
})

describe('a client that leaves', () => {
  test('before the response ends the request to the API', async () => {
    await signedIn()
    world.upstream.respond({ kind: 'silent' })
    const leaving = new AbortController()
    const response = send('/api/orders', { signal: leaving.signal })
    await world.upstream.until(() => world.upstream.requests.length === 1)
    leaving.abort()
    await response
    await closed()
    expect(codes()).toEqual([])
  })

  test('in the middle of its upload ends the request to the API', async () => {
    await signedIn()
    const leaving = new AbortController()
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
    })
    const response = send('/api/orders', { method: 'POST', body, duplex: 'half', signal: leaving.signal })
    await world.upstream.until(() => (world.upstream.requests[0]?.bodyBytes ?? 0) > 1_000_000)
    leaving.abort()
    await response
    await world.upstream.until(() => world.upstream.requests[0]?.aborted === true)
  })

  test('has not been reading: the API waits', async () => {
    await signedIn()
    const bytes = 268_435_456
    world.upstream.respond({ kind: 'big', bytes })
    const response = await send('/api/orders')
    const reader = response.body?.getReader()
    let received = 0
    while (received < 1_048_576) received += (await reader?.read())?.value?.length ?? 0
    // Another request of the same process takes its turns meanwhile.
    world.upstream.respond({ kind: 'echo' })
    for (let other = 0; other < 20; other++) await (await send(`/api/orders/${other}`)).arrayBuffer()
    expect(world.upstream.requests[0]?.sent).toBeLessThan(bytes / 4)
    await reader?.cancel()
    await world.upstream.until(() => world.upstream.requests[0]?.closedEarly === true)
  })
})
