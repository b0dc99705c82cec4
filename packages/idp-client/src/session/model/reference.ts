import type { Bytes } from '../../lib/utf8.ts'
import { strictText, utf8 } from '../../lib/utf8.ts'

/** The cookie of a session that is in a store. */
export interface SessionReference {
  /** The session key, which is secret. */
  readonly sessionKey: string
  /** Tag of provider and client. */
  readonly clientTag: string
  /** When the cookie was written, in seconds since the epoch. Cookies expire, so it is written again in time. */
  readonly writtenAt: number
}

const VERSION = '1'
const PARTS = /^1\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]{22,})\.([0-9a-z]{1,11})$/

/** Encodes a reference for encryption: version, client tag, session key and time, separated by dots. */
export function encodeReference({ clientTag, sessionKey, writtenAt }: SessionReference): Bytes {
  return utf8([VERSION, clientTag, sessionKey, writtenAt.toString(36)].join('.'))
}

/** Returns whether the bytes are of another version, which decodes to null: other processes may still read or write it. */
export const isOtherReference = ([first]: Bytes): boolean => first !== VERSION.codePointAt(0)

/** Decodes a reference. Returns null for another version or invalid bytes; never throws. */
export function decodeReference(bytes: Bytes): SessionReference | null {
  try {
    const [, clientTag, sessionKey, time] = PARTS.exec(strictText(bytes)) ?? []
    if (clientTag === undefined || sessionKey === undefined || time === undefined) return null
    return { clientTag, sessionKey, writtenAt: Number.parseInt(time, 36) }
  } catch {
    return null
  }
}
