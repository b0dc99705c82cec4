import { IdpError } from '../errors/base.ts'
import { text, utf8 } from '../lib/utf8.ts'
import type { CookieSink, StagedCookie } from './cookie-jar.ts'

/*
 * Values of other applications may contain characters that RFC 6265 forbids; only those that would break the header are
 * encoded.
 */
const SAFE_VALUE = /^(?! )[\x20-\x3A\x3C-\x7E\x80-\xFF]*(?<! )$/
const NAME = /^[\x21-\x3A\x3C\x3E-\x7E]+$/

const VALUE = /^[\x21-\x3A\x3C-\x7E]*$/
const PATH = /^[\x20-\x3A\x3D-\x7E]*$/
const DOMAIN = /^[\w.-]+$/

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

/** Returns a part of the header without spaces and tabs around it. */
function trimmed(header: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(header.charCodeAt(start))) start++
  while (end > start && isBlank(header.charCodeAt(end - 1))) end--
  return header.slice(start, end)
}

/**
 * Parses a `Cookie` header (RFC 6265 section 5.4); values are not percent-decoded (`CookieJar` does that). A name that
 * occurs several times has all its values in the order of the header, the more specific path first. A part without `=`
 * is ignored.
 */
export function parseCookies(header: string | null): Map<string, string | readonly string[]> {
  const cookies = new Map<string, string | string[]>()
  if (header === null) return cookies
  let equals = -1
  for (let start = 0, end = 0; start < header.length; start = end + 1) {
    end = header.indexOf(';', start)
    if (end === -1) end = header.length
    if (equals < start) equals = header.indexOf('=', start)
    if (equals === -1) break
    if (equals > end) continue
    const name = trimmed(header, start, equals)
    const value = trimmed(header, equals + 1, end)
    const before = cookies.get(name)
    if (before === undefined) cookies.set(name, value)
    else if (typeof before === 'string') cookies.set(name, [before, value])
    else before.push(value)
  }
  return cookies
}

const sameSiteNames = { strict: 'Strict', lax: 'Lax', none: 'None' } as const

function isValid({ name, value, attributes: { domain, path } }: StagedCookie): boolean {
  return (
    NAME.test(name) && VALUE.test(value) && PATH.test(path) && (domain === undefined || DOMAIN.test(domain))
  )
}

/**
 * Serializes one `Set-Cookie` line (RFC 6265 section 4.1). Values are not encoded: ours consist of allowed octets.
 * @throws IdpError `INTERNAL_ERROR` if name, value, path or domain is invalid; the message does not quote it.
 */
export function serializeCookie(cookie: StagedCookie): string {
  if (!isValid(cookie)) {
    throw new IdpError('INTERNAL_ERROR', {
      detail: 'A cookie could not be written: check the name, path and domain in the cookie options.',
    })
  }
  const { name, value, attributes } = cookie
  const { domain, maxAge, path, sameSite, secure } = attributes
  return [
    `${name}=${value}`,
    ...(maxAge === undefined ? [] : [`Max-Age=${maxAge}`]),
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
    `Path=${path}`,
    'HttpOnly',
    ...(secure ? ['Secure'] : []),
    `SameSite=${sameSiteNames[sameSite]}`,
  ].join('; ')
}

/** Creates a sink that appends one `Set-Cookie` line per write. */
export function headersSink(headers: Headers): CookieSink {
  return {
    set(name, value, attributes) {
      headers.append('Set-Cookie', serializeCookie({ name, value, attributes }))
    },
  }
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
