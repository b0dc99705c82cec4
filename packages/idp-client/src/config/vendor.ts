import type { IdpClientOptions } from './options.ts'
import type { Note } from './readers.ts'
import { field, readGroup, refuse } from './readers.ts'
import { nearestName, printable } from './unknown-keys.ts'

const rows = {
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
} as const

/** Names of the wire values that no standard defines. */
export type VendorKey = keyof typeof rows

function noteUnknown(name: string, note: Note): void {
  const meant = nearestName(name, Object.keys(rows))
  const hint = meant === undefined ? '' : ` Did you mean vendor.${meant}?`
  const shown = printable.test(name) ? `vendor.${name}` : 'A key in vendor'
  note('notice', `${shown} is no option and has no effect.${hint}`)
}

/** The rows that replace built-in wire values. */
export function resolveVendor(options: IdpClientOptions, note: Note): Readonly<Record<string, string>> {
  const given: object = readGroup('vendor', options.vendor, note)
  const texts = Object.entries(given).flatMap(([name, value]) => {
    if (value === undefined || value === null) return []
    if (typeof value !== 'string') refuse(field('vendor', given), note, 'has a member that is no string')
    else if (Object.hasOwn(rows, name)) return [[name, value] as const]
    else noteUnknown(name, note)
    return []
  })
  return Object.fromEntries(texts)
}
