// @vitest-environment happy-dom
import type { IncomingMessage, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { PATIENT } from '../../test/support/timeouts.ts'
import { isIdpError } from '../errors/base.ts'
import { configure, fetchApi, fetchUser, userStore } from './index.ts'

interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

let server: Server
let origin: string
/** The user of the session; `null` without one. */
let sub: string | null
let profileRequests: number
let received: Received[]
/** The response of the API, or a failure of the proxy with a code. */
let reply: { status: number; headers?: Record<string, string>; code?: string }

// happy-dom adds this to its window; its published type does not reach `Window`.
const browser = window as unknown as { happyDOM: { setURL(url: string): void } }

const failure = (code: string) => ({ status: 401, headers: { 'idp-client-error': '1' }, code })
const ended = failure('NOT_AUTHENTICATED')

// The `clone` of happy-dom loses the body of a response from the network.
const overNetwork = globalThis.fetch
async function fetchWhole(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const response = await overNetwork(input, init)
  return new Response(await response.text(), response)
}

beforeEach(async () => {
  vi.stubGlobal('fetch', fetchWhole)
  sub = 'alice'
  profileRequests = 0
  received = []
  reply = { status: 200 }
  server = createServer(async (request, response) => {
    const { headers, method, url } = request
    if (url === '/auth/profile') {
      profileRequests += 1
      response.writeHead(sub === null ? 401 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ sub }))
      return
    }
    received.push({ method, url, headers, body: await text(request) })
    response.writeHead(reply.status, reply.headers)
    response.end(reply.code === undefined ? 'content' : JSON.stringify({ code: reply.code }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  origin = `http://127.0.0.1:${port}`
  browser.happyDOM.setURL(`${origin}/orders/open`)
  configure({})
})
afterEach(async () => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  server.closeAllConnections()
  await new Promise((done) => server.close(done))
})

describe('fetchApi', () => {
  it('sends a request with the header, and everything that fetch was given', async () => {
    const headers = { 'content-type': 'application/json', 'idp-client': 'other' }
    const response = await fetchApi('/api/orders?open=1', { method: 'POST', body: '{"a":1}', headers })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('content')
    await fetchApi(new URL('7', `${origin}/api/orders/`))
    await fetchApi(
      new Request(`${origin}/api/orders`, { method: 'PUT', headers: { prefer: 'a' }, body: 'b' }),
    )
    await fetchApi('next')
    expect(received).toMatchObject([
      { method: 'POST', url: '/api/orders?open=1', body: '{"a":1}', headers: { 'idp-client': '1' } },
      { method: 'GET', url: '/api/orders/7', headers: { 'idp-client': '1' } },
      { method: 'PUT', url: '/api/orders', body: 'b', headers: { 'idp-client': '1', prefer: 'a' } },
      { method: 'GET', url: '/orders/next', headers: { 'idp-client': '1' } },
    ])
    expect(received[0]?.headers['content-type']).toBe('application/json')
  })

  it('keeps the header of a request that is no use of the session', async () => {
    await fetchApi('/api/orders', { headers: { 'IDP-Client': 'background' } })
    expect(received[0]?.headers['idp-client']).toBe('background')
  })

  it.each([
    'https://api.example.test/orders',
    '//api.example.test/orders',
    'http://127.0.0.1:1/orders',
    'data:text/plain,orders',
  ])('sends nothing to another origin: %s', async (url) => {
    const fetch = vi.spyOn(globalThis, 'fetch')
    const error = await fetchApi(url).catch((thrown: unknown) => thrown)
    expect(isIdpError(error, 'FETCHER_URL_REFUSED')).toBe(true)
    expect(error).toMatchObject({ message: expect.not.stringContaining('example') })
    expect(fetch).not.toHaveBeenCalled()
  })

  it('signs the user out of the page once the session has ended', async () => {
    const { current, subscribe } = userStore()
    const end = subscribe(() => undefined)
    await vi.waitFor(() => expect(current().user).toEqual({ sub: 'alice' }), PATIENT)
    sub = null
    reply = ended
    const responses = await Promise.all(Array.from({ length: 20 }, () => fetchApi('/api/orders')))
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 401))
    expect(await responses[0]?.json()).toEqual({ code: 'NOT_AUTHENTICATED' })
    await vi.waitFor(() => expect(current()).toEqual({ user: null, isLoading: false, error: null }), PATIENT)
    expect(profileRequests).toBeLessThanOrEqual(3)
    end()
  })

  it('signs out a user whom no component shows at the moment', async () => {
    await fetchUser()
    expect(userStore().current().user).toEqual({ sub: 'alice' })
    sub = null
    reply = ended
    await fetchApi('/api/orders')
    await vi.waitFor(() => expect(userStore().current().user).toBeNull(), PATIENT)
  })

  it('signs the user out after a request without a body in its response', async () => {
    await fetchUser()
    sub = null
    reply = ended
    await fetchApi('/api/orders', { method: 'HEAD' })
    await vi.waitFor(() => expect(userStore().current().user).toBeNull(), PATIENT)
  })

  it.each([
    [401, {}],
    [403, { 'idp-client-error': '1' }],
    [502, { 'idp-client-error': '1' }],
  ])('does not request the user again for %i with %j', async (status, headers) => {
    await fetchUser()
    reply = { status, headers }
    expect((await fetchApi('/api/orders')).status).toBe(status)
    // It would wait for an earlier request.
    await fetchUser()
    expect(profileRequests).toBe(2)
  })

  it.each(['MISSING_REFRESH_TOKEN', 'FAILED_TO_REFRESH_TOKEN', 'INSUFFICIENT_USER_AUTHENTICATION'])(
    'does not request the user again for %s, which would extend a session that a page only polls',
    async (code) => {
      await fetchUser()
      reply = failure(code)
      const headers = { 'idp-client': 'background' }
      expect(await (await fetchApi('/api/orders', { headers })).json()).toEqual({ code })
      await fetchUser()
      expect(profileRequests).toBe(2)
    },
  )

  it('requests no user for a page that knows none', async () => {
    reply = ended
    await fetchApi('/api/orders')
    await fetchUser()
    expect(profileRequests).toBe(1)
  })

  it('rejects as fetch does', async () => {
    const aborted = fetchApi('/api/orders', { signal: AbortSignal.abort() })
    await expect(aborted).rejects.toMatchObject({ name: 'AbortError' })
  })
})
