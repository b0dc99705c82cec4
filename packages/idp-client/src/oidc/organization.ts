import type { Config } from '../config/config.ts'
import { isSameName } from '../lib/same-name.ts'
import { vendorValue } from './vendor.ts'

type OrganizationClaims = Readonly<Partial<Record<'org_id' | 'org_name', unknown>>>

/**
 * Whether two ID tokens of one session name the same organization, or none. The second may say less about it: a provider
 * may begin to send the name beside the id.
 */
export function isSameOrganization(claims: OrganizationClaims, previous: OrganizationClaims): boolean {
  const names = ['org_id', 'org_name'] as const
  const known = names.filter((name) => (previous[name] ?? undefined) !== undefined)
  return (known.length > 0 ? known : names).every(
    (name) => JSON.stringify(claims[name] ?? undefined) === JSON.stringify(previous[name] ?? undefined),
  )
}

/**
 * Whether claims name this organization, by id (`org_id`) or name (`org_name`). What looks like an id is no name: whoever
 * may name an organization could give it the id of another one.
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
