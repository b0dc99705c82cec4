import { isBelow, parseUrl } from '../lib/url.ts'
import { utf8Length } from '../lib/utf8.ts'

declare const safe: unique symbol

/**
 * Path, query and fragment, normalized by the URL standard: starts with exactly one slash, is at most 2048 bytes long,
 * and stays on the application's own origin whatever it is resolved against.
 */
export type SafeReturnPath = string & { readonly [safe]: true }

const MAX_BYTES = 2048
/* Normalization shortens (dot segments, tabs), so a longer string may still become a valid path. */
const MAX_INPUT_CHARACTERS = 16_384

/**
 * Parses an untrusted target; returns `null` if it is not a string, empty, unparseable, longer than 2048 bytes, or on
 * another origin than `baseUrl`.
 */
export function safeReturnPath(value: unknown, baseUrl: string): SafeReturnPath | null {
  if (typeof value !== 'string' || value === '' || value.length > MAX_INPUT_CHARACTERS) return null
  const base = parseUrl(baseUrl)
  const url = base && parseUrl(value, baseUrl)
  if (!base || !url || url.origin !== base.origin || !/^https?:$/.test(url.protocol)) return null
  // A path that starts with two slashes would be resolved as a host.
  const path = `/${url.pathname.replace(/^[/\\]+/, '')}${url.search}${url.hash}`
  return utf8Length(path) <= MAX_BYTES ? (path as SafeReturnPath) : null
}

/** Parses an untrusted target. Returns `signInReturnToPath` for an invalid or absent one. */
export function toReturnPath(
  { signInReturnToPath }: { readonly signInReturnToPath: string },
  baseUrl: string,
  returnTo: unknown,
): SafeReturnPath {
  const root = '/' as SafeReturnPath
  return safeReturnPath(returnTo, baseUrl) ?? safeReturnPath(signInReturnToPath, baseUrl) ?? root
}

/**
 * Returns the absolute URL of a return path. `basePath` is the mount prefix of the application, `''` or `/path`; the
 * result contains it exactly once, even if the path already does.
 */
export function resolveReturnPath(path: SafeReturnPath, baseUrl: string, basePath: string): string {
  const { origin } = new URL(baseUrl)
  const target = parseUrl(path, origin)
  const url = new URL(origin)
  url.pathname = basePath
  const prefix = url.pathname.replace(/\/+$/, '')
  const inside = target?.origin === origin ? target.pathname : '/'
  url.pathname = isBelow(prefix, inside) ? inside : prefix + inside.replace(/^\/$/, '')
  if (target?.origin === origin) {
    url.search = target.search
    url.hash = target.hash
  }
  return url.origin === origin ? url.href : `${origin}${prefix}/`
}

/**
 * Returns the path prefix of the application for browsers, `''` or `/path`: that of the base-path variable, otherwise
 * of the base URL.
 */
export function publicPrefix(basePath: string, baseUrl: string): string {
  return basePath === '' ? new URL(baseUrl).pathname.replace(/\/+$/, '') : basePath
}
