/**
 * Whether two texts are the same name. Case does not count. Characters that only look alike do: NFC joins none of them,
 * NFKC would.
 */
export function isSameName(one: string, other: string): boolean {
  return written(one) === written(other)
}

const written = (name: string): string => name.normalize('NFC').toLowerCase()
