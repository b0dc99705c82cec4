import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { bind } from '../listen.ts'
import { destroySocket } from './sockets.ts'

/** A server on loopback, and its connections. */
export interface Connections {
  readonly origin: string
  /** How many were opened. */
  readonly total: number
  readonly open: number
  serve(listener: RequestListener): void
  destroyAll(): void
  /** Stops listening and destroys all connections. */
  refuse(): Promise<void>
  /** Listens again, on the same port. */
  accept(): Promise<void>
}

const HOST = '127.0.0.1'

// The limit is that of the client under test, not the default of Node.js.
const MAX_HEADER_BYTES = 1_048_576

export async function openServer(wantedPort: number, onChange: () => void): Promise<Connections> {
  // Without limits of time: a test decides how slow its client is.
  const server = createServer({ maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: 0 })
  const sockets = new Set<Socket>()
  let total = 0
  server.on('connection', (socket: Socket) => {
    total += 1
    sockets.add(socket)
    socket.once('close', () => {
      sockets.delete(socket)
      onChange()
    })
    onChange()
  })
  server.on('clientError', (_error, socket) => socket.destroy())
  const port = await bind(server, wantedPort, HOST)
  const destroyAll = (): void => {
    for (const socket of sockets) destroySocket(socket)
  }
  return {
    origin: `http://${HOST}:${port}`,
    get total() {
      return total
    },
    get open() {
      return sockets.size
    },
    serve: (listener) => {
      server.on('request', listener)
    },
    destroyAll,
    refuse: async () => {
      if (!server.listening) return
      const closed = new Promise((resolve) => server.close(resolve))
      destroyAll()
      await closed
    },
    accept: async () => {
      if (!server.listening) await bind(server, port, HOST)
    },
  }
}
