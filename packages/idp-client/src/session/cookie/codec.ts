import { fromBase64url, toBase64url } from '../../crypto/base64url.ts'
import type { Bytes } from '../../lib/utf8.ts'
import { strictText, text, utf8 } from '../../lib/utf8.ts'
import { isInIdToken, readAuthentication } from '../model/authentication.ts'
import { filterDefaultIdTokenClaims } from '../model/claims.ts'
import { onFirstRead } from '../model/on-first-read.ts'
import type { SessionData, StoredInternalData, User } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { isSessionData } from '../model/stored-session.ts'

/*
 * Layout of version 1, before encryption: one version byte, the length of the head (32 bit, big-endian), the head as
 * JSON, then the bytes of the tokens. Tokens are stored outside the JSON because they are base64url: decoded, they are a
 * quarter smaller. Claims of the user that the ID token contains are not stored a second time.
 */
const VERSION = 1
const PREFIX_BYTES = 5

const TEXT = 0
const JWT = 1
const BASE64URL = 2
/** Layout of a token after the JSON: its kind, then the byte length of each of its parts. */
type Layout = readonly [kind: number, ...lengths: number[]]

interface Head {
  /** `sessionKey` */
  readonly h: string
  /** `usedAt` */
  readonly u: number
  /** `clientTag` */
  readonly c?: string
  /** `requestedAuthentication` */
  readonly a?: string
  /** Present if `s.user` lacks the claims of the ID token. */
  readonly p?: 1
  /** `data`, in which every token is replaced by its index in `t`. */
  readonly s: TokenHolder
  /** The layouts of the tokens, in the order of their bytes. */
  readonly t: readonly Layout[]
}

function pack(token: string): { layout: Layout; parts: Bytes[] } {
  const pieces = token.split('.')
  if (pieces.length === 3 || pieces.length === 1) {
    // Only canonical base64url, so that decoding and encoding returns the same token.
    const parts = pieces.map(fromBase64url)
    if (parts.every((part): part is Bytes => part !== null)) {
      return { layout: [pieces.length === 3 ? JWT : BASE64URL, ...parts.map((part) => part.length)], parts }
    }
  }
  const bytes = utf8(token)
  return { layout: [TEXT, bytes.length], parts: [bytes] }
}

type TokenHolder = Record<string, unknown>

const TOKEN_PROPERTIES = [
  { name: 'tokenSet', keys: ['accessToken', 'idToken', 'refreshToken'] },
  { name: 'accessTokens', keys: ['accessToken'] },
] as const

/** Returns a copy of a property (one token set, or a list of them) in which `replace` was applied to every token. */
function mapTokens(
  property: unknown,
  keys: readonly string[],
  replace: (token: unknown) => unknown,
): unknown {
  if (Array.isArray(property)) return property.map((entry) => mapTokens(entry, keys, replace))
  if (typeof property !== 'object' || property === null) return property
  const copy: TokenHolder = { ...property }
  for (const key of keys) if (copy[key] !== undefined) copy[key] = replace(copy[key])
  return copy
}

/** Returns the user's claims in the payload of an ID token; empty if the payload is not an object. */
function claimsIn(payload: Uint8Array): Record<string, unknown> {
  const claims: unknown = JSON.parse(strictText(payload))
  return typeof claims === 'object' && claims !== null ? filterDefaultIdTokenClaims(claims as User) : {}
}

/** Returns the claims of `user` that the ID token lacks; null if `user` lacks claims of the ID token. */
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

/** Encodes a session for encryption. Throws a TypeError for values that JSON does not support, such as a BigInt claim. */
export function encodeSession(session: StoredSession): Bytes {
  const layouts: Layout[] = []
  const tail: Bytes[] = []
  const user = beyondIdToken(session.data)
  const s: TokenHolder = user ? { ...session.data, user } : { ...session.data }
  s['internal'] = {
    ...session.data.internal,
    ...(isInIdToken(session) ? {} : { authentication: session.authentication }),
    ...(session.ownScope === undefined ? {} : { ownScope: session.ownScope }),
    ...(session.ownAudience ? { ownAudience: true } : {}),
  }
  const put = (token: unknown): unknown => {
    if (typeof token !== 'string') return token
    const { layout, parts } = pack(token)
    tail.push(...parts)
    return layouts.push(layout) - 1
  }
  for (const { name, keys } of TOKEN_PROPERTIES) if (name in s) s[name] = mapTokens(s[name], keys, put)
  const head: Head = {
    h: session.sessionKey,
    u: session.usedAt,
    ...(session.clientTag === undefined ? {} : { c: session.clientTag }),
    ...(session.requestedAuthentication === undefined ? {} : { a: session.requestedAuthentication }),
    ...(user ? { p: 1 } : {}),
    s,
    t: layouts,
  }
  return concatenate(utf8(JSON.stringify(head)), tail)
}

interface Token {
  readonly kind: number
  readonly parts: readonly Uint8Array[]
}

function toToken({ kind, parts }: Token): string {
  return kind === TEXT ? text(parts[0] ?? new Uint8Array()) : parts.map((part) => toBase64url(part)).join('.')
}

function unpack(layouts: readonly Layout[], tail: Uint8Array): Token[] {
  let offset = 0
  const take = (length: number): Uint8Array => {
    const part = tail.subarray(offset, offset + length)
    if (part.length !== length) throw new RangeError('token out of bounds')
    offset += length
    return part
  }
  return layouts.map(([kind, ...lengths]) => ({ kind, parts: lengths.map(take) }))
}

function toPayload(s: TokenHolder, tokens: readonly Token[]): Uint8Array {
  const at = (s['tokenSet'] as TokenHolder)['idToken']
  const payload = typeof at === 'number' ? tokens[at]?.parts[1] : undefined
  if (!payload) throw new RangeError('no ID token to take the user from')
  return payload
}

/** Decodes the tokens on first access, because most requests read only the user. */
function withTokens(s: TokenHolder, tokens: readonly Token[]): TokenHolder {
  const restore = (at: unknown): unknown => {
    const token = typeof at === 'number' ? tokens[at] : undefined
    return token ? toToken(token) : at
  }
  for (const { name, keys } of TOKEN_PROPERTIES) {
    const value = s[name]
    if (value !== undefined) onFirstRead(s, name, () => mapTokens(value, keys, restore))
  }
  return s
}

/** Decodes a session. Returns null for another version or invalid bytes; never throws. */
export function decodeSession(bytes: Bytes): StoredSession | null {
  try {
    if (bytes[0] !== VERSION || bytes.length < PREFIX_BYTES) return null
    const headEnd = PREFIX_BYTES + new DataView(bytes.buffer, bytes.byteOffset).getUint32(1)
    const { a, c, h, p, s, t, u }: Head = JSON.parse(strictText(bytes.subarray(PREFIX_BYTES, headEnd)))
    const tokens = unpack(t, bytes.subarray(headEnd))
    if (p === 1) s['user'] = { ...claimsIn(toPayload(s, tokens)), ...(s['user'] as object) }
    const data: unknown = s
    if (!isSessionData(data) || typeof h !== 'string' || !Number.isFinite(u)) return null
    withTokens(s, tokens)
    const { authentication: stored, ownAudience, ownScope, ...internal }: StoredInternalData = data.internal
    const authentication = readAuthentication(stored)
    data.internal = internal
    return {
      data,
      sessionKey: h,
      usedAt: u,
      ...(c === undefined ? {} : { clientTag: c }),
      ...(a === undefined ? {} : { requestedAuthentication: a }),
      ...(typeof ownScope === 'string' ? { ownScope } : {}),
      ...(ownAudience === true ? { ownAudience } : {}),
      ...(authentication ? { authentication } : {}),
    }
  } catch {
    return null
  }
}
