import { fromBase64url, toBase64url } from '../crypto/base64url.ts'
import type { Bytes } from '../lib/base64url.ts'
import { strictText, text, utf8 } from '../lib/base64url.ts'
import type { SessionData } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'
import { isSessionData } from './stored-session.ts'

/*
 * Layout of version 1, before encryption: one version byte, the length of the head (32 bit, big-endian), the head as
 * JSON, then the bytes of the tokens. Tokens stand outside the JSON because they are base64url text already: packed
 * to the bytes they encode they cost a quarter less, and what needs no token never decodes one.
 */
const VERSION = 1
const PREFIX_BYTES = 5

const TEXT = 0
const JWT = 1
const BASE64URL = 2
/** How a token lies in the tail: its kind, then the byte length of each of its parts. */
type Layout = readonly [kind: number, ...lengths: number[]]

interface Head {
  readonly h: string
  readonly u: number
  readonly c?: string
  readonly s: unknown
  readonly t: readonly Layout[]
}

/** Only text that re-encodes to itself may be packed, or the token would come back altered. */
function unpackable(part: string): Bytes | null {
  const bytes = fromBase64url(part)
  return bytes !== null && toBase64url(bytes) === part ? bytes : null
}

function pack(token: string): { layout: Layout; parts: Bytes[] } {
  const pieces = token.split('.')
  if (pieces.length === 3 || pieces.length === 1) {
    const parts = pieces.map(unpackable)
    if (parts.every((part): part is Bytes => part !== null)) {
      return { layout: [pieces.length === 3 ? JWT : BASE64URL, ...parts.map((part) => part.length)], parts }
    }
  }
  const bytes = utf8(token)
  return { layout: [TEXT, bytes.length], parts: [bytes] }
}

type TokenHolder = Record<string, unknown>

/** A copy of the session in which `replace` has been applied to every token. */
function mapTokens(data: TokenHolder, replace: (token: unknown) => unknown): TokenHolder {
  const one = (holder: unknown, keys: readonly string[]): unknown => {
    if (typeof holder !== 'object' || holder === null) return holder
    const copy: TokenHolder = { ...holder }
    for (const key of keys) if (copy[key] !== undefined) copy[key] = replace(copy[key])
    return copy
  }
  const list = (value: unknown): unknown =>
    Array.isArray(value) ? value.map((entry) => one(entry, ['accessToken'])) : value
  const result: TokenHolder = {
    ...data,
    tokenSet: one(data['tokenSet'], ['accessToken', 'idToken', 'refreshToken']),
  }
  for (const key of ['accessTokens', 'connectionTokenSets'])
    if (key in result) result[key] = list(result[key])
  return result
}

/** Bytes to be sealed. Throws a TypeError on values that JSON cannot hold, such as a BigInt claim. */
export function encodeSession(session: StoredSession): Bytes {
  const layouts: Layout[] = []
  const tail: Bytes[] = []
  const s = mapTokens(session.data, (token) => {
    if (typeof token !== 'string') return token
    const { layout, parts } = pack(token)
    tail.push(...parts)
    return layouts.push(layout) - 1
  })
  const head: Head = {
    h: session.handle,
    u: session.usedAt,
    ...(session.client === undefined ? {} : { c: session.client }),
    s,
    t: layouts,
  }
  const headBytes = utf8(JSON.stringify(head))
  const size = tail.reduce((sum, part) => sum + part.length, PREFIX_BYTES + headBytes.length)
  const bytes = new Uint8Array(size)
  bytes[0] = VERSION
  new DataView(bytes.buffer).setUint32(1, headBytes.length)
  bytes.set(headBytes, PREFIX_BYTES)
  let offset = PREFIX_BYTES + headBytes.length
  for (const part of tail) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

function unpackTokens(layouts: readonly Layout[], tail: Uint8Array): string[] {
  let offset = 0
  const take = (length: number): Uint8Array => {
    const part = tail.subarray(offset, offset + length)
    if (part.length !== length) throw new RangeError('token out of bounds')
    offset += length
    return part
  }
  return layouts.map(([kind, ...lengths]) => {
    const parts = lengths.map(take)
    return kind === TEXT
      ? text(parts[0] ?? new Uint8Array())
      : parts.map((part) => toBase64url(part)).join('.')
  })
}

/** The session in opened bytes; null when they are of another version or hold no session. Never throws. */
export function decodeSession(bytes: Bytes): StoredSession | null {
  try {
    if (bytes[0] !== VERSION || bytes.length < PREFIX_BYTES) return null
    const headEnd = PREFIX_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
    const head: Head = JSON.parse(strictText(bytes.subarray(PREFIX_BYTES, headEnd)))
    const tokens = unpackTokens(head.t, bytes.subarray(headEnd))
    const data: unknown = mapTokens(head.s as SessionData, (at) => (typeof at === 'number' ? tokens[at] : at))
    if (!isSessionData(data) || typeof head.h !== 'string' || !Number.isFinite(head.u)) return null
    return { data, handle: head.h, usedAt: head.u, ...(head.c === undefined ? {} : { client: head.c }) }
  } catch {
    return null
  }
}
