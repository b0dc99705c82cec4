import type { Config } from '../config/config.ts'
import type { VendorKey } from '../config/vendor.ts'

/**
 * Wire values that no standard defines: what the providers understand that offer these functions, sent byte for byte.
 * The option `vendor` replaces single rows for a provider that spells them differently.
 */
const values = {
  /** Logout without OpenID Connect: path below the origin of the provider, or a URL, and its parameters. */
  logoutPath: '/v2/logout',
  logoutReturnToParameter: 'returnTo',
  /** Parameter that also ends the session at the upstream identity provider; its presence counts. */
  federatedLogoutParameter: 'federated',
  connectionTokenGrantType:
    'urn:auth0:params:oauth:grant-type:token-exchange:federated-connection-access-token',
  connectionTokenType: 'http://auth0.com/oauth/token-type/federated-connection-access-token',
  /** What the `organization` parameter is when it is an id (claim `org_id`); anything else is a name (`org_name`). */
  organizationIdPrefix: 'org_',
  mfaOtpGrantType: 'http://auth0.com/oauth/grant-type/mfa-otp',
  mfaOobGrantType: 'http://auth0.com/oauth/grant-type/mfa-oob',
  mfaRecoveryCodeGrantType: 'http://auth0.com/oauth/grant-type/mfa-recovery-code',
  /** Audience of the account API, below the issuer. */
  accountAudience: 'me/',
  /** Path of connected accounts, below the origin of the provider, and the scopes that it demands. */
  accountApiPath: '/me/v1/connected-accounts',
  accountCreateScope: 'create:me:connected_accounts',
  accountReadScope: 'read:me:connected_accounts',
  accountDeleteScope: 'delete:me:connected_accounts',
  /** Query parameter that takes the cursor of the page before. */
  accountCursorParameter: 'next',
  /** MFA API: paths below the origin of the provider, also where the issuer has a path of its own. */
  mfaAuthenticatorsPath: '/mfa/authenticators',
  mfaChallengePath: '/mfa/challenge',
  mfaAssociatePath: '/mfa/associate',
  /** `oob_channel` of push notifications. */
  mfaPushChannel: 'auth0',
} as const satisfies Record<VendorKey, string>

/** The wire value of this client's provider. */
export function vendorValue(config: Pick<Config, 'vendor'>, key: VendorKey): string {
  return config.vendor[key] ?? values[key]
}
