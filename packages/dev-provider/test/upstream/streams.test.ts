import { connect } from 'node:net'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import type { Upstream, UpstreamResponse } from '../../src/index.ts'
import { startUpstream } from '../../src/index.ts'
import type { RawClient } from './raw-client.ts'
import { exchange, openClient } from './raw-client.ts'

let upstream: Upstream
beforeAll(async () => {
  upstream = await startUpstream()
})
afterEach(() => {
  upstream.disconnect()
  upstream.reset()
})
afterAll(() => upstream.close())

const MIB = 1_048_576
const BINARY = 'HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\n'

/** Opens a connection and requests a response. */
async function request(response: UpstreamResponse): Promise<RawClient> {
  upstream.respond(response)
  const client = await openClient(upstream.url)
  client.write('GET /v1 HTTP/1.1\r\nHost: upstream\r\n\r\n')
  return client
}

const hasSent = (bytes: number): Promise<void> => upstream.until(() => upstream.requests[0]?.sent === bytes)

describe('events', () => {
  const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n'

  test('are sent when the test pushes them, to all open streams', async () => {
    const client = await request({ kind: 'events' })
    const other = await request({ kind: 'events' })
    expect(await client.receive('\r\n\r\n')).toBe(HEAD)
    await other.receive('\r\n\r\n')
    await upstream.push('first')
    await upstream.push('é\nsecond line')
    const events = 'd\r\ndata: first\n\n\r\n1c\r\ndata: \xc3\xa9\ndata: second line\n\n\r\n'
    expect(await client.receive('second line\n\n\r\n')).toBe(HEAD + events)
    expect(await other.receive('second line\n\n\r\n')).toBe(HEAD + events)
    expect(upstream.requests).toMatchObject([{ responded: false }, { responded: false }])
    await upstream.endEvents()
    expect(await client.receive('\r\n0\r\n\r\n')).toBe(`${HEAD}${events}0\r\n\r\n`)
    expect(upstream.requests).toMatchObject([{ responded: true }, { responded: true }])
  })

  test('an error names the problem if no stream is open', async () => {
    await expect(upstream.push('lost')).rejects.toThrow(/^No event stream is open: respond with/)
    const client = await request({ kind: 'events' })
    await client.receive('\r\n\r\n')
    client.socket.destroy()
    await upstream.until(() => upstream.requests[0]?.closedEarly === true)
    await expect(upstream.push('lost')).rejects.toThrow(/^No event stream is open/)
    await expect(upstream.endEvents()).rejects.toThrow(/^No event stream is open/)
  })
})

describe('large bodies', () => {
  test('have the whole length', async () => {
    upstream.respond({ kind: 'big', bytes: 200_000 })
    const received = await exchange(upstream.url)
    const head = `${BINARY}Content-Length: 200000\r\n\r\n`
    expect(received.startsWith(head)).toBe(true)
    expect(received.length).toBe(head.length + 200_000)
    expect(received.slice(head.length).replaceAll('u', '')).toBe('')
    expect(upstream.requests).toMatchObject([{ responded: true, sent: received.length }])
  })

  test('wait for a client that reads slowly', async () => {
    const bytes = 64 * MIB
    const client = await request({ kind: 'big', bytes })
    client.socket.pause()
    await upstream.until(() => (upstream.requests[0]?.sent ?? 0) > 0)
    // Another request gives the first one its time. The operating system buffers far less than 64 MiB.
    upstream.respond({ kind: 'echo' })
    await exchange(upstream.url)
    expect(upstream.requests[0]?.responded).toBe(false)
    client.socket.destroy()
    await upstream.until(() => upstream.requests[0]?.closedEarly === true)
    expect(upstream.requests[0]?.sent).toBeLessThan(bytes)
  })
})

describe('responses that do not end', () => {
  test('silent: nothing arrives', async () => {
    const client = await request({ kind: 'silent' })
    await upstream.until(() => upstream.requests[0]?.sha256 !== undefined)
    upstream.disconnect()
    expect(await client.receiveAll()).toBe('')
    expect(upstream.requests).toMatchObject([{ responded: false, closedEarly: false, sent: 0 }])
  })

  test('stall: the body stops after some bytes', async () => {
    const client = await request({ kind: 'stall', after: 3 })
    const expected = `${BINARY}Content-Length: 1048576\r\n\r\nuuu`
    expect(await client.receive('uuu')).toBe(expected)
    await hasSent(expected.length)
    expect([upstream.requests[0]?.responded, upstream.openConnections]).toEqual([false, 1])
    upstream.disconnect()
    expect(await client.receiveAll()).toBe(expected)
  })

  test.each([
    [{ kind: 'cut', after: 3 }, `${BINARY}Content-Length: 1048576\r\n\r\nuuu`],
    [{ kind: 'cut', after: 3, chunked: true }, `${BINARY}Transfer-Encoding: chunked\r\n\r\n3\r\nuuu\r\n`],
  ] as const)('%o: the connection is destroyed', async (response, expected) => {
    const client = await request(response)
    expect(await client.receiveAll()).toBe(expected)
    await upstream.until(() => upstream.openConnections === 0)
    expect(upstream.requests).toMatchObject([{ responded: false, closedEarly: false }])
  })

  test('closeDelimited: the connection is the end', async () => {
    const client = await request({ kind: 'closeDelimited' })
    expect(await client.receiveAll()).toBe(`${BINARY}\r\nuntil the end`)
    expect(upstream.requests).toMatchObject([{ responded: true, closedEarly: false }])
  })
})

describe('reading and connections', () => {
  test('pause and resume decide when a body is read', async () => {
    const size = 32 * MIB
    upstream.pause()
    const client = await openClient(upstream.url)
    client.write(`POST /v1 HTTP/1.1\r\nHost: upstream\r\nContent-Length: ${size}\r\n\r\n`)
    const isWritten = new Promise<void>((resolve) => {
      client.socket.write(Buffer.alloc(size), () => resolve())
    })
    await upstream.until(() => upstream.requests.length === 1)
    expect(upstream.requests[0]?.bodyBytes).toBe(0)
    upstream.resume()
    await upstream.until(() => (upstream.requests[0]?.bodyBytes ?? 0) > 0)
    upstream.pause()
    const paused = upstream.requests[0]?.bodyBytes ?? 0
    expect(paused).toBeLessThan(size)
    // Another request shows that the paused one had its time.
    await exchange(upstream.url)
    expect(upstream.requests[0]?.bodyBytes).toBe(paused)
    upstream.resume()
    await isWritten
    await client.receive(`"bytes":${size}`)
  })

  test('refuse and accept', async () => {
    const client = await openClient(upstream.url)
    await upstream.until(() => upstream.openConnections === 1)
    await upstream.refuse()
    expect(await client.receiveAll()).toBe('')
    await expect(openClient(upstream.url)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    await upstream.refuse()
    await upstream.accept()
    await upstream.accept()
    expect(await exchange(upstream.url)).toMatch(/^HTTP\/1.1 200 /)
  })

  test('disconnect destroys idle connections', async () => {
    const client = await request({ kind: 'unauthorized' })
    await client.receive('{"ok":true}')
    upstream.disconnect()
    await client.receiveAll()
    await upstream.until(() => upstream.openConnections === 0)
    expect(upstream.requests).toMatchObject([{ responded: true, closedEarly: false }])
  })

  test('a request that disconnect interrupts was not aborted by the client', async () => {
    const client = await openClient(upstream.url)
    client.write('POST /v1 HTTP/1.1\r\nHost: upstream\r\nContent-Length: 10\r\n\r\nabc')
    await upstream.until(() => upstream.requests[0]?.bodyBytes === 3)
    upstream.disconnect()
    await upstream.until(() => upstream.openConnections === 0)
    expect(upstream.requests).toMatchObject([{ aborted: false, closedEarly: false }])
  })

  test('the path and the port are options', async () => {
    const other = await startUpstream({ path: '/a/b-2' })
    expect(other.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/a\/b-2$/)
    await other.close()
    const again = await startUpstream({ port: Number(new URL(other.url).port) })
    expect(new URL(again.url).port).toBe(new URL(other.url).port)
    await again.close()
    for (const path of ['', '/', 'v1', '/v1/', '/../v1', '/v1?q']) {
      await expect(startUpstream({ path })).rejects.toThrow(/^path must be segments/)
    }
  })

  test('close ends what is open, and conditions that are not true', async () => {
    const other = await startUpstream()
    const { port } = new URL(other.url)
    const socket = connect(Number(port), '127.0.0.1')
    const isClosed = new Promise((resolve) => socket.once('close', resolve))
    await other.until(() => other.openConnections === 1)
    const never = expect(other.until(() => false)).rejects.toThrow(/^The API was closed before a condition/)
    await other.close()
    await Promise.all([never, isClosed])
  })

  test('a response or a condition that throws destroys the connection, and close rejects', async () => {
    const other = await startUpstream()
    other.respond(() => {
      throw new Error('broken response')
    })
    expect(await exchange(other.url)).toBe('')
    other.respond(
      { kind: 'echo' },
      {
        when: () => {
          throw new Error('broken condition')
        },
      },
    )
    expect(await exchange(other.url)).toBe('')
    await expect(other.close()).rejects.toThrow('broken response')
  })

  test('a condition of until that throws rejects', async () => {
    let isBroken = false
    const condition = (): boolean => {
      if (isBroken) throw new Error('broken condition')
      return false
    }
    const broken = expect(upstream.until(condition)).rejects.toThrow('broken condition')
    isBroken = true
    await exchange(upstream.url)
    await broken
  })
})
