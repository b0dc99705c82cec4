import type { Code, CodeEntry } from './codes.ts'
import { codes } from './codes.ts'

type Rows = typeof codes
type NamesIn<Row> = Row extends { readonly also: readonly (infer Other)[]; readonly class: infer Name }
  ? Name | Other
  : Row extends { readonly class: infer Name }
    ? Name
    : never

/** The codes of a class, such as `CodesOf<'AccessTokenError'>`. */
export type CodesOf<Name extends Rows[Code]['class']> = {
  [Each in Code]: Name extends NamesIn<Rows[Each]> ? Each : never
}[Code]

/** The codes of a class, each under its own name. */
export function toCodeNames<Name extends Rows[Code]['class']>(
  name: Name,
): { readonly [Each in CodesOf<Name>]: Each } {
  const rows: readonly (readonly [string, CodeEntry])[] = Object.entries(codes)
  const own = rows.flatMap(([code, row]) =>
    row.class === name || row.also?.includes(name) ? [[code, code]] : [],
  )
  return Object.fromEntries(own) as { readonly [Each in CodesOf<Name>]: Each }
}
