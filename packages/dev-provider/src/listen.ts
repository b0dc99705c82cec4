import type { RequestListener, Server } from 'node:http'
import { createServer as createHttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import type { Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { DevProviderError } from './error.ts'
import { isLoopbackHost } from './loopback.ts'

export interface ServerIdentity {
  /** PEM. */
  readonly cert: string
  /** PEM, PKCS#8. */
  readonly key: string
}

export interface Listening {
  readonly port: number
  /** Destroys open connections, and every new one at once, until `up`. */
  down(): Promise<void>
  up(): void
  close(): Promise<void>
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  readonly tls: ServerIdentity | undefined
  /** PEM of a CA: the server requests a certificate of each client, which it may have issued. */
  readonly clientCa?: string | undefined
  readonly listener: RequestListener
}

// ID tokens with many claims travel in the query of a logout request.
const MAX_HEADER_BYTES = 65_536

function createServer({ clientCa, tls, listener }: ListenOptions): Server {
  const options = { maxHeaderSize: MAX_HEADER_BYTES }
  if (!tls) return createHttpServer(options, listener)
  // Whether a certificate is good is said by the response, which says more than a TLS alert.
  const asking = clientCa === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca: clientCa }
  return createHttpsServer({ ...options, ...tls, ...asking }, listener)
}

/** Listens, and returns the port. */
export function bind(server: Server, port: number, address: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, address, () => {
      server.off('error', reject)
      const bound = server.address()
      resolve(typeof bound === 'object' && bound ? bound.port : port)
    })
  })
}

/** `localhost` means both address families to a client, so both are served where the machine has both. */
function toAddresses(host: string): readonly string[] {
  if (host === '[::1]' || host === '::1') return ['::1']
  return host === 'localhost' || host.endsWith('.localhost') ? ['127.0.0.1', '::1'] : [host]
}

function toErrorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined
}

async function bindAll(options: ListenOptions): Promise<{ servers: Server[]; port: number }> {
  const [first, second] = toAddresses(options.host)
  const primary = createServer(options)
  const port = await bind(primary, options.port, first ?? '127.0.0.1')
  if (second === undefined) return { servers: [primary], port }
  const other = createServer(options)
  try {
    await bind(other, port, second)
    return { servers: [primary, other], port }
  } catch (error) {
    // Taken by another program on the second family: with a free choice of port, choose again.
    if (toErrorCode(error) !== 'EADDRINUSE') return { servers: [primary], port }
    primary.close()
    if (options.port === 0) return bindAll(options)
    throw error
  }
}

/** Serves on loopback addresses only. */
export async function listen(options: ListenOptions): Promise<Listening> {
  if (!isLoopbackHost(options.host)) {
    throw new DevProviderError('host must be a loopback name such as localhost or 127.0.0.1.')
  }
  const { servers, port } = await bindAll(options).catch((error: unknown) => {
    if (toErrorCode(error) !== 'EADDRINUSE') throw error
    throw new DevProviderError(`Port ${options.port} is in use: choose another one, or 0 for a free one.`)
  })
  const sockets = new Set<Socket>()
  let refusing = false
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  for (const server of servers) {
    server.on('connection', (socket: Socket) => {
      if (refusing) {
        socket.destroy()
        return
      }
      sockets.add(socket)
      socket.once('close', () => sockets.delete(socket))
    })
  }
  return {
    port,
    down: async () => {
      refusing = true
      destroyAll()
      // A pooled connection of a client in this process learns of its end in a later turn of the event loop.
      for (let turn = 0; turn < 5; turn += 1) await nextTurn()
    },
    up: () => {
      refusing = false
    },
    close: async () => {
      const closed = servers.map((server) => new Promise((resolve) => server.close(resolve)))
      destroyAll()
      await Promise.all(closed)
    },
  }
}

/** Several listeners as one; the port is that of the first. */
export function together(first: Listening, ...others: readonly Listening[]): Listening {
  const all = [first, ...others]
  return {
    port: first.port,
    down: async () => {
      await Promise.all(all.map((each) => each.down()))
    },
    up: () => {
      for (const each of all) each.up()
    },
    close: async () => {
      await Promise.all(all.map((each) => each.close()))
    },
  }
}
