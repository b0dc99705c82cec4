import type { User } from 'idp-client'

/** The friendliest claim that this user has; only `sub` is certain. */
export function displayName(user: User): string {
  return user.name || user.nickname || user.email || user.sub
}
