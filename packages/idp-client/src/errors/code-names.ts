import type { CodesByClass, CodesOf } from './code.ts'
import { codes } from './codes.ts'

/** The codes of a class, each under its own name. */
export function toCodeNames<Name extends keyof CodesByClass>(
  name: Name,
): { readonly [Each in CodesOf<Name>]: Each } {
  const own = Object.entries(codes).flatMap(([code, row]) =>
    row.class === name || row.also?.includes(name) ? [[code, code]] : [],
  )
  return Object.fromEntries(own) as { readonly [Each in CodesOf<Name>]: Each }
}
