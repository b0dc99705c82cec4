import type { User } from '../session/model/session-data.ts'

/** The cookies of a request that has no session of this library. Values are URL-decoded. */
export interface FormerCookies {
  /** Returns the value of a cookie; if the browser sends several of a name, the first. */
  get(name: string): string | undefined
  /** Returns the names of all cookies of the request. */
  names(): readonly string[]
}

/** The tokens of a former session. Times are in seconds since the epoch. */
export interface FormerTokens {
  accessToken?: string | undefined
  expiresAt?: number | undefined
  refreshToken?: string | undefined
  /** Scope that the provider granted. */
  scope?: string | undefined
  /** Scope that the application requested; absent if the former library did not keep it. */
  requestedScope?: string | undefined
  /** Audience that the application requested. */
  audience?: string | undefined
  token_type?: string | undefined
}

/** A session of the former library. Times are in seconds since the epoch. */
export interface FormerSession {
  /** The claims of the user. `sub` is required: that of the provider, which the ID token must have, too. */
  user: User
  /** When the user logged in: the absolute lifetime counts from here. */
  createdAt: number
  /** When the session was last used. Default: now if there is an `expiresAt`, which shows that it was in use, else `createdAt`. */
  usedAt?: number | undefined
  /** When the former library would end the session. Default: not limited, besides the options of `session`. */
  expiresAt?: number | undefined
  /** The end that the provider has set, which also counts here. Default: none. */
  sessionExpiresAt?: number | undefined
  /**
   * Identifies the session if `createdAt` changes while it is used. The same for every request of the session. Default: its user,
   * `sid` and `createdAt` identify it.
   */
  id?: string | undefined
  /** The provider's session id. Default: the claim `sid` of `user`. */
  sid?: string | undefined
  /**
   * The ID token of the login, which may have expired. Tokens are only taken over if its signature, issuer and audience are those of
   * the configured provider and client, or if `issuer` and `clientId` are given.
   */
  idToken?: string | undefined
  tokens?: FormerTokens | undefined
  /** The issuer of the tokens, for sessions without an ID token. */
  issuer?: string | undefined
  /** The client that the tokens were issued to, for sessions without an ID token. */
  clientId?: string | undefined
}

/** Scope of the former session cookies: their deletion has to repeat it. */
export interface FormerCookieScope {
  /** @default / */
  path?: string | undefined
  /** @default the host alone */
  domain?: string | undefined
}

/** Takes over the sessions of the library that the application used before. */
export interface TakeOver extends FormerCookieScope {
  /**
   * The first day without take-over, as a date in the source code, `2027-01-31`: at most 90 days ahead when the process starts.
   * Counts in UTC.
   */
  until: string
  /** Names of the former session cookies. Their parts (`<name>.0`, `<name>__0`) are deleted with them. */
  cookies: string | readonly string[]
  /** Name of the former library, in events. @default custom */
  library?: string | undefined
  /**
   * Returns the session in the former cookies, or null if they contain none. Called at most once per request: if it carries such a
   * cookie and no session of this library, or if a session of this library is written or ends beside one. An exception is reported
   * and means no session, as does a promise that is not settled within `httpTimeout`.
   */
  read(cookies: FormerCookies): FormerSession | null | Promise<FormerSession | null>
}
