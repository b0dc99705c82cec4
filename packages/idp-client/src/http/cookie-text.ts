import { parseCookie, stringifySetCookie } from 'cookie'
import { IdpError } from '../errors/base.ts'
import { text, utf8 } from '../lib/base64url.ts'
import type { CookieSink, StagedCookie } from './cookie-jar.ts'

const asIs = (value: string): string => value

/* Other people's values may hold what RFC 6265 does not allow; only what would end or break the header is touched. */
const SAFE_VALUE = /^(?! )[\x20-\x3A\x3C-\x7E\x80-\xFF]*(?<! )$/
const NAME = /^[\x21-\x3A\x3C\x3E-\x7E]+$/

/**
 * The cookies of a `Cookie` header, values as they were sent (a percent sequence is not decoded; `CookieJar.get` does
 * that). The first of several cookies of one name counts: it is the one with the more specific path.
 */
export function parseCookies(header: string | null): Map<string, string> {
  const cookies = new Map<string, string>()
  if (header === null) return cookies
  for (const [name, value] of Object.entries(parseCookie(header, { decode: asIs }))) {
    if (value !== undefined) cookies.set(name, value)
  }
  return cookies
}

/**
 * The `Set-Cookie` text of one write. Values stay as they are: what we write consists of octets that need no encoding.
 * @throws IdpError `INTERNAL_ERROR` when name, value, path or domain cannot stand in a cookie; the text is not shown.
 */
export function serializeCookie({ name, value, attributes }: StagedCookie): string {
  try {
    return stringifySetCookie({ name, value, ...attributes }, { encode: asIs })
  } catch {
    // The library's message repeats the value, so it must not become the cause.
    throw new IdpError('INTERNAL_ERROR', {
      detail: 'A cookie could not be written: check the name, path and domain in the cookie options.',
    })
  }
}

/** Appends one `Set-Cookie` line per write. */
export function headersSink(headers: Headers): CookieSink {
  return {
    set(name, value, attributes) {
      headers.append('Set-Cookie', serializeCookie({ name, value, attributes }))
    },
  }
}

/** Percent-encoding that does not throw on a lone surrogate. */
function encode(value: string): string {
  return encodeURIComponent(text(utf8(value)))
}

/** Text of a `Cookie` header. A value that would break the header (a host had decoded it) is percent-encoded again. */
export function cookieHeader(entries: Iterable<readonly [name: string, value: string]>): string {
  const pairs: string[] = []
  for (const [name, value] of entries) {
    if (NAME.test(name)) pairs.push(`${name}=${SAFE_VALUE.test(value) ? value : encode(value)}`)
  }
  return pairs.join('; ')
}
