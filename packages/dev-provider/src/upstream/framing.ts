import { gzipSync } from 'node:zlib'
import type { RawHeader } from './bytes.ts'
import { formatChunk, formatHead, formatMessage, toBytes } from './bytes.ts'
import { toMessage } from './messages.ts'
import type { UpstreamRequest } from './requests.ts'
import type { FramedResponse, MessageResponse, OddHeader } from './responses.ts'

type Fixed = Exclude<
  FramedResponse['kind'],
  'raw' | 'informational' | 'bodyless' | 'badStatusLine' | 'hugeHead' | 'oddHeader'
>

const MIB = 1_048_576
const BODY = '{"ok":true}'
const JSON_TYPE: RawHeader = ['Content-Type', 'application/json']
const CHUNKED: RawHeader = ['Transfer-Encoding', 'chunked']
const LENGTH: RawHeader = ['Content-Length', String(BODY.length)]
const WRONG_LENGTH: RawHeader = ['Content-Length', '3']

type Content = string | Uint8Array

function join(...parts: Content[]): Uint8Array {
  return Buffer.concat(parts.map(toBytes))
}

const withHead = (headers: readonly RawHeader[], ...body: Content[]): Uint8Array =>
  join(formatHead(200, [JSON_TYPE, ...headers]), ...body)

/** Returns the JSON response with more lines, verbatim, in its head. */
const withLines = (lines: string): Uint8Array =>
  toBytes(`HTTP/1.1 200 OK\r\n${lines}\r\n${LENGTH.join(': ')}\r\n\r\n${BODY}`)

const json: Uint8Array = withHead([LENGTH], BODY)

/** Bytes that a client could take for the response to the next request. */
const smuggled: Uint8Array = toBytes('HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled')

const lastChunk: Uint8Array = formatChunk('')

const fixed: Record<Fixed, Uint8Array> = {
  lengthAndChunked: withHead([WRONG_LENGTH, CHUNKED], formatChunk(BODY), lastChunk),
  gzipChunked: withHead([['Transfer-Encoding', 'gzip, chunked']], formatChunk(gzipSync(BODY)), lastChunk),
  twoLengths: withHead([LENGTH, WRONG_LENGTH], BODY),
  badChunk: withHead([CHUNKED], `zz\r\n${BODY}\r\n`, lastChunk),
  obsFold: withLines('X-Folded: first\r\n second'),
  trailers: withHead(
    [CHUNKED, ['Trailer', 'Set-Cookie, X-Trailer']],
    formatChunk(BODY),
    '0\r\nSet-Cookie: trailer=1\r\nX-Trailer: secret\r\n\r\n',
  ),
  switchingProtocols: toBytes(
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\nother',
  ),
  surplus: join(json, smuggled),
}

/** The headers of interim responses. */
const interim: readonly RawHeader[] = [
  ['Link', '</style.css>; rel=preload; as=style'],
  ['Set-Cookie', 'interim=1'],
]

/** The line of a header with odd bytes; `bareCr` and `bareLf` contain what some parsers take for another header. */
const oddLines: Record<OddHeader, (name: string) => string> = {
  latin1: (name) => `${name}: caf\xe9`,
  utf8: (name) => `${name}: caf\xc3\xa9 \xe2\x82\xac`,
  control: (name) => `${name}: a\x01b`,
  nul: (name) => `${name}: a\0b`,
  bareCr: (name) => `${name}: a\rX-Injected: 1`,
  bareLf: (name) => `${name}: a\nX-Injected: 1`,
  spaceBeforeColon: (name) => `${name} : a`,
  noColon: (name) => name,
  emptyName: () => ': a',
  nonToken: (name) => `{${name}}: a`,
}

/** Returns the bytes of a response that is written at once; `target` is the URL of the API. */
export function formatResponse(
  response: FramedResponse | MessageResponse,
  request: UpstreamRequest,
  target: string,
): Uint8Array {
  switch (response.kind) {
    case 'raw':
      return toBytes(response.bytes)
    case 'lengthAndChunked':
    case 'gzipChunked':
    case 'twoLengths':
    case 'badChunk':
    case 'obsFold':
    case 'trailers':
    case 'switchingProtocols':
    case 'surplus':
      return fixed[response.kind]
    case 'informational':
      return join(formatHead(response.status, interim), json)
    case 'bodyless': {
      const length: RawHeader = ['Content-Length', String(smuggled.length)]
      return join(formatHead(response.status, [JSON_TYPE, length]), smuggled)
    }
    case 'badStatusLine':
      return join(formatHead(response.line ?? 'HTTP/1.1 abc OK', [JSON_TYPE, LENGTH]), BODY)
    case 'hugeHead':
      return withLines(`X-Huge: ${'h'.repeat(response.bytes ?? MIB)}`)
    case 'oddHeader':
      return withLines(oddLines[response.of](response.name ?? 'Content-Disposition'))
    default:
      return formatMessage(toMessage(response, request, target), request.method)
  }
}
