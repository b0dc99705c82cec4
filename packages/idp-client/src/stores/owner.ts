import type { LogoutToken } from '../config/options.ts'
import type { SessionData, StoredInternalData } from '../session/session-data.ts'

/** What a logout token may name a session by. */
export interface Owner {
  readonly sub: string
  readonly sid: string | undefined
  readonly iss: string | undefined
}

export function ownerOf({ internal, user }: SessionData): Owner {
  const { iss, sid, sub = user.sub }: StoredInternalData = internal
  return { sub, sid, iss }
}

/** Whether the token ends the session: by `sid` alone when it has one, and never that of another issuer. */
export function isMeant({ iss, sid, sub }: Owner, token: LogoutToken): boolean {
  if (token.iss !== undefined && iss !== undefined && token.iss !== iss) return false
  return token.sid === undefined ? token.sub === sub : token.sid === sid
}
