import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { RawHeader } from './bytes.ts'
import { isDestroyedHere } from './sockets.ts'

/** A request as the API received it. The properties change until request and response have ended. */
export interface UpstreamRequest {
  readonly method: string
  /** The request target as it arrived: path and query, neither normalized nor decoded. */
  readonly target: string
  /** Names and values as they arrived, in that order. */
  readonly headers: readonly RawHeader[]
  /** Returns the values of a header joined by commas, whatever its case, or `undefined`. */
  header(name: string): string | undefined
  /** The access token of the header `Authorization`, with the scheme `Bearer` or `DPoP`. */
  readonly token: string | undefined
  /** Set when the body has ended. */
  readonly trailers: readonly RawHeader[]
  /** Bytes of the body that were read. */
  readonly bodyBytes: number
  /** SHA-256 of the whole body in hexadecimal; `undefined` until it has ended. */
  readonly sha256: string | undefined
  /** Whether the client closed the connection before the body ended. */
  readonly aborted: boolean
  /** Bytes of the response, head included, that the operating system accepted for sending. */
  readonly sent: number
  /** Whether the whole response was sent. Always false for `silent`, `stall` and `cut`. */
  readonly responded: boolean
  /** Whether the client closed the connection before the response was complete. */
  readonly closedEarly: boolean
}

/** The record of a request, which its connection updates. */
export type RequestRecord = { -readonly [Key in keyof UpstreamRequest]: UpstreamRequest[Key] }

function toPairs(flat: readonly string[]): RawHeader[] {
  return flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? ''] as const] : []))
}

export function createRecord(incoming: IncomingMessage): RequestRecord {
  const headers = toPairs(incoming.rawHeaders)
  const header = (name: string): string | undefined => {
    const found = headers.filter(([other]) => other.toLowerCase() === name.toLowerCase())
    return found.length === 0 ? undefined : found.map(([, value]) => value).join(', ')
  }
  return {
    method: incoming.method ?? '',
    target: incoming.url ?? '',
    headers,
    header,
    token: /^(?:bearer|dpop) +(\S+)$/i.exec(header('authorization') ?? '')?.[1],
    trailers: [],
    bodyBytes: 0,
    sha256: undefined,
    aborted: false,
    sent: 0,
    responded: false,
    closedEarly: false,
  }
}

/** Reads the bodies of requests into their records, unless reading is paused. */
export interface BodyReader {
  /** Resolves to whether the body arrived completely. */
  read(incoming: IncomingMessage, record: RequestRecord): Promise<boolean>
  pause(): void
  resume(): void
}

export function createBodyReader(onChange: () => void): BodyReader {
  const reading = new Set<IncomingMessage>()
  let isPaused = false
  return {
    read: (incoming, record) => {
      const hash = createHash('sha256')
      reading.add(incoming)
      return new Promise((resolve) => {
        incoming.on('data', (chunk: Buffer) => {
          hash.update(chunk)
          record.bodyBytes += chunk.length
          onChange()
        })
        incoming.once('end', () => {
          record.trailers = toPairs(incoming.rawTrailers)
          record.sha256 = hash.digest('hex')
          onChange()
          resolve(true)
        })
        incoming.once('close', () => {
          reading.delete(incoming)
          record.aborted = !incoming.complete && !isDestroyedHere(incoming.socket)
          onChange()
          resolve(false)
        })
        if (isPaused) incoming.pause()
      })
    },
    pause: () => {
      isPaused = true
      for (const incoming of reading) incoming.pause()
    },
    resume: () => {
      isPaused = false
      for (const incoming of reading) incoming.resume()
    },
  }
}
