import type { RequestListener, Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { bindNode } from './binding.ts'
import { sendResponse } from './send.ts'

const scope = { path: '/', secure: false, sameSite: 'lax' } as const
const NO_STORE = 'private, no-cache, no-store, must-revalidate, max-age=0'

/** Serves one handler on a real socket; its URL. Errors of the handler fail the request. */
async function serve(handler: (...given: Parameters<RequestListener>) => Promise<void>): Promise<string> {
  const server: Server = createServer((request, response) => {
    handler(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(599)
      response.end(String(error))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('cookies on a Node response', () => {
  test('are sent together with cookies that the application sets before or after', async () => {
    const url = await serve(async (request, response) => {
      response.setHeader('Set-Cookie', 'before=1')
      const { commit, exchange } = bindNode(request, response)
      exchange.cookies.set({ name: 'ours', scope }, 'v', 60)
      expect(await commit()).toBe(true)
      response.appendHeader('Set-Cookie', 'after=1')
      response.end()
    })
    const { headers } = await fetch(url)
    const ours = 'ours=v; Max-Age=60; Path=/; HttpOnly; SameSite=Lax'
    expect(headers.getSetCookie()).toEqual(['before=1', ours, 'after=1'])
    expect(headers.get('cache-control')).toBe(NO_STORE)
    expect(headers.get('pragma')).toBe('no-cache')
  })

  test('of the library are replaced by a later write, but not cookies of the application with the same name', async () => {
    const url = await serve(async (request, response) => {
      response.setHeader('Set-Cookie', 'ours=from-app')
      for (const value of ['first', 'second']) {
        const { commit, exchange } = bindNode(request, response)
        exchange.cookies.set({ name: 'ours', scope }, value)
        await commit()
      }
      response.end()
    })
    const { headers } = await fetch(url)
    expect(headers.getSetCookie()).toEqual(['ours=from-app', 'ours=second; Path=/; HttpOnly; SameSite=Lax'])
  })

  test('of the library are not sent if they are out of date when the head is sent', async () => {
    const url = await serve(async (request, response) => {
      const { commit, exchange } = bindNode(request, response)
      let isOver = false
      exchange.cookies.set({ name: 'ours', scope }, 'v', 60)
      exchange.cookies.set({ name: 'other', scope }, 'v')
      exchange.cookies.withdrawIf(({ name }) => isOver && name === 'ours')
      await commit()
      response.appendHeader('Set-Cookie', 'app=1')
      isOver = true
      response.end()
    })
    const { headers } = await fetch(url)
    expect(headers.getSetCookie().map((line) => line.split(';', 1)[0])).toEqual(['other=v', 'app=1'])
  })

  test.each<[string, (response: Parameters<RequestListener>[1]) => void]>([
    [
      'setHeader',
      (response) => {
        response.setHeader('Set-Cookie', 'app=1')
        response.setHeader('Cache-Control', 'public, max-age=60')
        response.setHeader('CDN-Cache-Control', 'public, max-age=60')
        response.end()
      },
    ],
    [
      'writeHead',
      (response) => response.writeHead(200, { 'set-cookie': 'app=1', 'cache-control': 'public' }).end(),
    ],
    [
      'writeHead with a reason',
      (response) =>
        response.writeHead(200, 'Fine', { 'Set-Cookie': ['app=1'], 'Cache-Control': 'public' }).end(),
    ],
    [
      'writeHead with a copy of all lines',
      (response) => {
        const lines = [response.getHeader('set-cookie') ?? [], 'app=1'].flat().map(String)
        response.writeHead(200, { 'set-cookie': lines, 'cache-control': 'public' }).end()
      },
    ],
    [
      'writeHead with a list',
      (response) => response.writeHead(200, ['Set-Cookie', 'app=1', 'Cache-Control', 'public']).end(),
    ],
  ])('survive an application that writes its own by %s, and stay out of caches', async (_title, finish) => {
    const url = await serve(async (request, response) => {
      const { commit, exchange } = bindNode(request, response)
      exchange.cookies.set({ name: 'ours', scope }, 'v')
      await commit()
      finish(response)
    })
    const { headers, status } = await fetch(url)
    const names = headers.getSetCookie().map((line) => line.split('=', 1)[0])
    expect([status, names.sort()]).toEqual([200, ['app', 'ours']])
    expect(headers.get('cache-control')).toBe(NO_STORE)
    expect(headers.get('cdn-cache-control') ?? 'no-store').toBe('no-store')
  })

  test('have their newest value if a framework passes a copy of an earlier line with the status', async () => {
    const url = await serve(async (request, response) => {
      const { commit, exchange } = bindNode(request, response)
      const write = async (value: string): Promise<void> => {
        exchange.cookies.set({ name: 'ours', scope }, value)
        await commit()
      }
      await write('first')
      const copied = [response.getHeader('set-cookie') ?? []].flat().map(String)
      await write('second')
      response.writeHead(200, { 'set-cookie': [...copied, 'app=1'] }).end()
    })
    const { headers } = await fetch(url)
    expect(headers.getSetCookie()).toEqual(['ours=second; Path=/; HttpOnly; SameSite=Lax', 'app=1'])
  })

  test.each<[string, (response: Parameters<RequestListener>[1]) => void]>([
    ['setHeader', (response) => response.setHeader('Vary', ['Origin', 'Cookie'])],
    [
      'writeHead with a list',
      (response) => response.writeHead(200, ['Vary', 'Origin', 'vary', 'Cookie', 'X-Single', '1']),
    ],
    [
      'writeHead with an object',
      (response) => response.writeHead(200, { Vary: ['Origin', 'Cookie'], 'X-Single': '1' }),
    ],
  ])('leave headers that occur several times as they are, written by %s', async (_title, finish) => {
    const url = await serve(async (request, response) => {
      const { commit, exchange } = bindNode(request, response)
      exchange.cookies.set({ name: 'ours', scope }, 'v')
      await commit()
      response.setHeader('X-Single', '1')
      finish(response)
      response.end()
    })
    const { headers } = await fetch(url)
    expect([headers.get('vary'), headers.get('x-single')]).toEqual(['Origin, Cookie', '1'])
    expect(headers.getSetCookie()).toHaveLength(1)
  })

  test('are not sent, and caching headers are unchanged, if nothing was staged', async () => {
    const url = await serve(async (request, response) => {
      expect(await bindNode(request, response).commit()).toBe(true)
      response.writeHead(200, { 'cache-control': 'public' }).end()
    })
    const { headers } = await fetch(url)
    expect([headers.getSetCookie(), headers.get('cache-control')]).toEqual([[], 'public'])
  })

  test('cannot be written without a response or after the headers were sent, and canWrite reports it', async () => {
    const url = await serve(async (request, response) => {
      const alone = bindNode(request)
      expect(alone.exchange.canWrite()).toBe(false)
      alone.exchange.cookies.set({ name: 'ours', scope }, 'v')
      expect(await alone.commit()).toBe(false)
      const { commit, exchange } = bindNode(request, response)
      expect(exchange.canWrite()).toBe(true)
      response.flushHeaders()
      expect(exchange.canWrite()).toBe(false)
      expect(await commit()).toBe(false)
      response.end('done')
    })
    const response = await fetch(url)
    expect([await response.text(), response.headers.getSetCookie()]).toEqual(['done', []])
  })

  test('are shared by every binding of one request', async () => {
    const url = await serve(async (request, response) => {
      bindNode(request).exchange.cookies.set({ name: 'ours', scope }, 'staged')
      const { commit, exchange } = bindNode(request, response)
      expect(exchange.cookies.get('ours')).toBe('staged')
      expect(exchange.cookies.get('received')).toBe('r')
      expect(bindNode(request, undefined, '/elsewhere').exchange.slots).toBe(exchange.slots)
      await commit()
      response.end()
    })
    const { headers } = await fetch(url, { headers: { cookie: 'received=r' } })
    expect(headers.getSetCookie()).toHaveLength(1)
  })
})

describe('sendResponse', () => {
  test('writes status, headers, several cookies and the body', async () => {
    const url = await serve(async (_request, response) => {
      response.setHeader('X-Kept', 'kept')
      response.setHeader('Set-Cookie', 'before=1')
      const headers = new Headers({ 'X-Own': 'own', 'Content-Type': 'text/plain' })
      headers.append('Set-Cookie', 'a=1')
      headers.append('Set-Cookie', 'b=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT')
      await sendResponse(response, new Response('grüße', { status: 418, headers }))
    })
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([418, 'grüße'])
    expect([response.headers.get('x-kept'), response.headers.get('x-own')]).toEqual(['kept', 'own'])
    expect(response.headers.getSetCookie()).toEqual([
      'before=1',
      'a=1',
      'b=2; Expires=Thu, 01 Jan 1970 00:00:00 GMT',
    ])
  })

  test('streams a body larger than any buffer', async () => {
    const chunk = new Uint8Array(65_536).fill(97)
    const url = await serve(async (_request, response) => {
      let left = 64
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          if (left-- > 0) controller.enqueue(chunk)
          else controller.close()
        },
      })
      await sendResponse(response, new Response(body))
    })
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(64 * 65_536)
  })

  test('stops reading when the client has disconnected', async () => {
    let cancelled: (() => void) | undefined
    const done = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    const url = await serve(async (_request, response) => {
      const body = new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(65_536)),
        cancel: () => cancelled?.(),
      })
      await sendResponse(response, new Response(body))
    })
    const gone = new AbortController()
    const response = await fetch(url, { signal: gone.signal })
    await response.body?.getReader().read()
    gone.abort()
    await expect(done).resolves.toBeUndefined()
  })

  test('sends a response without body', async () => {
    const url = await serve((_request, response) =>
      sendResponse(response, new Response(null, { status: 204 })),
    )
    const response = await fetch(url)
    expect([response.status, await response.text()]).toEqual([204, ''])
  })
})
