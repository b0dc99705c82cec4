import type { IncomingMessage } from 'node:http'
import { toBytes } from './bytes.ts'
import type { RequestRecord } from './requests.ts'
import { destroySocket, isDestroyedHere } from './sockets.ts'

/** The response to one request, written to its bare connection, because `node:http` rejects or changes invalid bytes. */
export interface Exchange {
  readonly record: RequestRecord
  /** Whether the response has not ended and the connection is open. */
  isOpen(): boolean
  /** Writes bytes. Resolves when the operating system has accepted them, to `false` if the connection is closed. */
  write(content: string | Uint8Array): Promise<boolean>
  /** Ends the response, and the connection if the client has requested that or nothing else marks the end. */
  finish(options?: { readonly close?: boolean }): void
  destroy(): void
}

export function createExchange(
  { socket, headers, httpVersion }: IncomingMessage,
  record: RequestRecord,
  onChange: () => void,
): Exchange {
  const closes = httpVersion === '1.0' || /\bclose\b/i.test(headers.connection ?? '')
  const onClose = (): void => {
    record.closedEarly = !isDestroyedHere(socket)
    onChange()
  }
  socket.once('close', onClose)
  return {
    record,
    isOpen: () => !record.responded && !socket.destroyed,
    write: (content) =>
      new Promise((resolve) => {
        const bytes = toBytes(content)
        socket.write(bytes, (error) => {
          if (!error) record.sent += bytes.length
          onChange()
          resolve(!error)
        })
      }),
    finish: ({ close = closes } = {}) => {
      socket.off('close', onClose)
      record.responded = true
      if (close) socket.end()
      onChange()
    },
    destroy: () => destroySocket(socket),
  }
}
