import type { Config } from '../config/config.ts'
import { isSameName } from '../lib/same-name.ts'
import { vendorValue } from './vendor.ts'

type OrganizationClaims = Readonly<Partial<Record<'org_id' | 'org_name', unknown>>>

const isAbsent = (claim: unknown): boolean => claim === undefined || claim === null

/**
 * Compares the organization of an ID token with that of an earlier one of the session; without any in both it is the same.
 * Compares only claims of the earlier token, because a provider may start to send the name along with the id.
 */
export function compareOrganization(
  claims: OrganizationClaims,
  previous: OrganizationClaims,
): 'same' | 'absent' | 'other' {
  const names = ['org_id', 'org_name'] as const
  const known = names.filter((name) => !isAbsent(previous[name]))
  if (known.length === 0) return names.every((name) => isAbsent(claims[name])) ? 'same' : 'other'
  const present = known.filter((name) => !isAbsent(claims[name]))
  const isEqual = present.every((name) => JSON.stringify(claims[name]) === JSON.stringify(previous[name]))
  if (!isEqual) return 'other'
  return present.length === known.length ? 'same' : 'absent'
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
