/** Bytes of the body of a `Request` that are kept for a repetition. */
const LIMIT = 1_048_576

/** Whatever copy of a class of the platform a value is of. */
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

/** A body that can be sent once more: `init` with it; or null when the body is gone. */
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
    // The request itself fails with it as well, and tells the caller.
    return null
  }
  // Not awaited: a branch of a stream is not cancelled before the other one is.
  reader.cancel().catch(() => {})
  return null
}

/**
 * Prepares the repetition of a request, before it is sent for the first time. What `init` carries is used again as it
 * is, unless it is a stream. The body of a `Request` cannot be told from a stream: its first MiB is copied while it is
 * sent, and a longer one is gone.
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
