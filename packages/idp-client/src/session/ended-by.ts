import type { LogoutToken } from '../config/options.ts'

/** Properties of a session that a logout token may match. */
export interface Owner {
  readonly sub: string
  readonly sid: string | undefined
  readonly iss: string | undefined
  /** Seconds since the epoch. */
  readonly createdAt: number
}

/** Tolerated difference between the clocks of provider and application, in seconds. */
const TOLERANCE = 60

/**
 * Returns whether the token ends the session: by `sid` alone if it has one, otherwise every session of the user that
 * began before it; never one of another issuer.
 */
export function isEndedBy({ createdAt, iss, sid, sub }: Owner, token: LogoutToken): boolean {
  if (token.iss !== undefined && iss !== undefined && token.iss !== iss) return false
  if (token.sid !== undefined) return token.sid === sid
  return token.sub === sub && !(token.iat !== undefined && createdAt > token.iat + TOLERANCE)
}
