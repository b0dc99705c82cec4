import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { sendResponse } from '../../src/adapters/node/send.ts'

/** Returns the Web request for a request that a real server received; its body is read when it is used. */
export function requestOf(incoming: IncomingMessage, signal?: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers))
    if (value !== undefined) headers.set(name, String(value))
  const { method = 'GET' } = incoming
  const hasBody = incoming.headers['content-length'] !== undefined || headers.has('transfer-encoding')
  const body = hasBody && method !== 'GET' && method !== 'HEAD' ? Readable.toWeb(incoming) : null
  const init = { method, headers, body, duplex: 'half', ...(signal && { signal }) }
  return new Request(new URL(incoming.url ?? '/', `http://${incoming.headers.host}`), init as RequestInit)
}

/** A listener of `node:http` around a Web application. */
export function listenerOf(respond: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    const client = new AbortController()
    outgoing.once('close', () => {
      if (!outgoing.writableFinished) client.abort()
    })
    Promise.resolve()
      .then(() => respond(requestOf(incoming, client.signal)))
      .catch(() => new Response('failed', { status: 500 }))
      .then((response) => sendResponse(outgoing, response))
      .catch(() => outgoing.destroy())
  }
}

export interface Front {
  readonly url: string
  stop(): Promise<void>
}

/** A real server on a free port of this machine. */
export async function startFront(listener: RequestListener): Promise<Front> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
