import type { Source } from './readers.ts'
import { invalid, readGroup, toField } from './readers.ts'
import { nearestName, printable } from './unknown-keys.ts'

/** Names of the wire values that no standard defines. */
export type VendorKey =
  | 'logoutPath'
  | 'logoutReturnToParameter'
  | 'federatedLogoutParameter'
  | 'connectionTokenGrantType'
  | 'connectionTokenType'
  | 'organizationIdPrefix'
  | 'mfaOtpGrantType'
  | 'mfaOobGrantType'
  | 'mfaRecoveryCodeGrantType'
  | 'accountAudience'
  | 'accountApiPath'
  | 'accountCreateScope'
  | 'accountReadScope'
  | 'accountDeleteScope'
  | 'accountCursorParameter'
  | 'mfaAuthenticatorsPath'
  | 'mfaChallengePath'
  | 'mfaAssociatePath'
  | 'mfaPushChannel'

/**
 * Wire values that no standard defines, as supporting providers spell them; sent byte for byte. The option `vendor`
 * overrides single values.
 */
export const vendorValues: Readonly<Record<VendorKey, string>> = {
  /** Proprietary logout: path below the origin of the provider, or a URL, and its parameters. */
  logoutPath: '/v2/logout',
  logoutReturnToParameter: 'returnTo',
  /** Parameter that also ends the session at the upstream identity provider; it has no value. */
  federatedLogoutParameter: 'federated',
  connectionTokenGrantType:
    'urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token',
  connectionTokenType: 'http://auth0.com/oauth/token-type/federated-connection-access-token',
  /** Prefix of an `organization` that is an id (claim `org_id`); anything else is a name (`org_name`). */
  organizationIdPrefix: 'org_',
  mfaOtpGrantType: 'http://auth0.com/oauth/grant-type/mfa-otp',
  mfaOobGrantType: 'http://auth0.com/oauth/grant-type/mfa-oob',
  mfaRecoveryCodeGrantType: 'http://auth0.com/oauth/grant-type/mfa-recovery-code',
  /** Audience of the account API, relative to the issuer. */
  accountAudience: 'me/',
  /** Path of connected accounts, below the origin of the provider, and its scopes. */
  accountApiPath: '/me/v1/connected-accounts',
  accountCreateScope: 'create:me:connected_accounts',
  accountReadScope: 'read:me:connected_accounts',
  accountDeleteScope: 'delete:me:connected_accounts',
  /** Query parameter for the cursor of the next page. */
  accountCursorParameter: 'next',
  /** MFA API: paths below the origin of the provider, even if the issuer has a path. */
  mfaAuthenticatorsPath: '/mfa/authenticators',
  mfaChallengePath: '/mfa/challenge',
  mfaAssociatePath: '/mfa/associate',
  /** `oob_channel` of push notifications. */
  mfaPushChannel: 'auth0',
}

function noteUnknown(name: string, { addIssue }: Source): void {
  const meant = nearestName(name, Object.keys(vendorValues))
  const hint = meant === undefined ? '' : ` Did you mean vendor.${meant}?`
  const shown = printable.test(name) ? `vendor.${name}` : 'A key in vendor'
  addIssue('notice', `${shown} is not a known option and has no effect.${hint}`)
}

/** Returns the wire values for the provider of this client. */
export function resolveVendor(source: Source): Readonly<Record<VendorKey, string>> {
  const given: object = readGroup('vendor', source.options.vendor, source)
  const texts = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    if (typeof value !== 'string')
      invalid(toField('vendor', given, source), 'has a property that is not a string')
    else if (Object.hasOwn(vendorValues, name)) return [[name, value] as const]
    else noteUnknown(name, source)
    return []
  })
  return { ...vendorValues, ...Object.fromEntries(texts) }
}
