import type { Code, CodeEntry } from './codes.ts'
import { codes } from './codes.ts'

/** The codes of a class, such as `CodesOf<'AccessTokenError'>`. */
export type CodesOf<Name extends (typeof codes)[Code]['class']> = {
  [Each in Code]: (typeof codes)[Each] extends { readonly class: Name }
    ? Each
    : (typeof codes)[Each] extends { readonly also: readonly (infer Other)[] }
      ? Name extends Other
        ? Each
        : never
      : never
}[Code]

/** The codes of a class, each under its own name. */
export function toCodeNames<Name extends (typeof codes)[Code]['class']>(
  name: Name,
): { readonly [Each in CodesOf<Name>]: Each } {
  const rows: readonly (readonly [string, CodeEntry])[] = Object.entries(codes)
  const own = rows.flatMap(([code, row]) =>
    row.class === name || row.also?.includes(name) ? [[code, code]] : [],
  )
  return Object.fromEntries(own) as { readonly [Each in CodesOf<Name>]: Each }
}
