/** Maximum number of bytes to copy from the body of a `Request`. */
const LIMIT = 1_048_576

/** Types of bodies that can be sent again, by tag, so that any realm matches. */
const repeatable: ReadonlySet<string> = new Set([
  '[object ArrayBuffer]',
  '[object Blob]',
  '[object File]',
  '[object FormData]',
  '[object String]',
  '[object URLSearchParams]',
])

function isRepeatable(body: unknown): boolean {
  return ArrayBuffer.isView(body) || repeatable.has(Object.prototype.toString.call(body))
}

/** Returns `init` with a body that can be sent again, or `null` if the body cannot. */
export type Repetition = () => Promise<RequestInit | null>

async function collect(stream: ReadableStream<Uint8Array>): Promise<Blob | null> {
  const reader = stream.getReader()
  const chunks: Uint8Array<ArrayBuffer>[] = []
  let size = 0
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return new Blob(chunks)
      size += value.byteLength
      if (size > LIMIT) break
      chunks.push(new Uint8Array(value))
    }
  } catch {
    // The request itself fails with the same error, which the caller gets.
    return null
  }
  // Not awaited: one branch of a stream is only cancelled together with the other.
  reader.cancel().catch(() => {})
  return null
}

/**
 * Prepares the repetition of a request, before it is first sent. The body of `init` is reused unless it is a stream.
 * The body of a `Request` is always a stream: its first MiB is copied while it is sent; a longer one cannot be
 * repeated.
 */
export function toRepetition(request: Request | null, init: RequestInit): Repetition {
  const body = init.body ?? null
  if (body !== null) {
    const again = isRepeatable(body) ? init : null
    return async () => again
  }
  const stream = request?.clone().body
  if (!stream) return async () => init
  const copy = collect(stream)
  return async () => {
    const bytes = await copy
    return bytes && { ...init, body: bytes }
  }
}
