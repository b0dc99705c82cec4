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

const rows: Readonly<Record<VendorKey, true>> = {
  logoutPath: true,
  logoutReturnToParameter: true,
  federatedLogoutParameter: true,
  connectionTokenGrantType: true,
  connectionTokenType: true,
  organizationIdPrefix: true,
  mfaOtpGrantType: true,
  mfaOobGrantType: true,
  mfaRecoveryCodeGrantType: true,
  accountAudience: true,
  accountApiPath: true,
  accountCreateScope: true,
  accountReadScope: true,
  accountDeleteScope: true,
  accountCursorParameter: true,
  mfaAuthenticatorsPath: true,
  mfaChallengePath: true,
  mfaAssociatePath: true,
  mfaPushChannel: true,
}

function noteUnknown(name: string, { addIssue }: Source): void {
  const meant = nearestName(name, Object.keys(rows))
  const hint = meant === undefined ? '' : ` Did you mean vendor.${meant}?`
  const shown = printable.test(name) ? `vendor.${name}` : 'A key in vendor'
  addIssue('notice', `${shown} is not a known option and has no effect.${hint}`)
}

/** The rows that replace built-in wire values. */
export function resolveVendor(source: Source): Readonly<Record<string, string>> {
  const given: object = readGroup('vendor', source.options.vendor, source)
  const texts = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    if (typeof value !== 'string')
      invalid(toField('vendor', given, source), 'has a property that is not a string')
    else if (Object.hasOwn(rows, name)) return [[name, value] as const]
    else noteUnknown(name, source)
    return []
  })
  return Object.fromEntries(texts)
}
