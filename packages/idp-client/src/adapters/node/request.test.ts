import type { IncomingHttpHeaders } from 'node:http'
import { Agent, createServer, request as outgoing } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { NodeRequest } from './request.ts'
import { placeBelowPrefix, toRequestView } from './request.ts'

interface Given {
  readonly url?: string
  readonly originalUrl?: string
  readonly headers?: IncomingHttpHeaders
  readonly encrypted?: boolean
  readonly body?: unknown
  /** The rest of the stream; null: it was read to its end. */
  readonly stream?: string | null
}

function request({ body, encrypted, headers = {}, originalUrl, stream = '', url = '/' }: Given): NodeRequest {
  const readable = Readable.from(stream === '' ? [] : [Buffer.from(stream ?? 'read=before')])
  if (stream === null) readable.resume()
  return Object.assign(readable, {
    url,
    method: 'POST',
    headers: { host: 'app.example.com', ...headers },
    socket: (encrypted ? { encrypted } : {}) as NodeRequest['socket'],
    ...(originalUrl === undefined ? {} : { originalUrl }),
    ...(body === undefined ? {} : { body }),
  })
}

const form = { 'content-type': 'application/x-www-form-urlencoded' }

describe('the URL of a request', () => {
  test.each<[string, Given, string]>([
    ['host and target', { url: '/a/b?c=d' }, 'http://app.example.com/a/b?c=d'],
    ['a TLS socket', { url: '/', encrypted: true }, 'https://app.example.com/'],
    ['the URL before a router cut it', { url: '/b', originalUrl: '/a/b' }, 'http://app.example.com/a/b'],
    ['a port', { headers: { host: 'localhost:3000' } }, 'http://localhost:3000/'],
    [
      'a target that looks like a host',
      { url: '//evil.example/x' },
      'http://app.example.com//evil.example/x',
    ],
    ['a target in absolute form', { url: 'http://evil.example/x?y=1' }, 'http://app.example.com/x?y=1'],
    ['the asterisk of OPTIONS', { url: '*' }, 'http://app.example.com/'],
    ['a target with a scheme of its own', { url: 'javascript:alert(1)' }, 'http://app.example.com/'],
  ])('comes from %s', (_title, given, expected) => {
    expect(toRequestView(request(given)).url?.href).toBe(expected)
  })

  test.each([
    '',
    'evil.example/x?',
    'a b',
    'user@evil.example',
    'evil.example#',
    '[',
    ':',
    'a:999999',
    '\\evil',
  ])('keeps path and query with the Host header "%s", and has no host that is not in it', (host) => {
    const view = toRequestView(request({ url: '/auth/callback?state=s', headers: { host } }))
    expect(view.url?.host).toBe('unknown!')
    expect(view.url?.pathname).toBe('/auth/callback')
    expect(view.url?.searchParams.get('state')).toBe('s')
    expect(view.headers.get('host')).toBe(host)
  })

  test('has no host if the request has none', () => {
    const { url, headers } = toRequestView(request({ headers: { host: undefined } }))
    expect([url?.host, headers.get('host')]).toEqual(['unknown!', null])
  })

  test('uses :authority of HTTP/2', () => {
    const { url, headers } = toRequestView(
      request({ headers: { host: undefined, ':authority': 'h2.example.com', ':path': '/' } }),
    )
    expect([url?.origin, headers.get('host')]).toEqual(['http://h2.example.com', 'h2.example.com'])
  })
})

test('all values of repeated headers are returned', () => {
  const { headers } = toRequestView(
    request({
      headers: { 'set-cookie': ['a=1', 'b=2'], 'x-forwarded-host': 'one, two', cookie: 'a=1; b=2' },
    }),
  )
  expect(headers.get('set-cookie')).toBe('a=1, b=2')
  expect(headers.get('constructor')).toBeNull()
  expect(headers.get('x-forwarded-host')).toBe('one, two')
  expect(headers.get('cookie')).toBe('a=1; b=2')
  const split = request({ headers: { cookie: ['a=1', 'b=2'] as unknown as string } })
  expect(toRequestView(split).headers.get('cookie')).toBe('a=1; b=2')
})

test('the mount path is reported only for a path below it', () => {
  expect(
    placeBelowPrefix(request({ url: '/auth/login?x=1', originalUrl: '/app/auth/login?x=1' }))?.path,
  ).toBe('/auth/login')
  expect(placeBelowPrefix(request({ url: '/app', originalUrl: '/app' }))?.path).toBeUndefined()
  expect(placeBelowPrefix(request({ url: '/app' }))?.path).toBeUndefined()
})

test('[E4] the mount path of a router is reported if the host provides it', () => {
  expect(
    placeBelowPrefix(request({ url: '/auth/login?x=1', originalUrl: '/app/auth/login?x=1' }))?.prefix,
  ).toBe('/app')
  expect(placeBelowPrefix(request({ url: '/auth/login', originalUrl: '/a/b/auth/login' }))?.prefix).toBe(
    '/a/b',
  )
  expect(
    placeBelowPrefix(request({ url: '/auth/login', originalUrl: '/auth/login' }))?.prefix,
  ).toBeUndefined()
  expect(placeBelowPrefix(request({ url: '/', originalUrl: '/auth/login' }))?.prefix).toBeUndefined()
  expect(placeBelowPrefix(request({ url: '/rewritten', originalUrl: '/auth/login' }))?.prefix).toBeUndefined()
  expect(placeBelowPrefix(request({ url: '/app' }))?.prefix).toBeUndefined()
})

test('a pattern that removes the whole path leaves the request where it is', () => {
  const removed = request({ url: '/?x=1', originalUrl: '/auth/login/?x=1' })
  expect(placeBelowPrefix({ ...removed, baseUrl: '/auth/login' })).toBeUndefined()
  expect(placeBelowPrefix({ ...removed, baseUrl: '/auth' })).toEqual({ path: '/' })
})

describe('the form of a request', () => {
  const fields = async (given: Given): Promise<[string, string][]> => [
    ...(await toRequestView(request({ headers: form, ...given })).form()),
  ]

  test('is read from the stream', async () => {
    expect(await fields({ stream: 'code=c&state=a%2Bb' })).toEqual([
      ['code', 'c'],
      ['state', 'a+b'],
    ])
  })

  test('is read once, even if it is requested several times', async () => {
    const view = toRequestView(request({ headers: form, stream: 'code=c' }))
    await view.form()
    expect((await view.form()).get('code')).toBe('c')
  })

  test.each<[string, unknown]>([
    ['object', { code: 'c', state: ['a', 'b'], nested: { deep: 'x' } }],
    ['text', 'code=c&state=a&state=b'],
    ['buffer', Buffer.from('code=c&state=a&state=b')],
  ])('is taken from a parsed %s, repetitions included', async (_title, body) => {
    expect(await fields({ body, stream: null })).toEqual([
      ['code', 'c'],
      ['state', 'a'],
      ['state', 'b'],
    ])
  })

  test('is read from the stream if a parser set an empty object without reading the stream', async () => {
    expect(await fields({ body: {}, stream: 'code=c' })).toEqual([['code', 'c']])
  })

  test('is empty if the parser read an empty form', async () => {
    const given = request({ headers: form, body: {}, stream: null })
    await new Promise((resolve) => setImmediate(resolve))
    expect([...(await toRequestView(given).form())]).toEqual([])
  })

  test('is reported by name if another reader consumed it', async () => {
    const given = request({ headers: form, stream: null })
    await new Promise((resolve) => setImmediate(resolve))
    await expect(toRequestView(given).form()).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('body parser for forms'),
    })
  })

  test.each(['application/json', 'text/plain', undefined])('is rejected if it is %s', async (type) => {
    const given = { headers: { 'content-type': type }, body: { code: 'c' } }
    await expect(fields(given)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })

  test('has at most 262,144 bytes, and a longer body does not close the connection', async () => {
    const longest = `code=${'x'.repeat(262_139)}`
    expect(await fields({ headers: form, stream: longest })).toHaveLength(1)
    const given = request({ headers: form, stream: `${longest}x` })
    await expect(toRequestView(given).form()).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
    expect((given as unknown as Readable).destroyed).toBe(false)
  })
})

describe('the JSON object of a request', () => {
  const headers = { 'content-type': 'application/json; charset=utf-8' }
  const object = async (given: Given): Promise<unknown> =>
    toRequestView(request({ headers, ...given })).json()

  test.each<[string, Given]>([
    ['the stream', { stream: '{"otp":"1"}' }],
    ['an object', { body: { otp: '1' }, stream: null }],
    ['text', { body: '{"otp":"1"}', stream: null }],
    ['a buffer', { body: Buffer.from('{"otp":"1"}'), stream: null }],
    ['the stream, when a parser left an empty object', { body: {}, stream: '{"otp":"1"}' }],
  ])('is taken from %s', async (_title, given) => {
    expect(await object(given)).toEqual({ otp: '1' })
  })

  test('is reported by name if another reader consumed it', async () => {
    const given = request({ headers, stream: null })
    await new Promise((resolve) => setImmediate(resolve))
    await expect(toRequestView(given).json()).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining('body parser for JSON'),
    })
  })

  test.each<[string, Given]>([
    ['a list', { body: [1] }],
    ['a list in the stream', { stream: '[1]' }],
    ['half an object', { stream: '{"otp":' }],
    ['an object that is labelled as a form', { headers: form, body: { otp: '1' } }],
    ['more than the bound', { stream: JSON.stringify({ otp: 'x'.repeat(300_000) }) }],
  ])('is refused as %s', async (_title, given) => {
    await expect(object(given)).rejects.toMatchObject({ code: 'INVALID_REQUEST' })
  })
})

test('a request that is sent on needs no events of its socket, which AWS Lambda does not have', async () => {
  const view = toRequestView(request({ headers: { 'content-length': '4' }, stream: 'body' }))
  const { body, onLeave } = view.transfer?.() ?? {}
  const stop = onLeave?.(() => expect.unreachable())
  expect(await new Response(body).text()).toBe('body')
  expect(stop).not.toThrow()
})

describe('several headers Authorization', () => {
  const rawHeaders = ['Host', 'app.example.com', 'AUTHORIZATION', 'Bearer a', 'authorization', 'Bearer b']
  const first = { authorization: 'Bearer a' }

  test('are one list, although Node.js drops all but the first', () => {
    const given = Object.assign(request({ headers: first }), { rawHeaders })
    expect(toRequestView(given).headers.get('Authorization')).toBe('Bearer a, Bearer b')
  })

  test('also in a request that wraps that of Node.js', () => {
    const given = Object.assign(request({ headers: first }), { req: { rawHeaders } })
    expect(toRequestView(given).headers.get('authorization')).toBe('Bearer a, Bearer b')
  })

  test('one is returned as it is', () => {
    const given = Object.assign(request({ headers: first }), { rawHeaders: rawHeaders.slice(0, 4) })
    expect(toRequestView(given).headers.get('authorization')).toBe('Bearer a')
    expect(toRequestView(request({})).headers.get('authorization')).toBeNull()
  })
})

test('after a body that is too large, the connection serves the next request', async () => {
  const server = createServer(async (incoming, response) => {
    if (incoming.url === '/next') return response.end('next')
    await toRequestView(incoming)
      .form()
      .catch(() => undefined)
    return response.end('form')
  })
  await new Promise<void>((resolve) => server.listen(0, resolve))
  const { port } = server.address() as AddressInfo
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const send = (path: string, body: string): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = outgoing({ port, path, agent, method: 'POST', headers: form }, async (response) => {
        resolve((await response.toArray()).join(''))
      })
      sent.on('error', reject)
      sent.end(body)
    })
  try {
    expect(await send('/form', 'x'.repeat(1_000_000))).toBe('form')
    expect(await send('/next', '')).toBe('next')
  } finally {
    agent.destroy()
    server.closeAllConnections()
    server.close()
  }
})
