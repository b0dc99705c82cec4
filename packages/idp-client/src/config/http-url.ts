import { parseUrl } from '../lib/url.ts'

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
const hostPattern = new RegExp(`^(?:${label}(?:\\.${label})*|\\[[0-9a-f:.]+\\])(?::[1-9][0-9]{0,4})?$`)
const longestHost = 253 + ':65535'.length

/**
 * A host as a `Host` header may carry it (RFC 9110 section 7.2), or null. Whatever the URL parser would read in another
 * way than it is written (user names, paths, numbers that become addresses, Unicode) is refused, not corrected.
 */
export function parseHost(value: string): string | null {
  const host = value.trim().toLowerCase()
  if (host.length > longestHost || !hostPattern.test(host)) return null
  const url = parseUrl(`http://${host}`)
  return url?.host === host.replace(/:80$/, '') ? host : null
}

/* Unreserved characters, percent-encoding and what else is usual in paths; empty segments at the end only. */
const pathPattern = /^(?:\/(?:[\w.~!$&()+=:@-]|%[0-9a-f]{2})+)*\/*$/i
const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i
/* The result of a template or a concatenation with a variable that is not set. */
const unset = /^(?:undefined|null|nan)(?::|$)|^undefined\./

/**
 * Parses an http(s) URL without user name, query and fragment, as given in an option or variable. Returns null for any
 * other string, and for a host that a `Host` header must not contain.
 */
export function parseHttpUrl(value: string): URL | null {
  const text = value.trim()
  const [, authority, path = ''] = /^https?:\/\/([^/]+)(\/.*)?$/i.exec(text) ?? []
  // A host alone may have spaces around it, as variables do; in a URL they are a mistake.
  const host = authority === undefined || /\s/.test(authority) ? null : parseHost(authority)
  if (host === null || unset.test(host) || !pathPattern.test(path) || dotSegment.test(path)) return null
  return path.includes('/undefined') ? null : new URL(text)
}

/** Finds the remains of a template, or of a missing value that became text, in a URL. */
export const NOT_REPLACED: RegExp = /[{}<>]|undefined|null|nan/i

/** Returns the probable mistake in a URL that `parseHttpUrl` rejected, to follow "must be …" in a message. */
export function toHint(value: unknown, severalUrls: string): string {
  if (typeof value !== 'string') return ''
  if (value.includes(',')) return `; ${severalUrls}`
  if (value.includes('*')) return '; patterns with * are not supported'
  if (/["']/.test(value)) return '; remove the quotes'
  if (NOT_REPLACED.test(value)) return '; a placeholder in it was not replaced'
  return /[^\x20-\x7e]/.test(value) ? '; write an international host name in its ASCII form (xn--...)' : ''
}
