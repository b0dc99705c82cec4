import { createHash } from 'node:crypto'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Upstream } from '../../src/index.ts'
import { startUpstream } from '../../src/index.ts'
import type { RequestParts } from './raw-client.ts'
import { exchange, openClient } from './raw-client.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterEach(() => upstream.reset())
afterAll(() => upstream.close())

const sha256 = (text: string): string => createHash('sha256').update(text, 'latin1').digest('hex')

const bearer = (token: string): { headers: string } => ({ headers: `Authorization: Bearer ${token}\r\n` })

/** The status of the response to a request. */
async function statusOf(parts?: RequestParts): Promise<number> {
  return Number((await exchange(upstream.url, parts)).slice(9, 12))
}

describe('the record of a request', () => {
  test('method, target and headers as they arrived', async () => {
    const target = '/v1/../%2e%2e//a;b?q=%20&q=+|"'
    await exchange(upstream.url, { method: 'PATCH', target, headers: 'X-oDD: 1\r\nx-Odd:  caf\xe9 \r\n' })
    const [request] = upstream.requests
    expect(request).toMatchObject({
      method: 'PATCH',
      target,
      headers: [
        ['Host', 'upstream'],
        ['Connection', 'close'],
        ['X-oDD', '1'],
        ['x-Odd', 'caf\xe9'],
      ],
      aborted: false,
      responded: true,
      closedEarly: false,
    })
    expect(request?.header('x-odd')).toBe('1, caf\xe9')
    expect(request?.header('x-absent')).toBeUndefined()
  })

  test('a body with its length and hash, and trailers', async () => {
    const headers = 'Transfer-Encoding: chunked\r\n'
    const body = '3\r\nabc\r\n2\r\n\x80\xff\r\n0\r\nX-Check: 1\r\nx-check: 2\r\n\r\n'
    const response = await exchange(upstream.url, { method: 'POST', headers, body })
    const digest = sha256('abc\x80\xff')
    expect(upstream.requests).toMatchObject([
      {
        bodyBytes: 5,
        sha256: digest,
        trailers: [
          ['X-Check', '1'],
          ['x-check', '2'],
        ],
      },
    ])
    expect(response).toContain(`"bytes":5,"sha256":"${digest}"`)
    expect(upstream.requests[0]?.sent).toBe(response.length)
  })

  test('the access token of either scheme, and of no other one', async () => {
    for (const value of ['Bearer a.b', 'dpop c', 'Basic d', 'Bearer', 'Bearer e f']) {
      await exchange(upstream.url, { headers: `authorization: ${value}\r\n` })
    }
    expect(upstream.requests.map(({ token }) => token)).toEqual(['a.b', 'c', undefined, undefined, undefined])
  })

  test('several requests on one connection, in their order', async () => {
    upstream.respond({ kind: 'setCookie' }, { times: 12 })
    const client = await openClient(upstream.url)
    for (let count = 1; count <= 13; count += 1) {
      client.write(`GET /v1/${count} HTTP/1.1\r\nHost: upstream\r\n\r\n`)
      await upstream.until(() => upstream.requests[count - 1]?.responded === true)
    }
    await client.receive('"target":"/v1/13"')
    expect(upstream.requests.map(({ target }) => target)).toEqual(
      Array.from({ length: 13 }, (_, index) => `/v1/${index + 1}`),
    )
    expect([upstream.connections, upstream.openConnections]).toEqual([1, 1])
    client.socket.destroy()
    await upstream.until(() => upstream.openConnections === 0)
    expect(upstream.requests.filter(({ closedEarly, aborted }) => closedEarly || aborted)).toEqual([])
  })

  test('a request that cannot be parsed counts as a connection only', async () => {
    const client = await openClient(upstream.url)
    client.write('no HTTP\r\n\r\n')
    await client.receiveAll()
    expect([upstream.requests.length, upstream.connections, upstream.openConnections]).toEqual([0, 1, 0])
  })

  test('reset removes requests, responses and the number of connections', async () => {
    upstream.respond({ kind: 'unauthorized' })
    await statusOf()
    upstream.reset()
    expect([upstream.requests.length, upstream.connections]).toEqual([0, 0])
    expect(await statusOf()).toBe(200)
  })
})

describe('a client that goes away', () => {
  test('before its body ended', async () => {
    const client = await openClient(upstream.url)
    client.write('POST /v1 HTTP/1.1\r\nHost: upstream\r\nContent-Length: 10\r\n\r\nabc')
    await upstream.until(() => upstream.requests[0]?.bodyBytes === 3)
    expect(upstream.requests).toMatchObject([{ aborted: false, closedEarly: false }])
    client.socket.destroy()
    await upstream.until(() => upstream.requests[0]?.closedEarly === true)
    expect(upstream.requests).toMatchObject([{ aborted: true, bodyBytes: 3, sha256: undefined, sent: 0 }])
  })

  test('by a reset of the connection', async () => {
    const client = await openClient(upstream.url)
    client.write('POST /v1 HTTP/1.1\r\nHost: upstream\r\nContent-Length: 10\r\n\r\nabc')
    await upstream.until(() => upstream.requests[0]?.bodyBytes === 3)
    client.socket.resetAndDestroy()
    await upstream.until(() => upstream.openConnections === 0)
    expect(upstream.requests).toMatchObject([{ aborted: true, closedEarly: true }])
  })

  test('before the response arrived', async () => {
    upstream.respond({ kind: 'silent' })
    const client = await openClient(upstream.url)
    client.write('GET /v1 HTTP/1.1\r\nHost: upstream\r\n\r\n')
    await upstream.until(() => upstream.requests[0]?.sha256 !== undefined)
    client.socket.destroy()
    await upstream.until(() => upstream.requests[0]?.closedEarly === true)
    expect(upstream.requests).toMatchObject([{ aborted: false, responded: false, sent: 0 }])
  })
})

describe('which response a request gets', () => {
  test('the last one that was set, for so many requests', async () => {
    upstream.respond({ kind: 'respond', status: 201 })
    upstream.respond({ kind: 'respond', status: 202 }, { times: 2 })
    expect([await statusOf(), await statusOf(), await statusOf()]).toEqual([202, 202, 201])
  })

  test('until it is removed', async () => {
    const remove = upstream.respond({ kind: 'respond', status: 201 })
    expect(await statusOf()).toBe(201)
    remove()
    expect(await statusOf()).toBe(200)
  })

  test('by target and by a function', async () => {
    upstream.respond({ kind: 'respond', status: 201 }, { target: '/v1/a?b' })
    upstream.respond({ kind: 'respond', status: 202 }, { when: ({ method }) => method === 'PUT' })
    const statuses = [
      await statusOf({ target: '/v1/a?b' }),
      await statusOf({ target: '/v1/a' }),
      await statusOf({ method: 'PUT', target: '/v1/a?b', headers: 'Content-Length: 0\r\n' }),
    ]
    expect(statuses).toEqual([201, 200, 202])
  })

  test('by access tokens', async () => {
    upstream.respond({ kind: 'invalidToken' }, { tokens: ['expired', 'revoked'] })
    const statuses = [
      await statusOf(bearer('expired')),
      await statusOf(bearer('revoked')),
      await statusOf(bearer('current')),
      await statusOf(),
    ]
    expect(statuses).toEqual([401, 401, 200, 200])
  })

  test('by any access token but the newest', async () => {
    upstream.respond({ kind: 'invalidToken' }, { tokens: 'older' })
    const statuses: number[] = []
    for (const token of ['first', 'first', 'second', 'first', 'second', 'third', 'second']) {
      statuses.push(await statusOf(bearer(token)))
    }
    expect(statuses).toEqual([200, 200, 200, 401, 200, 200, 401])
    expect(await statusOf()).toBe(401)
  })

  test('chosen by a function of the request, also later', async () => {
    let decide = (): void => undefined
    const decided = new Promise<void>((resolve) => {
      decide = resolve
    })
    upstream.respond(async ({ token }) => {
      await decided
      return { kind: 'respond', status: token === undefined ? 401 : 204 }
    })
    const statuses = Promise.all([statusOf(), statusOf(bearer('a'))])
    await upstream.until(() => upstream.requests.length === 2)
    expect(upstream.requests.map(({ responded }) => responded)).toEqual([false, false])
    decide()
    expect(await statuses).toEqual([401, 204])
  })

  test('early, before its body ended', async () => {
    upstream.respond({ kind: 'unauthorized' }, { early: true })
    const client = await openClient(upstream.url)
    client.write('POST /v1 HTTP/1.1\r\nHost: upstream\r\nContent-Length: 4\r\n\r\nab')
    expect(await client.receive('{"ok":true}')).toMatch(/^HTTP\/1.1 401 /)
    expect(upstream.requests).toMatchObject([{ responded: true, sha256: undefined }])
    client.write('cd')
    await upstream.until(() => upstream.requests[0]?.sha256 === sha256('abcd'))
    client.socket.destroy()
  })
})
