/* Created at the first use, since Jest's jsdom, where `idp-client/errors` has to load, has neither class. */
let encoder: TextEncoder | undefined
let decoder: TextDecoder | undefined
let fatalDecoder: TextDecoder | undefined

export type Bytes = Uint8Array<ArrayBuffer>

function getEncoder(): TextEncoder {
  encoder ??= new TextEncoder()
  return encoder
}

export function utf8(text: string): Bytes {
  return getEncoder().encode(text)
}

export function text(bytes: Uint8Array): string {
  decoder ??= new TextDecoder()
  return decoder.decode(bytes)
}

/** Throws on bytes that are not UTF-8, for input that must not be mangled silently. */
export function strictText(bytes: Uint8Array): string {
  fatalDecoder ??= new TextDecoder('utf-8', { fatal: true })
  return fatalDecoder.decode(bytes)
}

export function utf8Length(value: string): number {
  return getEncoder().encode(value).length
}

/**
 * Concatenates bytes and texts, and returns the length of each part, too. It allocates once: V8 needs about a microsecond for
 * every array of more than 64 bytes.
 */
export function concatenate(parts: readonly (string | Uint8Array)[]): {
  readonly bytes: Bytes
  readonly lengths: readonly number[]
} {
  let capacity = 0
  // A UTF-16 code unit takes up to three bytes.
  for (const part of parts) capacity += typeof part === 'string' ? 3 * part.length : part.length
  const memory = new Uint8Array(capacity)
  let end = 0
  const lengths = parts.map((part) => {
    const target = memory.subarray(end)
    if (typeof part !== 'string') target.set(part)
    const length = typeof part === 'string' ? getEncoder().encodeInto(part, target).written : part.length
    end += length
    return length
  })
  return { bytes: memory.subarray(0, end), lengths }
}
