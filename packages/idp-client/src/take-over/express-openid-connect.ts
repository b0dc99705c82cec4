import { decodeClaims } from '../session/model/claims.ts'
import type { FormerSecret, OpenedJwe } from './open-jwe.ts'
import { createOpener } from './open-jwe.ts'
import { isUser, readCookie, toNonEmptyString, toTime, toTimes, toTokens } from './shape.ts'
import type { FormerCookieScope, FormerSession, TakeOver } from './take-over.ts'

/** Options of `expressOpenidConnect`. */
export interface ExpressOpenidConnectTakeOver extends FormerCookieScope {
  /** The former `secret` (`SECRET`). If there are several, they are tried in order. */
  secret: FormerSecret
  /** The first day without take-over, as a date in the source code, `2027-01-31`. */
  until: string
  /**
   * The former `session.name`.
   * @default appSession
   */
  cookieName?: string | undefined
}

const LIBRARY = 'express-openid-connect'

/**
 * Takes over the sessions of `express-openid-connect`, version 3 and 2, that it kept in encrypted cookies. Sessions of users who had
 * not logged in are not taken over.
 *
 * @throws InvalidConfigurationError if a secret is shorter than 32 characters
 */
export function expressOpenidConnect(options: ExpressOpenidConnectTakeOver): TakeOver {
  const { secret, until, cookieName = 'appSession', path, domain } = options
  const open = createOpener(LIBRARY, secret, 'JWE CEK')
  return {
    until,
    cookies: cookieName,
    library: LIBRARY,
    path,
    domain,
    async read(cookies) {
      for (const value of readCookie(cookies, cookieName, ['.'])) {
        const opened = await open(value)
        const session = opened && toSession(opened)
        if (session) return session
      }
      return null
    },
  }
}

function toSession({ header, payload }: OpenedJwe): FormerSession | null {
  const { id_token, access_token, expires_at, refresh_token, scope, sessionExpiresAt, token_type } = payload
  const times = toTimes(header)
  const idToken = toNonEmptyString(id_token)
  const user = decodeClaims(idToken)
  if (!times || !isUser(user)) return null
  // The ID token of a refresh may lack it.
  const { sid = user['sid'] } = payload
  return {
    user,
    ...times,
    sessionExpiresAt: toTime(sessionExpiresAt),
    sid: toNonEmptyString(sid),
    idToken,
    tokens: toTokens({
      accessToken: access_token,
      expiresAt: expires_at,
      refreshToken: refresh_token,
      scope,
      token_type,
    }),
  }
}
