import { isObject } from '../lib/objects.ts'
import { isTime } from '../oidc/claims.ts'
import { asJson } from '../session/model/stored-session.ts'
import type { FormerSession, FormerTokens } from '../take-over/take-over.ts'

/** Seconds by which the clock of the former application may have been ahead. */
const TOLERANCE = 60

const isOptional = (value: unknown, isValid: (value: unknown) => boolean): boolean =>
  value === undefined || isValid(value)

const isNonEmptyString = (value: unknown): value is string => typeof value === 'string' && value !== ''

const TOKEN_STRINGS = [
  'accessToken',
  'refreshToken',
  'scope',
  'requestedScope',
  'audience',
  'token_type',
] as const

function isTokens(tokens: unknown): tokens is FormerTokens {
  if (!isObject(tokens) || !isOptional(tokens['expiresAt'], isTime)) return false
  return TOKEN_STRINGS.every((name) => isOptional(tokens[name], (value) => typeof value === 'string'))
}

/**
 * Returns a copy of what `read` returned if that is a session whose times are numbers and not in the future, otherwise null.
 *
 * @param now seconds since the epoch
 */
export function toFormerSession(given: unknown, now: number): FormerSession | null {
  const copy = asJson(given)
  if (!isObject(copy) || !isObject(copy['user']) || !isNonEmptyString(copy['user']['sub'])) return null
  const { clientId, createdAt, expiresAt, id, idToken, issuer, sessionExpiresAt, sid, tokens, usedAt } = copy
  const isPast = (time: unknown): boolean => isTime(time) && time >= 0 && time <= now + TOLERANCE
  const isValid =
    isPast(createdAt) &&
    isOptional(usedAt, isPast) &&
    [expiresAt, sessionExpiresAt].every((time) => isOptional(time, isTime)) &&
    [clientId, id, idToken, issuer, sid].every((value) => isOptional(value, isNonEmptyString)) &&
    isOptional(tokens, isTokens)
  // `NaN` and infinite times are null in JSON.
  return isValid ? (copy as unknown as FormerSession) : null
}
