import type { IncomingMessage, RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { sendResponse } from '../../src/adapters/node/send.ts'

/** Returns the Web request for a request that a real server received. */
export async function requestOf(incoming: IncomingMessage): Promise<Request> {
  const headers = new Headers()
  for (const [name, value] of Object.entries(incoming.headers)) if (value) headers.set(name, String(value))
  const { method = 'GET' } = incoming
  const chunks: Buffer[] = []
  for await (const chunk of incoming) chunks.push(chunk as Buffer)
  const body = chunks.length === 0 ? null : Buffer.concat(chunks)
  return new Request(`http://${incoming.headers.host}${incoming.url}`, { method, headers, body })
}

/** A listener of `node:http` around a Web application. */
export function listenerOf(respond: (request: Request) => Promise<Response>): RequestListener {
  return (incoming, outgoing) => {
    requestOf(incoming)
      .then(respond)
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
