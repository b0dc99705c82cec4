import { IdpError } from '../errors/base.ts'
import { isObject } from '../lib/objects.ts'
import { concatenate, text } from '../lib/utf8.ts'

/* Far above every form of the protocol, and small enough to buffer. */
const MAX_BYTES = 262_144

/** The JSON object of a request. Read its properties by name only: the client decides which ones it has. */
export type JsonBody = { readonly [property: string]: unknown }

function refused(detail: string): IdpError<'INVALID_REQUEST'> {
  return new IdpError('INVALID_REQUEST', { detail })
}

function assertType(contentType: string | null, expected: string): void {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== expected) throw refused(`The body must be ${expected}.`)
}

/** Parses a URL-encoded form; throws `INVALID_REQUEST` for any other content type. */
export function parseForm(contentType: string | null, body: string): URLSearchParams {
  assertType(contentType, 'application/x-www-form-urlencoded')
  return new URLSearchParams(body)
}

/** Validates a parsed body; throws `INVALID_REQUEST` for a content type other than JSON, or if it is not an object. */
export function jsonBody(contentType: string | null, value: unknown): JsonBody {
  assertType(contentType, 'application/json')
  if (isObject(value)) return value
  throw refused('The body must be a JSON object.')
}

function tryParse(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    // The parser's own error quotes the input.
    return undefined
  }
}

export function parseJson(contentType: string | null, body: string): JsonBody {
  return jsonBody(contentType, tryParse(body))
}

/** Reads a body as a string; throws `INVALID_REQUEST` as soon as it exceeds the size limit, and if it breaks off. */
export async function readText(chunks: AsyncIterable<Uint8Array> | null): Promise<string> {
  const parts: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of chunks ?? []) {
      size += chunk.length
      if (size > MAX_BYTES) break
      parts.push(chunk)
    }
  } catch {
    throw refused('The body broke off.')
  }
  if (size > MAX_BYTES) throw refused('The body is too large.')
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
