import { decodeClaims } from '../session/model/claims.ts'
import type { FormerLibraryOptions } from './former-library.ts'
import { createTakeOver } from './former-library.ts'
import type { OpenedJwe } from './open-jwe.ts'
import { isUser, toNonEmptyString, toTime, toTimes, toTokens } from './shape.ts'
import type { FormerSession, TakeOver } from './take-over.ts'

/**
 * Takes over the sessions of `express-openid-connect`, version 3 and 2, that it kept in encrypted cookies. Sessions of users who had
 * not logged in are not taken over. `secret` is the former `SECRET`, `cookieName` the former `session.name`, by default `appSession`.
 *
 * @throws InvalidConfigurationError if a secret is shorter than 32 characters
 */
export function expressOpenidConnect(options: FormerLibraryOptions): TakeOver {
  const library = {
    name: 'express-openid-connect',
    cookies: ['appSession'],
    separators: ['.'],
    info: 'JWE CEK',
    toSession,
  }
  return createTakeOver(library, options)
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
