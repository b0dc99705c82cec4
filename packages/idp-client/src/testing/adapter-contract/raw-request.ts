import { claim } from './claim.ts'
import type { ContractHost } from './host.ts'

/** A response as the bytes of its connection say. */
export interface RawResponse {
  /** 0 if the server closed the connection without a response. */
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** One character for each byte. */
  readonly body: string
  /** Whether the body has ended as its head says. */
  readonly isComplete: boolean
  /** All that arrived. */
  readonly bytes: string
}

type Parsed = Pick<RawResponse, 'body' | 'isComplete'>

function parseChunks(bytes: string): Parsed {
  let body = ''
  for (let rest = bytes; ; ) {
    const [, digits = '', after] = /^([\da-f]+)\r\n([\s\S]*)$/i.exec(rest) ?? []
    const size = Number.parseInt(digits, 16)
    if (after === undefined || after.length < size + 2)
      return { body: body + (after ?? ''), isComplete: false }
    if (size === 0) return { body, isComplete: true }
    body += after.slice(0, size)
    rest = after.slice(size + 2)
  }
}

const parseLength = (bytes: string, length: number): Parsed => ({
  body: bytes.slice(0, length),
  isComplete: bytes.length >= length,
})

function parse(bytes: string, method: string): RawResponse {
  const end = bytes.indexOf('\r\n\r\n')
  const [line = '', ...lines] = bytes.slice(0, Math.max(0, end)).split('\r\n')
  const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(line)?.[1] ?? 0)
  const rest = bytes.slice(end + 4)
  if (status >= 100 && status < 200 && rest !== '') return parse(rest, method)
  const headers = lines.map((one) => {
    const colon = one.indexOf(':')
    return [one.slice(0, colon).toLowerCase(), one.slice(colon + 1).trim()] as const
  })
  const value = (name: string): string | undefined => headers.find(([other]) => other === name)?.[1]
  const length = value('content-length')
  const common = { status, headers, bytes }
  if (method === 'HEAD' || status === 204 || status === 304) return { ...common, ...parseLength(rest, 0) }
  if (/chunked/i.test(value('transfer-encoding') ?? '')) return { ...common, ...parseChunks(rest) }
  return { ...common, ...parseLength(rest, length === undefined ? rest.length : Number(length)) }
}

/** Headers by their names in lower case; of an array each value is sent on a line of its own. */
export type RawHeaders = Readonly<Record<string, string | readonly string[]>>

/** A request as its bytes are sent. Its headers are added to `Host` and `Connection: close`. */
export interface RawRequest {
  readonly method: string
  readonly target: string
  readonly headers: RawHeaders
  readonly body?: string
}

/** Sends a request exactly as it is given: `fetch` changes paths and headers. */
export async function sendRaw(
  { sendBytes }: ContractHost,
  address: URL,
  { body = '', headers, method, target }: RawRequest,
): Promise<RawResponse> {
  claim(sendBytes !== undefined, 'the host has sendBytes')
  const length = body === '' ? {} : { 'content-length': String(body.length) }
  const defaults: RawHeaders = { host: address.host, connection: 'close', ...length }
  const own = Object.entries(defaults).filter(([name]) => !Object.hasOwn(headers, name))
  const lines = [...own, ...Object.entries(headers)].flatMap(([name, value]) =>
    [value].flat().map((each) => `${name}: ${each}`),
  )
  const head = [`${method} ${target} HTTP/1.1`, ...lines].join('\r\n')
  return parse(await sendBytes(address, `${head}\r\n\r\n${body}`), method)
}
