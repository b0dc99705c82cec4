import type { KoaContextWithOIDC } from 'oidc-provider'
import type { ProviderState } from '../oidc/state.ts'
import type { Organization, User } from '../users.ts'

/** The organization that a request names by its id, or by its name in any case, if the user belongs to it. */
export function findMembership(user: User | undefined, asked: string | undefined): Organization | undefined {
  if (asked === undefined) return undefined
  const name = asked.toLowerCase()
  return user?.organizations.find((one) => one.id === asked || one.name.toLowerCase() === name)
}

/** Rejects a login for an organization that its user does not belong to. */
export function demandMembership({ oidc: { errors }, users }: ProviderState, ctx: KoaContextWithOIDC): void {
  const asked: unknown = ctx.oidc.params?.['organization']
  const sub = ctx.oidc.account?.accountId
  if (typeof asked !== 'string' || asked === '' || sub === undefined) return
  if (findMembership(users.bySub(sub), asked)) return
  throw new errors.AccessDenied('the user is not a member of the organization')
}
