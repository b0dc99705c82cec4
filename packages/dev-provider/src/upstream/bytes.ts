import { STATUS_CODES } from 'node:http'

/** A header as it is sent: no check, no normalization, one byte per character. */
export type RawHeader = readonly [name: string, value: string]

/** A response with a body of known length; a string is sent as UTF-8. */
export interface Message {
  readonly status: number
  readonly headers: readonly RawHeader[]
  readonly body: string | Uint8Array
}

/** Converts a string to bytes, one per character. */
export function toBytes(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? Buffer.from(content, 'latin1') : content
}

/** Formats a status line and headers, without any check. */
export function formatHead(status: number | string, headers: readonly RawHeader[]): string {
  const line = typeof status === 'string' ? status : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'Unknown'}`
  return `${[line, ...headers.map(([name, value]) => `${name}: ${value}`)].join('\r\n')}\r\n\r\n`
}

/** Formats a message; the body is left out where HTTP has none: for HEAD, 204 and 304. */
export function formatMessage({ status, headers, body }: Message, method: string): Uint8Array {
  const bytes = Buffer.from(body)
  const hasLength = status !== 204 && status !== 304
  const length: RawHeader[] = hasLength ? [['Content-Length', String(bytes.length)]] : []
  const head = toBytes(formatHead(status, [...headers, ...length]))
  return Buffer.concat(hasLength && method !== 'HEAD' ? [head, bytes] : [head])
}

/** Formats one chunk of a chunked body; an empty one is the last. */
export function formatChunk(content: string | Uint8Array): Uint8Array {
  const bytes = toBytes(content)
  return Buffer.concat([toBytes(`${bytes.length.toString(16)}\r\n`), bytes, toBytes('\r\n')])
}
