import type { NamedValue } from './chunks.ts'
import type { CookieJar } from './cookie-jar.ts'
import { serializeCookie } from './cookie-text.ts'

/*
 * All cookies of one client take at most `session.cookie.maxBytes` + 1500 bytes of a `Cookie` header: the session with its
 * overdraft, the logout marker, and transactions in what is left. With the default that is 7900 bytes; nginx rejects a
 * header line above 8190 bytes, and with it every request of the browser, also the logout.
 */

/** Bytes by which the session cookies may exceed `session.cookie.maxBytes` after a redemption. */
export const OVERDRAFT_BYTES = 400
/** Maximum size of the logout marker. */
export const MARKER_BYTES = 400
/** Maximum size of all transaction cookies together. */
export const MAX_TRANSACTIONS_BYTES = 3500
/** Maximum size of all transaction cookies together beside the largest session. */
export const MIN_TRANSACTIONS_BYTES = 700

/** Returns the bytes that a cookie takes in a `Cookie` header, including its name and the separator. */
export function cookieBytes({ name, value }: NamedValue): number {
  return name.length + '='.length + value.length + '; '.length
}

export function sumBytes(cookies: readonly NamedValue[]): number {
  return cookies.reduce((sum, cookie) => sum + cookieBytes(cookie), 0)
}

/* Of chunks, and of connection tokens, which may have chunks themselves. */
const SESSION_SUFFIX = /^(?:__(?:\d+|conn_\d+(?:__\d+)?))?$/

/** Returns whether a cookie belongs to a session of this name. Not the logout marker, nor `<name>__x`, which another client may use. */
export function isSessionCookie(sessionName: string, name: string): boolean {
  return name.startsWith(sessionName) && SESSION_SUFFIX.test(name.slice(sessionName.length))
}

/** Returns the bytes of the cookies with such names, as a request would carry them after the staged writes. */
export function bytesInJar(jar: CookieJar, isCounted: (name: string) => boolean): number {
  const names = jar.names().filter(isCounted)
  return sumBytes(names.flatMap((name) => jar.all(name).map((value) => ({ name, value }))))
}

/** Returns how many bytes transaction cookies may take together beside a session of this size. */
export function transactionAllowance(maxBytes: number, sessionBytes: number): number {
  const left = maxBytes + OVERDRAFT_BYTES + MIN_TRANSACTIONS_BYTES - sessionBytes
  return Math.max(MIN_TRANSACTIONS_BYTES, Math.min(MAX_TRANSACTIONS_BYTES, left))
}

/** Above this size of cookies and `Location`, the head of a response is close to the 4096 bytes that nginx allows by default. */
const LARGE_HEAD_BYTES = 3500

/* `Set-Cookie: `, the end of the line, and the `Expires` that some hosts add. */
const LINE_BYTES = 53

const LARGE_HEAD =
  `A response has more than ${LARGE_HEAD_BYTES} bytes of cookies and address. nginx responds with 502 to a response head ` +
  'above 4096 bytes unless proxy_buffer_size allows more (16k is enough); other proxies have similar limits.'

/**
 * Reports once per process that the staged cookies, with the address of a redirect, may exceed what a proxy accepts in the
 * head of a response.
 */
export function reportLargeHead(
  jar: CookieJar,
  report: (message: string) => void,
  { location = '', message = LARGE_HEAD }: { readonly location?: string; readonly message?: string } = {},
): void {
  const bytes = jar.pending().reduce((sum, cookie) => sum + serializeCookie(cookie).length + LINE_BYTES, 0)
  if (bytes + location.length > LARGE_HEAD_BYTES) report(message)
}
