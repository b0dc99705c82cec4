import { createDeflate } from '../../lib/deflate.ts'
import { addOwn, isSameJson, setOwn } from '../../lib/objects.ts'
import type { Bytes } from '../../lib/utf8.ts'
import { concatenate, strictText } from '../../lib/utf8.ts'
import { isInIdToken, readAuthentication } from '../model/authentication.ts'
import type { SessionData, User } from '../model/session-data.ts'
import type { StoredSession } from '../model/stored-session.ts'
import { isSessionData } from '../model/stored-session.ts'
import { DICTIONARY } from './dictionary.ts'
import type { Layout, Token, TokenHolder } from './packed-tokens.ts'
import {
  ByteReader,
  DOTTED,
  JWT,
  mapTokens,
  packToken,
  USER_JWT,
  unpackToken,
  userClaimsIn,
} from './packed-tokens.ts'

/*
 * Layout, before encryption: one version byte, the length of the head (32 bit, big-endian), the head as JSON, the claims,
 * the secrets. The head contains what every request needs.
 *
 * Claims, compressed if that makes them smaller: those of the user (the payload of the ID token, then further ones as
 * JSON), `Details` as JSON, the headers and payloads of the other JWTs.
 *
 * Secrets are never compressed, because the length of the cookie would then depend on what they have in common with claims
 * that an attacker may have chosen: the session key, signatures, tokens of other formats, the granted `authorizationDetails`,
 * which may repeat text of a link, and the properties that the application added to the session. If a login link chose a part of the
 * scope or the audience (`FROM_LINK`), `Details` and all tokens but the ID token contain text of an attacker, whose guesses the
 * length would confirm: then they are secrets, `Details` the first one.
 */
const VERSION = 2
const PREFIX_BYTES = 5

/** Fewer bytes of claims are not compressed. */
const MIN_COMPRESSED_BYTES = 128
/** More bytes of claims are not compressed, so no cookie can inflate to more. */
export const MAX_INFLATED_BYTES = 61_440

const { deflate, inflate } = createDeflate(DICTIONARY)

/* The bit of `flags` for `fromLink`. Others had a meaning before. */
const FROM_LINK = 16

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
  /** `internal.sessionExpiresAt` */
  readonly x?: number | undefined
  /** Properties that the application added to the session. */
  readonly o?: TokenHolder | undefined
}

/** The part of a session that few requests need. */
interface Details {
  /** `tokenSet`, in which every token, and `authorizationDetails` as JSON, is replaced by its index in `t`. */
  readonly s: TokenHolder
  /** `accessTokens`, likewise. */
  readonly m?: readonly TokenHolder[] | undefined
  /** `internal.sid` */
  readonly i?: string | undefined
  /** `authentication` */
  readonly e?: unknown
  /** `userInfoClaims` */
  readonly u?: readonly string[] | undefined
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
  const add = (token: unknown): unknown => {
    if (typeof token !== 'string') return token
    const packed = packToken(token)
    return collector.add(session.fromLink && packed.kind === JWT ? { ...packed, kind: DOTTED } : packed)
  }
  const addJson = (details: unknown): number => collector.add(packToken(JSON.stringify(details)))
  const { idToken: _packed, ...others } = tokenSet
  return {
    // The order of these lines is that of the tokens in the cookie.
    s: { ...(mapTokens(others, add, addJson) as TokenHolder), idToken: idToken && collector.add(idToken) },
    m: mapTokens(accessTokens, add, addJson) as TokenHolder[] | undefined,
    i: internal.sid,
    e: isInIdToken(session) ? undefined : session.authentication,
    u: session.userInfoClaims,
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
  const { clientTag, data, fromLink, ownScope, requestedAuthentication, sessionKey, usedAt } = session
  const { accessTokens: _tokens, internal, tokenSet: _tokenSet, user: _user, ...own } = data
  const user = packUser(data)
  const payload = (user.idToken?.kind === USER_JWT && user.idToken.parts[1]) || NO_BYTES
  const further = Object.keys(user.further).length > 0 ? JSON.stringify(user.further) : ''
  const collector = new TokenCollector()
  const details = collectDetails(session, user, collector)
  const text = JSON.stringify(details)
  const { bytes: claims, lengths: claimLengths } = concatenate([
    payload,
    further,
    fromLink ? '' : text,
    ...collector.claims,
  ])
  const { bytes: secrets, lengths: secretLengths } = concatenate([fromLink ? text : '', ...collector.secrets])
  const stored = compress(claims)
  const optional: OptionalHead = {
    c: clientTag,
    a: requestedAuthentication,
    s: ownScope,
    x: internal.sessionExpiresAt,
    o: Object.keys(own).length > 0 ? own : undefined,
  }
  const [payloadLength = 0, furtherLength = 0, detailsLength = 0] = claimLengths
  const lengths: Lengths = [
    stored.length,
    claims.length,
    payloadLength,
    furtherLength,
    fromLink ? (secretLengths[0] ?? 0) : detailsLength,
    secrets.length,
  ]
  const createdAt = isSessionData(data) ? internal.createdAt : null
  const head: Head = [sessionKey, usedAt, createdAt, fromLink ? FROM_LINK : 0, lengths, optional]
  const { bytes, lengths: partLengths } = concatenate([
    new Uint8Array(PREFIX_BYTES),
    JSON.stringify(head),
    stored,
    secrets,
  ])
  bytes[0] = VERSION
  new DataView(bytes.buffer).setUint32(1, partLengths[1] ?? 0)
  return bytes
}

/** Returns the claims of the user: those in the payload of the ID token, and further ones. */
function readUser(payload: Uint8Array, further: Uint8Array): TokenHolder {
  const inIdToken = payload.length > 0 ? userClaimsIn(payload) : {}
  return further.length > 0 ? addOwn(inIdToken, JSON.parse(strictText(further))) : inIdToken
}

/** Reads the tokens with these layouts; `payload` is that of the ID token. */
function readTokens(
  layouts: readonly Layout[],
  payload: Uint8Array,
  claims: ByteReader,
  secrets: ByteReader,
): string[] {
  return layouts.map(([kind, ...lengths]) => {
    const parts = lengths.map((length, part) => {
      if (kind === USER_JWT && part === 1) return payload
      return (kind === JWT || kind === USER_JWT) && part < 2 ? claims.take(length) : secrets.take(length)
    })
    return unpackToken({ kind, parts })
  })
}

/** Decodes a session. Returns null or throws if it is invalid. */
function decode(head: Head, tail: Bytes): StoredSession | null {
  const [sessionKey, usedAt, createdAt, flags, lengths, { a, c, o, s, x }] = head
  if (typeof sessionKey !== 'string' || !Number.isFinite(usedAt) || !Number.isFinite(createdAt)) return null
  for (const each of lengths) if (!Number.isSafeInteger(each) || each < 0) return null
  const [stored, length, payloadLength, furtherLength, detailsLength, secretsLength] = lengths
  if (stored + secretsLength !== tail.length || (stored !== length && length > MAX_INFLATED_BYTES))
    return null
  const block = tail.subarray(0, stored)
  const claims = new ByteReader(stored === length ? block : inflate(block, length))
  const secrets = new ByteReader(tail.subarray(stored))
  const payload = claims.take(payloadLength)
  const user = readUser(payload, claims.take(furtherLength))
  const details: Details = JSON.parse(strictText((flags & FROM_LINK ? secrets : claims).take(detailsLength)))
  const tokens = readTokens(details.t, payload, claims, secrets)
  claims.assertEnd()
  secrets.assertEnd()
  const restore = (index: unknown): unknown =>
    (typeof index === 'number' ? tokens[index] : undefined) ?? index
  const restoreJson = (index: unknown): unknown => JSON.parse(String(restore(index)))
  const authentication = details.e === undefined ? undefined : readAuthentication(details.e)
  const data: TokenHolder = { ...o, user, tokenSet: mapTokens(details.s, restore, restoreJson) }
  if (details.m) data['accessTokens'] = mapTokens(details.m, restore, restoreJson)
  data['internal'] = {
    createdAt,
    ...(details.i === undefined ? {} : { sid: details.i }),
    ...(x === undefined ? {} : { sessionExpiresAt: x }),
  }
  return {
    data: data as SessionData,
    sessionKey,
    usedAt,
    ...(c === undefined ? {} : { clientTag: c }),
    ...(a === undefined ? {} : { requestedAuthentication: a }),
    ...(s === undefined ? {} : { ownScope: s }),
    ...(flags & FROM_LINK ? { fromLink: true } : {}),
    ...(authentication ? { authentication } : {}),
    ...(details.u === undefined ? {} : { userInfoClaims: details.u }),
  }
}

/** Returns whether the bytes are of another version, which decodes to null: other processes may still read or write it. */
export const isOtherVersion = ([version]: Bytes): boolean => version !== VERSION

/** Notice for a value that opens, is of this version, and cannot be decoded. */
export const UNDECODABLE: string =
  'A session cookie that was encrypted with the secret of this application could not be decoded, and is ignored. ' +
  'Check that nothing else writes cookies with this secret, and report it otherwise.'

/** Decodes a session. Returns null for another version or invalid bytes, such as claims that do not inflate; never throws. */
export function decodeSession(bytes: Bytes): StoredSession | null {
  try {
    if (isOtherVersion(bytes)) return null
    const headEnd = PREFIX_BYTES + new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength).getUint32(1)
    const head: unknown = JSON.parse(strictText(bytes.subarray(PREFIX_BYTES, headEnd)))
    return decode(head as Head, bytes.subarray(headEnd))
  } catch {
    return null
  }
}
