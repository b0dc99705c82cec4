import type { Socket } from 'node:net'
import { connect } from 'node:net'

/** A TCP client that shows bytes as they are, one character each. */
export interface RawClient {
  readonly socket: Socket
  write(text: string | Uint8Array): void
  /** Resolves to everything that was received, once that contains the text. */
  receive(text: string): Promise<string>
  /** Resolves to everything that was received, once the connection is closed. */
  receiveAll(): Promise<string>
}

export async function openClient(url: string): Promise<RawClient> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  let received = ''
  let isClosed = false
  let onChange = (): void => undefined
  socket.on('data', (chunk) => {
    received += chunk.toString('latin1')
    onChange()
  })
  // A reset ends the connection, too: the tests look at what arrived before.
  socket.on('error', () => undefined)
  socket.once('close', () => {
    isClosed = true
    onChange()
  })
  const until = async (condition: () => boolean): Promise<string> => {
    while (!condition()) {
      if (isClosed) throw new Error(`the connection is closed, received: ${received.slice(0, 1000)}`)
      await new Promise<void>((resolve) => {
        onChange = resolve
      })
    }
    return received
  }
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve)
    socket.once('error', reject)
  })
  return {
    socket,
    write: (text) => {
      socket.write(typeof text === 'string' ? Buffer.from(text, 'latin1') : text)
    },
    receive: (text) => until(() => received.includes(text)),
    receiveAll: () => until(() => isClosed),
  }
}

export interface RequestParts {
  readonly method?: string
  readonly target?: string
  /** Lines that end with CRLF. */
  readonly headers?: string
  readonly body?: string
}

/** Sends a request, and returns every byte of the response. The connection closes after it. */
export async function exchange(
  url: string,
  { method = 'GET', target = '/v1/orders', headers = '', body = '' }: RequestParts = {},
): Promise<string> {
  const client = await openClient(url)
  client.write(`${method} ${target} HTTP/1.1\r\nHost: upstream\r\nConnection: close\r\n${headers}\r\n${body}`)
  return client.receiveAll()
}
