import { IdpError } from '../errors/base.ts'
import { concatenate, text } from '../lib/utf8.ts'

/* Far above every form of the protocol, and small enough to buffer. */
const MAX_BYTES = 262_144

function tooLarge(): IdpError {
  return new IdpError('INVALID_REQUEST', { detail: 'The body is too large.' })
}

/** Parses a URL-encoded form; throws `INVALID_REQUEST` for any other content type. */
export function parseForm(contentType: string | null, body: string): URLSearchParams {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/x-www-form-urlencoded') return new URLSearchParams(body)
  throw new IdpError('INVALID_REQUEST', { detail: 'The body must be application/x-www-form-urlencoded.' })
}

/** Reads a body as a string; throws `INVALID_REQUEST` as soon as it exceeds the size limit. */
export async function readText(chunks: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  for await (const chunk of chunks ?? []) {
    size += chunk.length
    if (size > MAX_BYTES) throw tooLarge()
    parts.push(chunk)
  }
  return text(concatenate(parts).bytes)
}

/** Yields the chunks of a Web stream, for runtimes whose streams are not async-iterable. */
export async function* readChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader()
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
  } finally {
    reader.releaseLock()
  }
}
