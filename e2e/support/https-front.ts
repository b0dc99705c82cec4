import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:https'
import { frontIdentity } from './server-keys.ts'

/** The body of a response, as far as it was sent. */
export interface SentBody {
  /** With its query. */
  readonly path: string
  readonly chunks: readonly Buffer[]
}

export interface HttpsFront {
  /** `https://localhost:<port>` */
  readonly url: string
  /** Sets the http URL to which requests are forwarded; before the first call every response is 503. */
  forwardTo(url: string): void
  /** From now on the browser gets no `Set-Cookie` line, as if it kept no cookies of this site. */
  withholdCookies(): void
  /** Returns a list of the bodies of all responses from now on, up to the next call; they are sent without compression. */
  record(): readonly SentBody[]
  stop(): Promise<void>
}

function listeningPort(address: ReturnType<ReturnType<typeof createServer>['address']>): number {
  if (typeof address !== 'object' || address === null) throw new Error('the server listens on no port')
  return address.port
}

/** Starts a reverse proxy for a production server: terminates TLS and sets the forwarded headers. */
export async function startHttpsFront(): Promise<HttpsFront> {
  let target: URL | undefined
  let keepsCookies = true
  let recorded: SentBody[] | undefined

  function forward(request: IncomingMessage, response: ServerResponse): void {
    if (!target) {
      response.writeHead(503).end()
      return
    }
    const { host = '' } = request.headers
    const record = recorded
    const onward = httpRequest(
      {
        // A connection that the server has just closed for being idle would fail the request.
        agent: false,
        host: target.hostname,
        port: target.port,
        method: request.method,
        path: request.url,
        headers: {
          ...request.headers,
          ...(record ? { 'accept-encoding': 'identity' } : {}),
          'x-forwarded-proto': 'https',
          'x-forwarded-host': host,
        },
      },
      (received) => {
        const { 'set-cookie': cookies, ...headers } = received.headers
        response.writeHead(received.statusCode ?? 502, {
          ...headers,
          ...(keepsCookies && cookies ? { 'set-cookie': cookies } : {}),
        })
        if (record) {
          const chunks: Buffer[] = []
          record.push({ path: request.url ?? '', chunks })
          received.on('data', (chunk: Buffer) => chunks.push(chunk))
        }
        received.pipe(response)
      },
    )
    onward.on('error', () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end()
    })
    response.on('close', () => onward.destroy())
    request.pipe(onward)
  }

  const server = createServer(await frontIdentity(), forward)
  // The browser reuses connections; none is closed while it may send on it.
  server.keepAliveTimeout = 0
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `https://localhost:${listeningPort(server.address())}`,
    forwardTo(url) {
      target = new URL(url)
    },
    withholdCookies() {
      keepsCookies = false
    },
    record() {
      recorded = []
      return recorded
    },
    async stop() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
