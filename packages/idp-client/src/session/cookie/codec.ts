import { createDeflate } from '../../lib/deflate.ts'
import { addOwn, setOwn } from '../../lib/own-properties.ts'
import type { Bytes } from '../../lib/utf8.ts'
import { concatenate, strictText } from '../../lib/utf8.ts'
import { isInIdToken, readAuthentication } from '../model/authentication.ts'
import { onFirstRead } from '../model/on-first-read.ts'
import type { SessionData, User } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { isSessionData } from '../model/stored-session.ts'
import type { Head1 } from './codec-1.ts'
import { decodeVersion1 } from './codec-1.ts'
import { DICTIONARY } from './dictionary.ts'
import type { Layout, Token, TokenHolder } from './packed-tokens.ts'
import {
  createReader,
  createRestorer,
  JWT,
  mapTokens,
  packToken,
  USER_JWT,
  userClaimsIn,
} from './packed-tokens.ts'

/*
 * Layout of version 2, before encryption: one version byte, the length of the head (32 bit, big-endian), the head as JSON,
 * the claims, the secrets. The head contains what every request needs.
 *
 * Claims, compressed if that makes them smaller: those of the user (the payload of the ID token, then further ones as
 * JSON), `Details` as JSON, the headers and payloads of the other JWTs. They are inflated when they are first read.
 *
 * Secrets are never compressed, because the length of the cookie would then depend on what they have in common with claims
 * that an attacker may have chosen: the session key, signatures, tokens of other formats, and the properties that the
 * application added to the session.
 */
const VERSION = 2
const PREFIX_BYTES = 5

/** Fewer bytes of claims are not compressed. */
const MIN_COMPRESSED_BYTES = 128
/** More bytes of claims are not compressed, so no cookie can inflate to more. */
export const MAX_INFLATED_BYTES = 61_440

const { deflate, inflate } = createDeflate(DICTIONARY)

/* The bits of `flags`: which optional properties the details contain, and `ownAudience`. */
const WITH_SID = 1
const WITH_AUTHENTICATION = 2
const WITH_ACCESS_TOKENS = 4
const OWN_AUDIENCE = 8

type Head = readonly [
  sessionKey: string,
  usedAt: number,
  /** Null if the session is invalid, and must not be read. */
  createdAt: number | null,
  flags: number,
  lengths: Lengths,
  optional: OptionalHead,
]

type Lengths = readonly [
  /** Of the claims as they are stored. */
  stored: number,
  /** Of the claims before compression. */
  claims: number,
  /** Of the payload of the ID token; 0 if `user` lacks claims of it. */
  payload: number,
  /** Of the claims of the user that are not in this payload. */
  further: number,
  details: number,
  secrets: number,
]

/* `JSON.stringify` leaves out what is undefined, here and in `Details`. */
interface OptionalHead {
  /** `clientTag` */
  readonly c?: string | undefined
  /** `requestedAuthentication` */
  readonly a?: string | undefined
  /** `ownScope` */
  readonly s?: string | undefined
  /** Properties that the application added to the session. */
  readonly o?: TokenHolder | undefined
}

/** The part of a session that few requests need. */
interface Details {
  /** `tokenSet`, in which every token is replaced by its index in `t`. */
  readonly s: TokenHolder
  /** `accessTokens`, likewise. */
  readonly m?: readonly TokenHolder[] | undefined
  /** `internal.sid` */
  readonly i?: string | undefined
  /** `authentication` */
  readonly e?: unknown
  /** The layouts of the tokens, in the order of their bytes. */
  readonly t: readonly Layout[]
}

const NO_BYTES = new Uint8Array()

/** Returns the claims of `user` that the payload of the ID token lacks; null if `user` lacks claims of the ID token. */
function claimsBeyond(payload: Uint8Array, user: User): TokenHolder | null {
  try {
    const claims = userClaimsIn(payload)
    for (const [name, claim] of Object.entries(claims))
      if (!Object.hasOwn(user, name) || !isSameJson(user[name], claim)) return null
    const further: TokenHolder = {}
    for (const name of Object.keys(user)) if (!Object.hasOwn(claims, name)) setOwn(further, name, user[name])
    return further
  } catch {
    return null
  }
}

function isSameJson(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

/** The ID token and the claims of the user, which are the claims of the token and `further` ones if it is a `USER_JWT`. */
interface PackedUser {
  readonly idToken: Token | undefined
  readonly further: TokenHolder
}

function packUser({ tokenSet: { idToken }, user }: SessionData): PackedUser {
  const token = idToken === undefined ? undefined : packToken(idToken)
  const payload = token?.kind === JWT ? token.parts[1] : undefined
  const further = payload && claimsBeyond(payload, user)
  if (!token || !further) return { idToken: token, further: user }
  return { idToken: { ...token, kind: USER_JWT }, further }
}

/** Collects the layouts, the claims and the secrets of tokens. */
class TokenCollector {
  readonly layouts: Layout[] = []
  readonly claims: Uint8Array[] = []
  readonly secrets: Uint8Array[] = []

  /** Adds a token and returns its index. */
  add({ kind, parts }: Token): number {
    const [header = NO_BYTES, payload = NO_BYTES, signature = NO_BYTES] = parts
    if (kind === JWT) this.claims.push(header, payload)
    if (kind === USER_JWT) this.claims.push(header)
    if (kind === JWT || kind === USER_JWT) this.secrets.push(signature)
    else this.secrets.push(...parts)
    return this.layouts.push([kind, ...parts.map((part) => part.length)]) - 1
  }
}

function collectDetails(session: StoredSession, { idToken }: PackedUser, collector: TokenCollector): Details {
  const { accessTokens, internal, tokenSet } = session.data
  const add = (token: unknown): unknown =>
    typeof token === 'string' ? collector.add(packToken(token)) : token
  const { idToken: _packed, ...others } = tokenSet
  return {
    // The order of these lines is that of the tokens in the cookie.
    s: { ...(mapTokens(others, add) as TokenHolder), idToken: idToken && collector.add(idToken) },
    m: mapTokens(accessTokens, add) as TokenHolder[] | undefined,
    i: internal.sid,
    e: isInIdToken(session) ? undefined : session.authentication,
    t: collector.layouts,
  }
}

function compress(claims: Bytes): Bytes {
  if (claims.length < MIN_COMPRESSED_BYTES || claims.length > MAX_INFLATED_BYTES) return claims
  const compressed = deflate(claims)
  return compressed.length < claims.length ? compressed : claims
}

/** Encodes a session for encryption. Throws a TypeError for values that JSON does not support, such as a BigInt claim. */
export function encodeSession(session: StoredSession): Bytes {
  const { clientTag, data, ownAudience, ownScope, requestedAuthentication, sessionKey, usedAt } = session
  const { accessTokens: _tokens, internal, tokenSet: _tokenSet, user: _user, ...own } = data
  const user = packUser(data)
  const payload = (user.idToken?.kind === USER_JWT && user.idToken.parts[1]) || NO_BYTES
  const further = Object.keys(user.further).length > 0 ? JSON.stringify(user.further) : ''
  const collector = new TokenCollector()
  const details = collectDetails(session, user, collector)
  const { bytes: claims, lengths: claimLengths } = concatenate([
    payload,
    further,
    JSON.stringify(details),
    ...collector.claims,
  ])
  const stored = compress(claims)
  const flags =
    (details.i === undefined ? 0 : WITH_SID) |
    (details.e === undefined ? 0 : WITH_AUTHENTICATION) |
    (details.m ? WITH_ACCESS_TOKENS : 0) |
    (ownAudience ? OWN_AUDIENCE : 0)
  const optional: OptionalHead = {
    c: clientTag,
    a: requestedAuthentication,
    s: ownScope,
    o: Object.keys(own).length > 0 ? own : undefined,
  }
  const secretsLength = collector.secrets.reduce((sum, { length }) => sum + length, 0)
  const lengths = [stored.length, claims.length, ...claimLengths.slice(0, 3), secretsLength]
  const createdAt = isSessionData(data) ? internal.createdAt : null
  const head: Head = [sessionKey, usedAt, createdAt, flags, lengths as unknown as Lengths, optional]
  const { bytes, lengths: partLengths } = concatenate([
    new Uint8Array(PREFIX_BYTES),
    JSON.stringify(head),
    stored,
    ...collector.secrets,
  ])
  bytes[0] = VERSION
  new DataView(bytes.buffer).setUint32(1, partLengths[1] ?? 0)
  return bytes
}

/** The parts of a session that are decoded when they are first read. */
interface LazyParts {
  user(): TokenHolder
  details(): Details
  /** Returns the tokens that the details refer to, as bytes. */
  tokens(): readonly Token[]
}

function createLazyParts(lengths: Lengths, stored: Uint8Array, secrets: Uint8Array): LazyParts {
  const [storedLength, length, payloadLength, furtherLength, detailsLength] = lengths
  const userEnd = payloadLength + furtherLength
  const detailsEnd = userEnd + detailsLength
  const readUpTo = storedLength === length ? () => stored : inflate(stored, length)
  let details: Details | undefined

  return {
    user() {
      const claims = readUpTo(userEnd)
      const inIdToken = payloadLength > 0 ? userClaimsIn(claims.subarray(0, payloadLength)) : {}
      if (furtherLength === 0) return inIdToken
      const further: TokenHolder = JSON.parse(strictText(claims.subarray(payloadLength, userEnd)))
      return addOwn(inIdToken, further)
    },

    details() {
      details ??= JSON.parse(strictText(readUpTo(detailsEnd).subarray(userEnd, detailsEnd))) as Details
      return details
    },

    tokens() {
      const claims = readUpTo(length)
      const takeClaims = createReader(claims.subarray(detailsEnd))
      const takeSecret = createReader(secrets)
      const takePart = (kind: number, part: number, length: number): Uint8Array => {
        if (kind === USER_JWT && part === 1) return claims.subarray(0, payloadLength)
        return (kind === JWT || kind === USER_JWT) && part < 2 ? takeClaims(length) : takeSecret(length)
      }
      return this.details().t.map(([kind, ...lengths]) => ({
        kind,
        parts: lengths.map((each, part) => takePart(kind, part, each)),
      }))
    },
  }
}

/** Defines the properties of a session that are decoded when they are first read. */
function toSessionData([, , createdAt, flags, , { o }]: Head, parts: LazyParts): SessionData {
  const data: TokenHolder = { ...o }
  onFirstRead(data, 'user', () => parts.user())
  onFirstRead(data, 'tokenSet', () => mapTokens(parts.details().s, createRestorer(parts.tokens())))
  if (flags & WITH_ACCESS_TOKENS)
    onFirstRead(data, 'accessTokens', () => mapTokens(parts.details().m, createRestorer(parts.tokens())))
  onFirstRead(data, 'internal', () => {
    const internal: TokenHolder = { createdAt }
    if (flags & WITH_SID) onFirstRead(internal, 'sid', () => parts.details().i)
    return internal
  })
  return data as SessionData
}

/** Returns whether the lengths are those of these bytes. Claims are checked when they are read. */
function areLengthsValid(lengths: Lengths, tail: Bytes): boolean {
  const [stored, claims, payload, further, details, secrets] = lengths
  return (
    lengths.every((length) => Number.isSafeInteger(length) && length >= 0) &&
    stored + secrets === tail.length &&
    payload + further + details <= claims &&
    (stored === claims || claims <= MAX_INFLATED_BYTES)
  )
}

/** Decodes a session of version 2. Returns null for an invalid one, and may throw. */
function decodeVersion2(head: Head, tail: Bytes): StoredSession | null {
  const [sessionKey, usedAt, createdAt, flags, lengths, { a, c, s }] = head
  if (typeof sessionKey !== 'string' || !Number.isFinite(usedAt) || !Number.isFinite(createdAt)) return null
  if (!areLengthsValid(lengths, tail)) return null
  const [stored] = lengths
  const parts = createLazyParts(lengths, tail.subarray(0, stored), tail.subarray(stored))
  const session: StoredSession = {
    data: toSessionData(head, parts),
    sessionKey,
    usedAt,
    ...(c === undefined ? {} : { clientTag: c }),
    ...(a === undefined ? {} : { requestedAuthentication: a }),
    ...(s === undefined ? {} : { ownScope: s }),
    ...(flags & OWN_AUDIENCE ? { ownAudience: true } : {}),
  }
  if (flags & WITH_AUTHENTICATION)
    onFirstRead(session as unknown as TokenHolder, 'authentication', () =>
      readAuthentication(parts.details().e),
    )
  return session
}

/**
 * Decodes a session. Returns null for another version or invalid bytes; never throws. Claims and tokens are decoded when they
 * are first read, which throws a RangeError or SyntaxError if other code than `encodeSession` created the authenticated bytes.
 */
export function decodeSession(bytes: Bytes): StoredSession | null {
  try {
    const headEnd = PREFIX_BYTES + new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1)
    const [version] = bytes
    if (version !== 1 && version !== VERSION) return null
    const head: unknown = JSON.parse(strictText(bytes.subarray(PREFIX_BYTES, headEnd)))
    const tail = bytes.subarray(headEnd)
    return version === 1 ? decodeVersion1(head as Head1, tail) : decodeVersion2(head as Head, tail)
  } catch {
    return null
  }
}
