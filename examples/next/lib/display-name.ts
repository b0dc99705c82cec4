import type { User } from 'idp-client'

/** Returns the best name that the claims contain; only `sub` is always present. */
export function displayName(user: User): string {
  return user.name || user.nickname || user.email || user.sub
}
