import { isObject } from '../lib/objects.ts'
import type { User } from '../session/model/session-data.ts'
import type { OpenedJwe } from './open-jwe.ts'
import type { FormerCookies, FormerSession, FormerTokens } from './take-over.ts'

/** Maximum length of a former cookie, its parts joined. */
const MAX_COOKIE_LENGTH = 65_536

/**
 * Returns the values that a cookie and its parts have together: the cookie itself, then for each separator the parts, joined up to the
 * first gap. Values that are longer than 64 KiB are left out.
 */
export function readCookie(
  cookies: FormerCookies,
  name: string,
  separators: readonly string[],
): readonly string[] {
  const values = [cookies.get(name) ?? '', ...separators.map((each) => joinParts(cookies, name + each))]
  return values.filter((value) => value !== '' && value.length <= MAX_COOKIE_LENGTH)
}

function joinParts(cookies: FormerCookies, prefix: string): string {
  let joined = ''
  for (let index = 0; joined.length <= MAX_COOKIE_LENGTH; index++) {
    const part = cookies.get(prefix + index)
    if (!part) break
    joined += part
  }
  return joined
}

/** Returns whether a value has the claims of a user. */
export function isUser(value: unknown): value is User {
  return isObject(value) && isNonEmptyString(value['sub'])
}

export function isNonEmptyString(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

/** Returns the value if it is a non-empty string. */
export const toNonEmptyString = (value: unknown): string | undefined =>
  isNonEmptyString(value) ? value : undefined

/** Returns the value if it can be a time: a finite number that is not negative. */
export function toTime(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}

/** Returns the earliest of several ends of which some are not known. */
export function toEarliest(...times: readonly (number | undefined)[]): number | undefined {
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

/** Returns the tokens without values of another type. */
export function toTokens(tokens: { readonly [Name in keyof FormerTokens]: unknown }): FormerTokens {
  return {
    accessToken: toNonEmptyString(tokens.accessToken),
    expiresAt: toTime(tokens.expiresAt),
    refreshToken: toNonEmptyString(tokens.refreshToken),
    scope: toNonEmptyString(tokens.scope),
    requestedScope: toNonEmptyString(tokens.requestedScope),
    audience: toNonEmptyString(tokens.audience),
    token_type: toNonEmptyString(tokens.token_type),
  }
}

/** Returns the times of a session that a library keeps in the header of its cookie, or null if they are not complete. */
export function toTimes({
  iat,
  uat,
  exp,
}: OpenedJwe['header']): Required<Pick<FormerSession, 'createdAt' | 'usedAt' | 'expiresAt'>> | null {
  const createdAt = toTime(iat)
  const usedAt = toTime(uat)
  const expiresAt = toTime(exp)
  return createdAt === undefined || usedAt === undefined || expiresAt === undefined
    ? null
    : { createdAt, usedAt, expiresAt }
}
