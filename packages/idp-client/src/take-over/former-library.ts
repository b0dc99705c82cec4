import type { FormerSecret, OpenedJwe } from './open-jwe.ts'
import { createOpener } from './open-jwe.ts'
import { readCookie } from './shape.ts'
import type { FormerCookieScope, FormerSession, TakeOver } from './take-over.ts'

/** Options of the function of each library. */
export interface FormerLibraryOptions extends FormerCookieScope {
  /** The former secret. If there are several, they are tried in order. */
  secret: FormerSecret
  /** The first day without take-over, as a date in the source code, `2027-01-31`. */
  until: string
  /**
   * Name of the former session cookie, if the application changed it.
   * @default the default of the former library
   */
  cookieName?: string | undefined
}

/** How a library stores sessions in encrypted cookies. */
export interface FormerLibrary {
  readonly name: string
  /** Default names of the session cookie. */
  readonly cookies: readonly string[]
  /** Strings between the name of a cookie and the number of a part. */
  readonly separators: readonly string[]
  /** `info` of the key derivation. */
  readonly info: string
  /** Returns the session in a decrypted cookie; null if it contains something else. */
  toSession(opened: OpenedJwe, cookie: string): FormerSession | null | Promise<FormerSession | null>
}

/**
 * Creates the take-over of the sessions of a library.
 *
 * @throws InvalidConfigurationError if a secret is shorter than 32 characters
 */
export function createTakeOver(
  { cookies: defaults, info, name: library, separators, toSession }: FormerLibrary,
  { cookieName, domain, path, secret, until }: FormerLibraryOptions,
): TakeOver {
  const open = createOpener(library, secret, info)
  const names = cookieName === undefined ? defaults : [cookieName]
  return {
    until,
    cookies: names,
    library,
    path,
    domain,
    async read(cookies) {
      for (const value of names.flatMap((name) => readCookie(cookies, name, separators))) {
        const opened = await open(value)
        const session = opened && (await toSession(opened, value))
        if (session) return session
      }
      return null
    },
  }
}
