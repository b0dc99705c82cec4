import { isObject } from '../lib/objects.ts'
import type { FormerLibraryOptions } from './former-library.ts'
import { createTakeOver } from './former-library.ts'
import type { OpenedJwe } from './open-jwe.ts'
import { isUser, toEarliest, toNonEmptyString, toTime, toTimes, toTokens } from './shape.ts'
import type { FormerSession, TakeOver } from './take-over.ts'

/**
 * Version 4 encrypts transactions, ids of its store, connection tokens and the context of an MFA token with the key of sessions. None
 * of them has the properties of a session; those of a session with one of these names are not its own.
 */
const OTHER_CONTENT = ['codeVerifier', 'responseType', 'mfaToken', 'mfaRequirements']

/**
 * Takes over the sessions of `@auth0/nextjs-auth0`, version 4 (since 4.5.1) and 3, that it kept in encrypted cookies. Access tokens
 * for further audiences and connection tokens are not taken over: the refresh token obtains them again. `secret` is the former
 * `AUTH0_SECRET`. The default of `cookieName` is `__session` (version 4) and `appSession` (version 3).
 *
 * @throws InvalidConfigurationError if a secret is shorter than 32 characters
 */
export function nextjsAuth0(options: FormerLibraryOptions): TakeOver {
  const library = {
    name: 'nextjs-auth0',
    cookies: ['__session', 'appSession'],
    separators: ['__', '.'],
    info: 'JWE CEK',
    // Version 3 has the times in the header.
    toSession: (opened: OpenedJwe) => ('iat' in opened.header ? fromVersion3(opened) : fromVersion4(opened)),
  }
  return createTakeOver(library, options)
}

function fromVersion4({ payload }: OpenedJwe): FormerSession | null {
  const { user, tokenSet, internal, exp } = payload
  if (!(isUser(user) && isObject(tokenSet) && isObject(internal))) return null
  if (OTHER_CONTENT.some((name) => name in payload)) return null
  const { createdAt, sessionExpiresAt, sid } = internal
  const { idToken } = tokenSet
  const times = { createdAt: toTime(createdAt), exp: toTime(exp) }
  if (times.createdAt === undefined || times.exp === undefined) return null
  return {
    user,
    createdAt: times.createdAt,
    expiresAt: times.exp,
    sessionExpiresAt: toTime(sessionExpiresAt),
    sid: toNonEmptyString(sid),
    idToken: toNonEmptyString(idToken),
    tokens: toTokens(tokenSet),
  }
}

function fromVersion3({ header, payload }: OpenedJwe): FormerSession | null {
  const times = toTimes(header)
  const { user, idToken, accessToken, accessTokenExpiresAt, accessTokenScope, refreshToken, token_type } =
    payload
  if (!times || !isUser(user)) return null
  const { sid } = user
  return {
    user,
    ...times,
    expiresAt: toEarliest(times.expiresAt, toTime(payload['exp'])),
    sid: toNonEmptyString(sid),
    idToken: toNonEmptyString(idToken),
    tokens: toTokens({
      accessToken,
      expiresAt: accessTokenExpiresAt,
      refreshToken,
      scope: accessTokenScope,
      token_type,
    }),
  }
}
