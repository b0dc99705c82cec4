import { fromBase64url, toBase64url } from '../crypto/base64url.ts'
import type { Bytes } from '../lib/base64url.ts'
import { strictText, text, utf8 } from '../lib/base64url.ts'
import { filterDefaultIdTokenClaims } from './claims.ts'
import type { SessionData, User } from './session-data.ts'
import type { StoredSession } from './stored-session.ts'
import { isSessionData } from './stored-session.ts'

/*
 * Layout of version 1, before encryption: one version byte, the length of the head (32 bit, big-endian), the head as
 * JSON, then the bytes of the tokens. Tokens stand outside the JSON because they are base64url text already: packed
 * to the bytes they encode they cost a quarter less. A user whose claims are those of the ID token is not written a
 * second time: the head then holds only what differs.
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
  /** Present when `s.user` lacks the claims that the ID token tells. */
  readonly p?: 1
  readonly s: TokenHolder
  readonly t: readonly Layout[]
}

function pack(token: string): { layout: Layout; parts: Bytes[] } {
  const pieces = token.split('.')
  if (pieces.length === 3 || pieces.length === 1) {
    // Decoding is strict: what would not come back letter for letter is no base64url, and stays text.
    const parts = pieces.map(fromBase64url)
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

/** The user's claims in the bytes of an ID token's payload; empty when there is nothing of the kind. */
function claimsIn(payload: Uint8Array): Record<string, unknown> {
  const claims: unknown = JSON.parse(strictText(payload))
  return typeof claims === 'object' && claims !== null ? filterDefaultIdTokenClaims(claims as User) : {}
}

/** What of `user` the ID token does not tell; null when the user is not all that the ID token tells. */
function beyondIdToken({ user, tokenSet }: SessionData): Record<string, unknown> | null {
  const payload = fromBase64url(tokenSet.idToken?.split('.')[1] ?? '')
  if (!payload || payload.length === 0) return null
  try {
    const rest: Record<string, unknown> = { ...user }
    for (const [name, claim] of Object.entries(claimsIn(payload))) {
      if (!Object.hasOwn(rest, name) || JSON.stringify(rest[name]) !== JSON.stringify(claim)) return null
      delete rest[name]
    }
    return rest
  } catch {
    return null
  }
}

function concatenate(head: Bytes, tail: readonly Bytes[]): Bytes {
  const size = tail.reduce((sum, part) => sum + part.length, PREFIX_BYTES + head.length)
  const bytes = new Uint8Array(size)
  bytes[0] = VERSION
  new DataView(bytes.buffer).setUint32(1, head.length)
  let offset = PREFIX_BYTES
  for (const part of [head, ...tail]) {
    bytes.set(part, offset)
    offset += part.length
  }
  return bytes
}

/** Bytes to be sealed. Throws a TypeError on values that JSON cannot hold, such as a BigInt claim. */
export function encodeSession(session: StoredSession): Bytes {
  const layouts: Layout[] = []
  const tail: Bytes[] = []
  const user = beyondIdToken(session.data)
  const s = mapTokens(user ? { ...session.data, user } : session.data, (token) => {
    if (typeof token !== 'string') return token
    const { layout, parts } = pack(token)
    tail.push(...parts)
    return layouts.push(layout) - 1
  })
  const head: Head = {
    h: session.handle,
    u: session.usedAt,
    ...(session.client === undefined ? {} : { c: session.client }),
    ...(user ? { p: 1 } : {}),
    s,
    t: layouts,
  }
  return concatenate(utf8(JSON.stringify(head)), tail)
}

interface Token {
  readonly text: string
  /** The payload's bytes, of a JWT. */
  readonly payload?: Uint8Array
}

function unpackTokens(layouts: readonly Layout[], tail: Uint8Array): Token[] {
  let offset = 0
  const take = (length: number): Uint8Array => {
    const part = tail.subarray(offset, offset + length)
    if (part.length !== length) throw new RangeError('token out of bounds')
    offset += length
    return part
  }
  return layouts.map(([kind, ...lengths]) => {
    const parts = lengths.map(take)
    if (kind === TEXT) return { text: text(parts[0] ?? new Uint8Array()) }
    const payload = parts[1]
    return { text: parts.map((part) => toBase64url(part)).join('.'), ...(payload ? { payload } : {}) }
  })
}

function sessionIn(head: Head, tokens: readonly Token[]): TokenHolder {
  const s = mapTokens(head.s, (at) => (typeof at === 'number' ? tokens[at]?.text : at))
  if (head.p !== 1) return s
  const at = (head.s['tokenSet'] as TokenHolder)['idToken']
  const payload = typeof at === 'number' ? tokens[at]?.payload : undefined
  if (!payload) throw new RangeError('no ID token to take the user from')
  return { ...s, user: { ...claimsIn(payload), ...(s['user'] as object) } }
}

/** The session in opened bytes; null when they are of another version or hold no session. Never throws. */
export function decodeSession(bytes: Bytes): StoredSession | null {
  try {
    if (bytes[0] !== VERSION || bytes.length < PREFIX_BYTES) return null
    const headEnd = PREFIX_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
    const head: Head = JSON.parse(strictText(bytes.subarray(PREFIX_BYTES, headEnd)))
    const data: unknown = sessionIn(head, unpackTokens(head.t, bytes.subarray(headEnd)))
    if (!isSessionData(data) || typeof head.h !== 'string' || !Number.isFinite(head.u)) return null
    return { data, handle: head.h, usedAt: head.u, ...(head.c === undefined ? {} : { client: head.c }) }
  } catch {
    return null
  }
}
