import { Readable } from 'node:stream'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { version } from '../lib/version.ts'
import type { ProviderRequest } from './call.ts'
import { providerFetch } from './call.ts'
import { mayRequest } from './metadata.ts'

interface Call {
  readonly url: string
  readonly init: RequestInit
}

function harness(respond: () => Response | Promise<Response>, changes: Record<string, unknown> = {}) {
  const calls: Call[] = []
  const fetch = async (input: unknown, init?: RequestInit): Promise<Response> => {
    calls.push({ url: String(input), init: init ?? {} })
    return respond()
  }
  const config = { allowInsecureRequests: false, httpTimeout: 20_000, telemetry: true, fetch, ...changes }
  const send = providerFetch(config)
  return { calls, send: (request?: ProviderRequest, url = 'https://op.example/x') => send(url, request) }
}

const ok = () => new Response('{}', { headers: { 'x-kept': 'yes' } })

test('[S062] requests have the client header, no redirects and no cache of a framework', async () => {
  const { calls, send } = harness(ok)
  await send({ method: 'POST', body: 'a=b', headers: { accept: 'application/json', 'Idp-Client': 'forged' } })
  const init = calls[0]?.init
  const headers = new Headers(init?.headers)
  expect(init).toMatchObject({ method: 'POST', body: 'a=b', redirect: 'manual', cache: 'no-store' })
  expect(JSON.parse(atob(headers.get('idp-client') ?? ''))).toEqual({ name: 'idp-client', version })
  expect(headers.get('idp-client')).toMatch(/^[A-Za-z0-9_-]+$/)
  expect([headers.get('user-agent'), headers.get('accept')]).toEqual([
    `idp-client/${version}`,
    'application/json',
  ])
})

test('a runtime that does not know the option about its cache gets none: Workers before 2024-11-11', async () => {
  const refuse = (init: RequestInit = {}): void => {
    if ('cache' in init)
      throw new TypeError("The 'cache' field on 'RequestInitializerDict' is not implemented.")
  }
  vi.stubGlobal(
    'Request',
    class {
      constructor(_input: string, init?: RequestInit) {
        refuse(init)
      }
    },
  )
  onTestFinished(() => void vi.unstubAllGlobals())
  const { calls, send } = harness(ok)
  await send()
  expect(calls[0]?.init).not.toHaveProperty('cache')
})

test('[S063] without telemetry requests have no client header', async () => {
  const { calls, send } = harness(ok, { telemetry: false })
  await send({ headers: { 'user-agent': 'oauth4webapi/v3.8.8', 'idp-client': 'x' } })
  const headers = new Headers(calls[0]?.init.headers)
  expect([headers.get('idp-client'), headers.get('user-agent')]).toEqual([null, 'idp-client'])
})

test('a port that fetch refuses is named: curl, which shows that the provider runs, does not refuse it', async () => {
  const { send } = harness(ok, { allowInsecureRequests: true, fetch: globalThis.fetch })
  const error = await send({}, 'http://127.0.0.1:10080/x').catch((reason: unknown) => reason)
  expect(error).toMatchObject({ message: expect.stringMatching(/^fetch and browsers refuse that port/) })
})

test('a dispatcher of another version of undici than fetch is named', async () => {
  const cause = Object.assign(new Error('invalid onRequestStart method'), { code: 'UND_ERR_INVALID_ARG' })
  const { send } = harness(() => Promise.reject(new TypeError('fetch failed', { cause })))
  const error = await send().catch((reason: unknown) => reason)
  expect(error).toMatchObject({
    message: expect.stringMatching(/^fetch cannot use the dispatcher .* \(UND_ERR_INVALID_ARG\)\.$/),
  })
})

test('[S058] [S059] only https is requested, or http if it is allowed', async () => {
  const strict = harness(ok)
  for (const url of [
    'http://op.example',
    'http://127.0.0.1',
    'file:///x',
    'javascript:1',
    'op.example',
    '',
  ]) {
    await expect(strict.send({}, url)).rejects.toMatchObject({ kind: 'forbidden' })
  }
  expect(strict.calls).toHaveLength(0)
  const lenient = harness(ok, { allowInsecureRequests: true })
  await lenient.send({}, 'http://op.example/x')
  await expect(lenient.send({}, 'file:///x')).rejects.toMatchObject({ kind: 'forbidden' })
  expect(lenient.calls).toHaveLength(1)
  expect(mayRequest(new URL('https://op.example'), false)).toBe(true)
})

describe('the response', () => {
  test('is complete and keeps status and headers', async () => {
    const { send } = harness(() => new Response('{"a":1}', { status: 418, headers: { 'x-kept': 'yes' } }))
    const { response, text } = await send()
    expect([response.status, response.headers.get('x-kept')]).toEqual([418, 'yes'])
    expect(text).toBe('{"a":1}')
  })

  test('may have no body', async () => {
    for (const status of [204, 205, 304]) {
      const { send } = harness(() => new Response(null, { status }))
      const { response, text } = await send()
      expect([response.status, text]).toEqual([status, ''])
    }
  })

  test('may have the body that node-fetch gives it, of at most 1 MiB', async () => {
    const fromNodeFetch = (text: string) => (): Response =>
      Object.defineProperty(new Response(text), 'body', { value: Readable.from([Buffer.from(text)]) })
    expect((await harness(fromNodeFetch('{"a":1}')).send()).text).toBe('{"a":1}')
    await expect(harness(fromNodeFetch('x'.repeat(1_048_577))).send()).rejects.toMatchObject({
      kind: 'too-large',
    })
  })

  test.each([301, 302, 303, 307, 308])('%i is rejected', async (status) => {
    const { send } = harness(
      () => new Response(null, { status, headers: { location: 'https://evil.example' } }),
    )
    await expect(send()).rejects.toMatchObject({ kind: 'redirect' })
  })

  test('[Q4] a redirect that `fetch` hides, as browsers do, is rejected as one', async () => {
    const hidden = Object.defineProperties(new Response(null), {
      type: { value: 'opaqueredirect' },
      status: { value: 0 },
    })
    await expect(harness(() => hidden).send()).rejects.toMatchObject({ kind: 'redirect' })
  })

  test('may have 1 MiB, but not one byte more, by Content-Length or actual size', async () => {
    const limit = 1_048_576
    expect((await harness(() => new Response('x'.repeat(limit))).send()).text).toHaveLength(limit)
    await expect(harness(() => new Response('x'.repeat(limit + 1))).send()).rejects.toMatchObject({
      kind: 'too-large',
    })
    const announced = new Response('x', { headers: { 'content-length': String(limit + 1) } })
    await expect(harness(() => announced).send()).rejects.toMatchObject({ kind: 'too-large' })
  })

  test('is rejected for its size while another branch of its body is not read', async () => {
    const kept: Response[] = []
    const { send } = harness(() => {
      const response = new Response('x'.repeat(1_048_577))
      kept.push(response.clone())
      return response
    })
    await expect(send()).rejects.toMatchObject({ kind: 'too-large' })
  })
})

describe('timeouts', () => {
  const never = (): Promise<Response> => new Promise(() => {})

  test('[S061] httpTimeout ends a request whose fetch ignores its signal, and aborts it', async () => {
    const { calls, send } = harness(never, { httpTimeout: 20 })
    await expect(send()).rejects.toMatchObject({ kind: 'timeout' })
    expect(calls[0]?.init.signal?.aborted).toBe(true)
  })

  test('[S061] httpTimeout includes a body that never ends', async () => {
    const endless = () =>
      new Response(new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }))
    await expect(harness(endless, { httpTimeout: 20 }).send()).rejects.toMatchObject({ kind: 'timeout' })
  })

  test('the caller may abort, before or during the request', async () => {
    await expect(harness(never).send({ signal: AbortSignal.abort() })).rejects.toMatchObject({
      kind: 'aborted',
    })
    const controller = new AbortController()
    const outcome = harness(never).send({ signal: controller.signal })
    controller.abort()
    await expect(outcome).rejects.toMatchObject({ kind: 'aborted' })
  })

  test('a signal of the caller that aborts later has no effect', async () => {
    const controller = new AbortController()
    const { text } = await harness(ok).send({ signal: controller.signal })
    controller.abort()
    expect(text).toBe('{}')
  })

  test('a request that has ended leaves no timer, which would keep the process, and no listener', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const lost = (): Promise<Response> => Promise.reject(new TypeError('fetch failed'))
    for (const respond of [ok, lost, never]) {
      const { signal } = new AbortController()
      const removed = vi.spyOn(signal, 'removeEventListener')
      const outcome = harness(respond)
        .send({ signal })
        .catch(() => undefined)
      if (respond === never) await vi.advanceTimersByTimeAsync(20_000)
      await outcome
      expect([vi.getTimerCount(), removed.mock.calls.length]).toEqual([0, 1])
    }
  })
})
