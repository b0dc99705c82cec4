import type { Config } from '../config/config.ts'
import { isSameName } from '../lib/same-name.ts'
import { vendorValue } from './vendor.ts'

type OrganizationClaims = Readonly<Partial<Record<'org_id' | 'org_name', unknown>>>

/**
 * Returns whether two ID tokens of one session name the same organization, or none. Only claims of the first token are
 * compared, because a provider may start to send the name along with the id.
 */
export function isSameOrganization(claims: OrganizationClaims, previous: OrganizationClaims): boolean {
  const names = ['org_id', 'org_name'] as const
  const known = names.filter((name) => (previous[name] ?? undefined) !== undefined)
  return (known.length > 0 ? known : names).every(
    (name) => JSON.stringify(claims[name] ?? undefined) === JSON.stringify(previous[name] ?? undefined),
  )
}

/**
 * Returns whether claims name this organization, by id (`org_id`) or name (`org_name`). A value that looks like an id
 * is never compared with names: an organization could be named like the id of another one.
 */
export function isOfOrganization(
  config: Pick<Config, 'vendor'>,
  { org_id: id, org_name: name }: OrganizationClaims,
  organization: string,
): boolean {
  if (id === organization) return true
  const isName = !organization.startsWith(vendorValue(config, 'organizationIdPrefix'))
  return isName && typeof name === 'string' && isSameName(name, organization)
}
