import { isObject } from './objects.ts'
import { strictText } from './utf8.ts'

/** Decodes a JSON object in UTF-8; returns `null` for anything else. */
export function decodeJsonObject(bytes: Uint8Array | null): Readonly<Record<string, unknown>> | null {
  if (!bytes) return null
  try {
    const value: unknown = JSON.parse(strictText(bytes))
    return isObject(value) ? value : null
  } catch {
    // The parser's own error quotes the input.
    return null
  }
}
