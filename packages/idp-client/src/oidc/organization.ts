import type { Config } from '../config/config.ts'
import { isSameName } from '../lib/same-name.ts'
import { vendorValue } from './vendor.ts'

/**
 * Whether claims name this organization, by id (`org_id`) or name (`org_name`). What looks like an id is no name: whoever
 * may name an organization could give it the id of another one.
 */
export function isOfOrganization(
  config: Pick<Config, 'vendor'>,
  { org_id: id, org_name: name }: { readonly org_id?: unknown; readonly org_name?: unknown },
  organization: string,
): boolean {
  if (id === organization) return true
  const isName = !organization.startsWith(vendorValue(config, 'organizationIdPrefix'))
  return isName && typeof name === 'string' && isSameName(name, organization)
}
