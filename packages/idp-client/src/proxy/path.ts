import { isBelow, parseUrl } from '../lib/url.ts'

/** Characters that one component may read as the end of a segment, and another one not; and the rest of an encoding. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const UNSAFE = /[\x00-\x1f\x7f-\x9f/\\]/

/** A segment that leaves its folder, also with parameters behind it (`..;x`), which some servers remove. */
const DOTS = /^\.{1,2}(?:;|$)/

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

const isUnsafe = (segment: string): boolean => UNSAFE.test(segment) || DOTS.test(segment)

/**
 * Returns whether every server reads a segment as one name, however often it decodes it: the segment, decoded once and decoded
 * twice, neither leaves its folder nor contains a separator, and nothing encoded is left.
 */
function isSafeSegment(segment: string): boolean {
  if (isUnsafe(segment)) return false
  const once = decode(segment)
  if (once === null || isUnsafe(once)) return false
  if (!once.includes('%')) return true
  const twice = decode(once)
  return twice !== null && !isUnsafe(twice) && !twice.includes('%')
}

/** Returns whether all segments of a path, as it arrived, are safe to send on. */
export function isSafePath(path: string): boolean {
  return path.startsWith('/') && path.slice(1).split('/').every(isSafeSegment)
}

/** Spaces and dots at the end. Begins at the first of them only: to try each one of an untrusted path takes quadratic time. */
const ENDING = /(?<![\s.])[\s.]+$/

/** Returns the path that a lenient server may read: decoded, without parameters, empty segments and case. */
export function toLenient(path: string): string {
  const twice = decode(decode(path) ?? path) ?? path
  const segments = twice.split('/').map((segment) => segment.replace(/[;?#].*$/s, '').replace(ENDING, ''))
  return `/${segments.filter(Boolean).join('/')}`.toLowerCase()
}

/**
 * Returns the URL of the API for a path below the prefix, or `null` if it would not be below the target.
 *
 * @param query with its question mark, empty without one
 */
export function toUpstream(target: URL, rest: string, query: string): URL | null {
  const url = parseUrl(`${target.origin}${toRoot(target)}${rest}${query}`)
  return url && isAtTarget(target, url) ? url : null
}

/** Returns the path of a target, to continue it. */
const toRoot = ({ pathname }: URL): string => (pathname === '/' ? '' : pathname)

/** Returns whether a URL is the target, or below it. */
function isAtTarget(target: URL, { hash, origin, password, pathname, username }: URL): boolean {
  return (
    origin === target.origin &&
    username === '' &&
    password === '' &&
    hash === '' &&
    isBelow(toRoot(target), pathname)
  )
}

/**
 * Returns the address that the browser uses for an address of the API (`Location`), or `null` if that is not below the target.
 *
 * @param from the URL of the request, for a relative address
 * @param prefix path of the proxy, with the base path
 */
export function toPublic(address: string, from: URL, target: URL, prefix: string): string | null {
  const url = parseUrl(address, from)
  if (!url) return null
  const { hash, pathname, search } = url
  url.hash = ''
  if (!isAtTarget(target, url) || !isSafePath(pathname)) return null
  const root = toRoot(target)
  const rest = pathname.slice(root.length)
  return `${prefix}${rest === '/' && root === '' ? '' : rest}${search}${hash}`
}
