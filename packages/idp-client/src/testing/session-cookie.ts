import { randomToken } from '../crypto/random.ts'
import { createSealer } from '../crypto/seal.ts'
import { InvalidConfigurationError } from '../errors/configuration.ts'
import { splitCookie } from '../http/chunks.ts'
import type { CookieAttributes, SameSite } from '../http/cookie-jar.ts'
import { cookieHeader } from '../http/cookie-text.ts'
import { systemClock } from '../lib/clock.ts'
import { encodeSession } from '../session/cookie/codec.ts'
import { toAuthentication } from '../session/model/authentication.ts'
import type {
  AccessTokenSet,
  ConnectionTokenSet,
  InternalSessionData,
  SessionData,
  TokenSet,
  User,
} from '../session/model/session-data.ts'
import type { StoredSession } from '../session/model/stored-session.ts'

/** A session for a test; a `SessionData` is accepted. */
export interface TestSession {
  user: User
  /** Default: an access token `test-access-token` that is valid for an hour. */
  tokenSet?: TokenSet
  accessTokens?: AccessTokenSet[]
  connectionTokenSets?: ConnectionTokenSet[]
  /** Default `createdAt`: `now`. */
  internal?: Partial<InternalSessionData>
  [key: string]: unknown
}

export interface SessionCookieSecrets {
  /** The `secret` of the application under test; the first of an array seals. */
  secret: string | readonly string[]
  /**
   * Last use of the session, in seconds since the epoch; default: the current time. Set it if the test moves a clock.
   */
  now?: number
}

export interface SessionCookieSettings extends SessionCookieSecrets {
  /** Name of the session cookie; default `__session`. */
  name?: string
  /** Attributes of the application's cookie; they determine how much fits into one. */
  path?: string
  domain?: string
  secure?: boolean
  sameSite?: SameSite
}

function toSecrets(secret: string | readonly string[]): [string, ...string[]] {
  // Trimmed, as the application's is: that of a file ends with a line break.
  const [first = '', ...others] = [secret].flat().map((each) => each.trim())
  if (first.length >= 32) return [first, ...others]
  const detail = 'secret must be the one of the application under test: 32 characters or more.'
  throw new InvalidConfigurationError('INVALID_CONFIGURATION', { detail })
}

/** Returns the claims that guards would read from the ID token, if the session has none. */
function toProven({ tokenSet, user }: SessionData): Pick<StoredSession, 'authentication'> {
  if (tokenSet.idToken !== undefined) return {}
  // A refresh would be compared with the subject, which a test may choose freely.
  const { sub: _sub, ...authentication } = toAuthentication(user)
  return Object.keys(authentication).length > 0 ? { authentication } : {}
}

/**
 * Returns the value of a session cookie for the user of `session`, for tests of an application. Send it under the name
 * of the session cookie (`__session` by default). Values above about 4000 characters need several cookies: use
 * `generateSessionCookies`. Guards with requirements read the claims of `tokenSet.idToken`; without one those of `user`.
 *
 * @throws InvalidConfigurationError `INVALID_CONFIGURATION` if `secret` is shorter than 32 characters.
 * @example
 * const value = await generateSessionCookie({ user: { sub: 'alice' } }, { secret: 'a secret of 32 characters or more' })
 * await fetch('http://localhost:3000/account', { headers: { cookie: `__session=${value}` } })
 */
export async function generateSessionCookie(
  session: TestSession,
  { secret, now = systemClock() }: SessionCookieSecrets,
): Promise<string> {
  const data: SessionData = {
    ...session,
    tokenSet: session.tokenSet ?? {
      accessToken: 'test-access-token',
      expiresAt: now + 3600,
      token_type: 'Bearer',
    },
    internal: { createdAt: now, ...session.internal },
  }
  const bytes = encodeSession({ data, sessionKey: randomToken(16), usedAt: now, ...toProven(data) })
  return createSealer(toSecrets(secret)).seal('session', bytes)
}

/**
 * Returns the session as cookies by name and value, split as the application would; for tools that fill a cookie jar
 * (Playwright's `context.addCookies`).
 */
export async function generateSessionCookies(
  session: TestSession,
  settings: SessionCookieSettings,
): Promise<readonly { readonly name: string; readonly value: string }[]> {
  const { domain, name = '__session', path = '/', sameSite = 'lax', secure = true } = settings
  const value = await generateSessionCookie(session, settings)
  // The longest possible lifetime, so that no cookie exceeds the size that the application would write.
  const attributes: CookieAttributes = {
    ...{ path, secure, sameSite, maxAge: 34_560_000, httpOnly: true },
    ...(domain === undefined ? {} : { domain }),
  }
  return splitCookie(name, value, attributes)
}

/** Returns the session as the value of a `Cookie` header. */
export async function generateCookieHeader(
  session: TestSession,
  settings: SessionCookieSettings,
): Promise<string> {
  const cookies = await generateSessionCookies(session, settings)
  return cookieHeader(cookies.map(({ name, value }) => [name, value]))
}
