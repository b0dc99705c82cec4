const encoder = new TextEncoder()
const decoder = new TextDecoder()
const fatalDecoder = new TextDecoder('utf-8', { fatal: true })

export type Bytes = Uint8Array<ArrayBuffer>

export function utf8(text: string): Bytes {
  return encoder.encode(text)
}

export function text(bytes: Uint8Array): string {
  return decoder.decode(bytes)
}

/** Throws on bytes that are not UTF-8, for input that must not be mangled silently. */
export function strictText(bytes: Uint8Array): string {
  return fatalDecoder.decode(bytes)
}

export function utf8Length(value: string): number {
  return encoder.encode(value).length
}
