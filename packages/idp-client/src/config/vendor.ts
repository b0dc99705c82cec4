import type { Source } from './readers.ts'
import { invalid, readGroup, toField } from './readers.ts'
import { nearestName, printable } from './unknown-keys.ts'

const VENDOR_KEYS = [
  'logoutPath',
  'logoutReturnToParameter',
  'federatedLogoutParameter',
  'connectionTokenGrantType',
  'connectionTokenType',
  'organizationIdPrefix',
  'mfaOtpGrantType',
  'mfaOobGrantType',
  'mfaRecoveryCodeGrantType',
  'accountAudience',
  'accountApiPath',
  'accountCreateScope',
  'accountReadScope',
  'accountDeleteScope',
  'accountCursorParameter',
  'mfaAuthenticatorsPath',
  'mfaChallengePath',
  'mfaAssociatePath',
  'mfaPushChannel',
] as const

/** Names of the wire values that no standard defines. */
export type VendorKey = (typeof VENDOR_KEYS)[number]

const isVendorKey = (name: string): boolean => VENDOR_KEYS.some((key) => key === name)

function noteUnknown(name: string, { addIssue }: Source): void {
  const meant = nearestName(name, VENDOR_KEYS)
  const hint = meant === undefined ? '' : ` Did you mean vendor.${meant}?`
  const shown = printable.test(name) ? `vendor.${name}` : 'A key in vendor'
  addIssue('notice', `${shown} is not a known option and has no effect.${hint}`)
}

/** The wire values that replace built-in ones. */
export function resolveVendor(source: Source): Readonly<Record<string, string>> {
  const given: object = readGroup('vendor', source.options.vendor, source)
  const texts = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    if (typeof value !== 'string')
      invalid(toField('vendor', given, source), 'has a property that is not a string')
    else if (isVendorKey(name)) return [[name, value] as const]
    else noteUnknown(name, source)
    return []
  })
  return Object.fromEntries(texts)
}
