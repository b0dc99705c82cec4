import type { RawHeader } from './bytes.ts'
import { formatChunk, formatHead, toBytes } from './bytes.ts'
import type { Exchange } from './exchange.ts'
import { formatResponse } from './framing.ts'
import type { UpstreamResponse } from './responses.ts'

const MIB = 1_048_576
const BLOCK: Uint8Array = Buffer.alloc(65_536, 'u')
const BINARY: RawHeader = ['Content-Type', 'application/octet-stream']
const CHUNKED: RawHeader = ['Transfer-Encoding', 'chunked']

const headWithLength = (bytes: number): string => formatHead(200, [BINARY, ['Content-Length', String(bytes)]])

/** Writes so many bytes of a body, block by block. Resolves to whether the client took all of them. */
async function writeBlocks(exchange: Exchange, bytes: number): Promise<boolean> {
  for (let left = bytes; left > 0; left -= BLOCK.length) {
    if (!(await exchange.write(BLOCK.subarray(0, Math.min(left, BLOCK.length))))) return false
  }
  return true
}

/** Returns the head of a body of 1 MiB, or of one in chunks, and its first bytes. */
function formatPart(after: number, isChunked: boolean): Uint8Array {
  const part = Buffer.alloc(after, 'u')
  return isChunked
    ? Buffer.concat([toBytes(formatHead(200, [BINARY, CHUNKED])), formatChunk(part)])
    : Buffer.concat([toBytes(headWithLength(MIB)), part])
}

/** Sends a response. `streams` receives the exchanges that `upstream.push` writes to. */
export async function send(
  response: UpstreamResponse,
  exchange: Exchange,
  { streams, target }: { readonly streams: Set<Exchange>; readonly target: string },
): Promise<void> {
  switch (response.kind) {
    case 'silent':
      return
    case 'events':
      streams.add(exchange)
      await exchange.write(formatHead(200, [['Content-Type', 'text/event-stream'], CHUNKED]))
      return
    case 'stall':
      await exchange.write(formatPart(response.after, false))
      return
    case 'cut':
      if (await exchange.write(formatPart(response.after, response.chunked ?? false))) exchange.destroy()
      return
    case 'big': {
      const isSent = await exchange.write(headWithLength(response.bytes))
      if (isSent && (await writeBlocks(exchange, response.bytes))) exchange.finish()
      return
    }
    case 'closeDelimited':
      if (await exchange.write(`${formatHead(200, [BINARY])}until the end`)) exchange.finish({ close: true })
      return
    default:
      if (await exchange.write(formatResponse(response, exchange.record, target))) exchange.finish()
  }
}

/** Writes an event to an event stream (WHATWG HTML, section 9.2). */
export async function sendEvent(exchange: Exchange, text: string): Promise<void> {
  const lines = text.split('\n').map((line) => `data: ${line}\n`)
  await exchange.write(formatChunk(Buffer.from(`${lines.join('')}\n`)))
}

/** Ends an event stream. */
export async function endEvents(exchange: Exchange): Promise<void> {
  if (await exchange.write(formatChunk(''))) exchange.finish()
}
