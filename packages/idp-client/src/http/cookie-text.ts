import { serialize } from 'cookie-es'
import { IdpError } from '../errors/base.ts'
import { text, utf8 } from '../lib/utf8.ts'
import type { CookieJar, CookieSink, StagedCookie } from './cookie-jar.ts'

const asIs = (value: string): string => value

/*
 * Values of other applications may contain characters that RFC 6265 forbids; only those that would break the header are
 * encoded.
 */
const SAFE_VALUE = /^(?! )[\x20-\x3A\x3C-\x7E\x80-\xFF]*(?<! )$/
const NAME = /^[\x21-\x3A\x3C\x3E-\x7E]+$/

const isBlank = (text: string, at: number): boolean => text[at] === ' ' || text[at] === '\t'

/** Removes spaces and tabs at both ends. A pattern for the end would try every space of an untrusted header again. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && isBlank(text, start)) start++
  while (end > start && isBlank(text, end - 1)) end--
  return text.slice(start, end)
}

/**
 * Parses a `Cookie` header; values are not percent-decoded (`CookieJar` does that). A name that occurs several times
 * has all its values in the order of the header, the more specific path first.
 */
export function parseCookies(header: string | null): Map<string, string | readonly string[]> {
  const cookies = new Map<string, string | string[]>()
  for (const pair of header ? header.split(';') : []) {
    const equals = pair.indexOf('=')
    if (equals < 0) continue
    const name = trimmed(pair.slice(0, equals))
    const value = trimmed(pair.slice(equals + 1))
    const earlier = cookies.get(name)
    if (Array.isArray(earlier)) earlier.push(value)
    else cookies.set(name, earlier === undefined ? value : [earlier, value])
  }
  return cookies
}

/**
 * Serializes one `Set-Cookie` line. Values are not encoded: ours consist of allowed octets.
 * @throws IdpError `INTERNAL_ERROR` if name, value, path or domain is invalid; the message does not quote it.
 */
export function serializeCookie({ name, value, attributes }: StagedCookie): string {
  try {
    // Not as one object: an application may bundle cookie-es 1 or 2 in its place, which would write a cookie named [object Object].
    return serialize(name, value, { ...attributes, encode: asIs })
  } catch {
    // The library's message quotes the value, so it must not become the cause.
    throw new IdpError('INTERNAL_ERROR', {
      detail: 'A cookie could not be written: check the name, path and domain in the cookie options.',
    })
  }
}

/** Creates a sink that appends one `Set-Cookie` line per write. */
export function headersSink(headers: Headers): CookieSink {
  return {
    set: (name, value, attributes) =>
      headers.append('Set-Cookie', serializeCookie({ name, value, attributes })),
  }
}

/** Returns the name of the cookie that a `Set-Cookie` line sets. */
export function toCookieName(line: string): string {
  return line.split(/[=;]/, 1)[0] ?? ''
}

/** Returns the name of a value that is split into several cookies. */
function toUnsplitName(name: string): string {
  return name.replace(/__\d+$/, '')
}

/** Returns whether `Set-Cookie` lines set a cookie, whole or split. */
export function isSetBy(lines: readonly string[]): (name: string) => boolean {
  const names = new Set(lines.map((line) => toUnsplitName(toCookieName(line))))
  return (name) => names.has(toUnsplitName(name))
}

/**
 * Adds the staged cookies to headers. Leaves out those of `older` that the headers set already: a handler that got a copy of
 * the request has written them later.
 *
 * @param older cookies that were staged before the application handled the request.
 */
export function flushToHeaders(
  cookies: CookieJar,
  headers: Headers,
  older: readonly StagedCookie[] = [],
): void {
  const lines = headers.getSetCookie()
  const isSet = isSetBy(lines)
  const stale = cookies.pending().filter((cookie) => older.includes(cookie) && isSet(cookie.name))
  const staleNames = new Set(stale.map(({ name }) => name))
  cookies.flush({
    set(name, value, attributes) {
      if (staleNames.has(name)) return
      const line = serializeCookie({ name, value, attributes })
      if (!lines.includes(line)) headers.append('Set-Cookie', line)
    },
  })
}

/** Percent-encodes a value without throwing on a lone surrogate. */
function encode(value: string): string {
  return encodeURIComponent(text(utf8(value)))
}

/**
 * Serializes a `Cookie` header. A value that would break the header (because a host decoded it) is percent-encoded
 * again.
 */
export function cookieHeader(
  entries: Iterable<readonly [name: string, value: string | readonly string[]]>,
): string {
  const pairs: string[] = []
  for (const [name, values] of entries) {
    if (!NAME.test(name)) continue
    for (const value of [values].flat()) {
      pairs.push(`${name}=${SAFE_VALUE.test(value) ? value : encode(value)}`)
    }
  }
  return pairs.join('; ')
}
