import { fromBase64url, toBase64url } from '../../crypto/base64url.ts'
import type { Bytes } from '../../lib/utf8.ts'
import { strictText, text, utf8 } from '../../lib/utf8.ts'
import { filterDefaultIdTokenClaims } from '../model/claims.ts'
import type { User } from '../model/session-data.ts'

/* Tokens in a session cookie: decoded from base64url they are a quarter smaller. */

/** Not base64url: UTF-8. */
const TEXT = 0
/** Three parts in base64url. */
export const DOTTED = 1
/** One part in base64url. */
const BASE64URL = 2
/** Three parts in base64url: two JSON objects, which are claims, and a signature. */
export const JWT = 3
/** Like `JWT`, with a payload that is stored as the claims of the user. */
export const USER_JWT = 4

/** Kind of a token, then the byte length of each of its stored parts. */
export type Layout = readonly [kind: number, ...lengths: number[]]

export interface Token {
  readonly kind: number
  readonly parts: readonly Uint8Array[]
}

export type TokenHolder = Record<string, unknown>

const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

function isJsonObject(part: Uint8Array | undefined): boolean {
  return part?.[0] === OPENING_BRACE && part.at(-1) === CLOSING_BRACE
}

export function packToken(token: string): Token {
  const pieces = token.split('.')
  if (pieces.length === 3 || pieces.length === 1) {
    // Only canonical base64url, so that decoding and encoding returns the same token.
    const parts = pieces.map(fromBase64url)
    if (parts.every((part): part is Bytes => part !== null)) {
      if (parts.length === 1) return { kind: BASE64URL, parts }
      return { kind: isJsonObject(parts[0]) && isJsonObject(parts[1]) ? JWT : DOTTED, parts }
    }
  }
  return { kind: TEXT, parts: [utf8(token)] }
}

export function unpackToken({ kind, parts }: Token): string {
  return kind === TEXT ? text(parts[0] ?? new Uint8Array()) : parts.map((part) => toBase64url(part)).join('.')
}

const TOKEN_NAMES = ['accessToken', 'idToken', 'refreshToken'] as const

const DETAILS = 'authorizationDetails'

/**
 * Returns a copy of a token set, or of each in a list, in which `replace` was applied to every token, and `replaceDetails` to
 * its `authorizationDetails`.
 */
export function mapTokens(
  property: unknown,
  replace: (token: unknown) => unknown,
  replaceDetails: (details: unknown) => unknown,
): unknown {
  if (Array.isArray(property)) return property.map((entry) => mapTokens(entry, replace, replaceDetails))
  if (typeof property !== 'object' || property === null) return property
  const copy: TokenHolder = { ...property }
  for (const name of TOKEN_NAMES) if (copy[name] !== undefined) copy[name] = replace(copy[name])
  if (copy[DETAILS] !== undefined) copy[DETAILS] = replaceDetails(copy[DETAILS])
  return copy
}

/** Reads bytes from the start to the end. */
export class ByteReader {
  readonly #bytes: Uint8Array
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  /** Returns the next bytes; throws a RangeError if there are fewer. */
  take(length: number): Uint8Array {
    const part = this.#bytes.subarray(this.#offset, this.#offset + length)
    if (part.length !== length) throw new RangeError('out of bounds')
    this.#offset += length
    return part
  }

  /** Throws a RangeError if bytes are left. */
  assertEnd(): void {
    if (this.#offset !== this.#bytes.length) throw new RangeError('too many bytes')
  }
}

/** Returns the user's claims in the payload of an ID token; empty if the payload is not an object. */
export function userClaimsIn(payload: Uint8Array): Record<string, unknown> {
  const claims: unknown = JSON.parse(strictText(payload))
  return typeof claims === 'object' && claims !== null ? filterDefaultIdTokenClaims(claims as User) : {}
}
