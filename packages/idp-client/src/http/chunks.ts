import { IdpError } from '../errors/base.ts'
import type { CookieAttributes, CookieJar } from './cookie-jar.ts'
import { serializeCookie } from './cookie-text.ts'

/** Browser limit for one cookie in bytes: serialized name, value and attributes. */
export const MAX_COOKIE_BYTES = 4096

/** Maximum number of chunks to write or read. */
export const MAX_CHUNKS = 32

/** Maximum number of values to read for one name. */
export const MAX_CANDIDATES = 16

/* `; Expires=Thu, 01 Jan 1970 00:00:00 GMT`, which some host writers add to Max-Age. */
const EXPIRES_BYTES = 39
const GENERATION_CHARACTERS = 8
/* Count in a chunk's prefix: a number without leading zero, between dots. */
const COUNT = /^\.([1-9]\d?)\./

export interface NamedValue {
  readonly name: string
  readonly value: string
}

const chunkName = (name: string, index: number | string): string => `${name}__${index}`

function measureCookie(name: string, value: string, attributes: CookieAttributes): number {
  const reserve = attributes.maxAge === undefined ? 0 : EXPIRES_BYTES
  // Names and values of cookies are ASCII, so characters are bytes.
  return serializeCookie({ name, value, attributes }).length + reserve
}

/**
 * Splits a value into cookies: one with the bare name if it fits, otherwise `<name>__0`, `<name>__1`, ... Every chunk
 * starts with `<generation>.<count>.`; the generation is the end of the value, which in a JWE is part of its tag, so
 * that chunks of two values are never joined.
 * @throws IdpError `INTERNAL_ERROR` if it would take more than `MAX_CHUNKS` cookies.
 */
export function splitCookie(
  name: string,
  value: string,
  attributes: CookieAttributes,
): readonly [NamedValue, ...NamedValue[]] {
  if (measureCookie(name, value, attributes) <= MAX_COOKIE_BYTES) return [{ name, value }]
  const generation = value.slice(-GENERATION_CHARACTERS)
  const longest = `${generation}.${MAX_CHUNKS}.`
  const room = MAX_COOKIE_BYTES - measureCookie(chunkName(name, MAX_CHUNKS), longest, attributes)
  const count = room > 0 ? Math.ceil(value.length / room) : Number.POSITIVE_INFINITY
  if (count > MAX_CHUNKS) {
    throw new IdpError('INTERNAL_ERROR', { detail: `A value does not fit into ${MAX_CHUNKS} cookies.` })
  }
  const part = (index: number): NamedValue => ({
    name: chunkName(name, index),
    value: `${generation}.${count}.${value.slice(index * room, (index + 1) * room)}`,
  })
  return [part(0), ...Array.from({ length: count - 1 }, (_, index) => part(index + 1))]
}

/** A joined value and the names of its cookies. */
export interface JoinedCookie {
  readonly value: string
  readonly names: readonly string[]
}

/** Joins the chunks of the set that `first` starts; returns `null` if they are incomplete or of several sets. */
function joinChunks(name: string, first: string, jar: Received): JoinedCookie | null {
  const counted = COUNT.exec(first.slice(GENERATION_CHARACTERS))
  if (!counted) return null
  const [countText, countDigits] = counted
  const count = Number(countDigits)
  if (count < 2 || count > MAX_CHUNKS) return null
  const prefix = first.slice(0, GENERATION_CHARACTERS) + countText
  let value = first.slice(prefix.length)
  const names = [chunkName(name, 0)]
  for (let index = 1; index < count; index++) {
    const next = chunkName(name, index)
    const chunk = jar.all(next).find((each) => each.startsWith(prefix))
    if (chunk === undefined) return null
    value += chunk.slice(prefix.length)
    names.push(next)
  }
  return value.endsWith(first.slice(0, GENERATION_CHARACTERS)) ? { value, names } : null
}

/** The cookies of a request; a browser may send several of one name. */
type Received = Pick<CookieJar, 'all'>

/**
 * Returns the values that `splitCookie` may have split: non-empty bare cookies, then complete sets of chunks of one
 * generation. Usually at most one; up to `MAX_CANDIDATES` of each if a name occurs several times. A set takes at most
 * `MAX_CHUNKS` lookups.
 */
export function joinedCookies(name: string, jar: Received): readonly JoinedCookie[] {
  const found: JoinedCookie[] = []
  for (const value of jar.all(name).slice(0, MAX_CANDIDATES)) if (value) found.push({ value, names: [name] })
  for (const first of jar.all(chunkName(name, 0)).slice(0, MAX_CANDIDATES)) {
    const joined = joinChunks(name, first, jar)
    if (joined) found.push(joined)
  }
  return found
}

/** Returns whether the name has more values than `joinedCookies` reads. */
export function hasFurtherCookies(name: string, jar: Received): boolean {
  return [name, chunkName(name, 0)].some((each) => jar.all(each).length > MAX_CANDIDATES)
}

/* Room of a chunk beside long attributes, in characters; usually there is more. */
const LEAST_ROOM = 2500

/** Returns the names of the cookies into which a value of at most this length may have been split. */
export function possibleNames(name: string, length: number): string[] {
  const count = Math.min(MAX_CHUNKS, Math.ceil(length / LEAST_ROOM))
  return [name, ...Array.from({ length: count }, (_, index) => chunkName(name, index))]
}

/**
 * Returns those of `names` that are the bare cookie or one of its chunks, with any index: a deletion must reach all of
 * them.
 */
export function chunkNames(name: string, names: Iterable<string>): string[] {
  const start = chunkName(name, '')
  return [...names].filter(
    (candidate) =>
      candidate === name || (candidate.startsWith(start) && /^\d+$/.test(candidate.slice(start.length))),
  )
}
