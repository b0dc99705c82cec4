import { getEventListeners } from 'node:events'
import { afterEach, describe, expect, test } from 'vitest'
import type { IdpClientOptions, ProxyOptions } from '../../src/index.ts'
import { processWide } from '../../src/lib/registry.ts'
import { utf8 } from '../../src/lib/utf8.ts'
import type { ProxiedWorld } from '../support/proxied.ts'
import { fromPage, startProxiedWorld } from '../support/proxied.ts'

let world: ProxiedWorld
afterEach(() => world.stop())

async function signedIn(proxy: Partial<ProxyOptions>, client: IdpClientOptions = {}): Promise<void> {
  world = await startProxiedWorld({ proxy, client })
  await world.login(world.browser)
}

const send = (): Promise<Response> => world.client.middleware(fromPage(world.browser, '/api/orders/events'))

/** An API in the same process: nothing that it returns knows of the signal of the request. */
function apiInProcess(headers: Record<string, string>) {
  let isStopped = (): void => undefined
  const stopped = new Promise<void>((resolve) => {
    isStopped = resolve
  })
  const fetch: typeof globalThis.fetch = async () => {
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(utf8('data: one\n\n')),
      cancel: isStopped,
    })
    return new Response(body, { headers })
  }
  return { fetch, stopped }
}

/** Opens its event stream, of which the first event has arrived. */
async function openStream(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const reader = (await send()).body?.getReader()
  if (!reader) throw new Error('the stream has no body')
  await reader.read()
  expect(await reader.read()).toEqual({ done: false, value: utf8('data: one\n\n') })
  return reader
}

const EVENTS = { 'content-type': 'text/event-stream' }

describe('an API whose fetch ignores the signal of the request', () => {
  test('stops when the client leaves', async () => {
    const { fetch, stopped } = apiInProcess(EVENTS)
    await signedIn({ fetch })
    const reader = await openStream()
    await reader.cancel()
    await stopped
  })

  test('stops at the logout of the session, and its stream ends', async () => {
    const { fetch, stopped } = apiInProcess(EVENTS)
    await signedIn({ fetch }, { logoutStrategy: 'local' })
    const reader = await openStream()
    await world.browser.send('/auth/logout')
    expect((await reader.read()).done).toBe(true)
    await stopped
  })

  test('stops when nothing moves, and its response is cut', async () => {
    const { fetch, stopped } = apiInProcess({ 'content-type': 'text/plain' })
    await signedIn({ fetch, idleTimeout: 0.05 })
    await expect((await send()).text()).rejects.toThrow(TypeError)
    await stopped
  })

  test('is a timeout if it never sends the rest of a short response', async () => {
    const { fetch, stopped } = apiInProcess({ 'content-length': '100' })
    await signedIn({ fetch, idleTimeout: 0.05 })
    expect((await send()).status).toBe(504)
    await stopped
  })

  test('is passed on as it arrives if its length is that of an encoded body', async () => {
    const { fetch, stopped } = apiInProcess({
      ...EVENTS,
      'content-encoding': 'gzip',
      'content-length': '100',
    })
    await signedIn({ fetch })
    const reader = await openStream()
    await reader.cancel()
    await stopped
  })

  test('is a timeout if it never responds, and a later response is discarded', async () => {
    const { fetch, stopped } = apiInProcess(EVENTS)
    let respond = (): void => undefined
    const asked = new Promise<void>((resolve) => {
      respond = resolve
    })
    await signedIn({ fetch: (...given) => asked.then(() => fetch(...given)), idleTimeout: 0.05 })
    expect((await send()).status).toBe(504)
    respond()
    await stopped
  })
})

test('an API may respond at once, without a promise', async () => {
  // As a test double in JavaScript, which no type prevents.
  const double: { readonly fetch: typeof globalThis.fetch } = Object.create({
    fetch: () => new Response('orders'),
  })
  await signedIn({ fetch: double.fetch })
  expect(await (await send()).text()).toBe('orders')
})

test('a response without a status of HTTP is a failure of the API', async () => {
  await signedIn({ fetch: async () => Response.error() })
  const response = await send()
  expect([response.status, await response.json()]).toEqual([
    502,
    expect.objectContaining({ code: 'PROXY_UPSTREAM_FAILED' }),
  ])
})

test('a status above those of HTTP is a failure of the API, and the log says so', async () => {
  await signedIn({})
  world.upstream.respond({ kind: 'raw', bytes: 'HTTP/1.1 999 Odd\r\ncontent-length: 2\r\n\r\nhi' })
  expect((await send()).status).toBe(502)
  expect(world.events).toContainEqual(
    expect.objectContaining({ detail: expect.stringContaining('status is not one of HTTP') }),
  )
})

test('a request whose client left before it was sent is not watched, although nobody reads the response', async () => {
  const { fetch } = apiInProcess(EVENTS)
  await signedIn({ fetch })
  const signal = AbortSignal.abort()
  await world.client.middleware(fromPage(world.browser, '/api/orders/events', { signal }))
  expect(processWide<Set<unknown>>('queue:open-streams/1', () => new Set()).size).toBe(0)
})

test.each([
  ['short', { 'content-length': '2' }],
  ['streamed', {}],
  ['without a body', undefined],
])(
  'a response that is %s leaves nothing of its request on the signal, which fetch may keep',
  async (_title, headers) => {
    const signals: AbortSignal[] = []
    const fetch: typeof globalThis.fetch = async (_input, { signal } = {}) => {
      if (signal) signals.push(signal)
      return headers ? new Response('{}', { headers }) : new Response(null, { status: 204 })
    }
    await signedIn({ fetch })
    await (await send()).text()
    expect(signals.map((signal) => getEventListeners(signal, 'abort'))).toEqual([[]])
  },
)
