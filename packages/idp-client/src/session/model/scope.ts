/** Splits a scope, which is a set (RFC 6749 section 3.3): order and repetition have no meaning. */
function splitScope(scope: string | undefined): string[] {
  return scope?.split(/\s+/).filter((part) => part !== '') ?? []
}

/** Returns the union of scopes, in the order of their first occurrence. */
export function unitedScope(...scopes: (string | undefined)[]): string {
  return [...new Set(scopes.flatMap(splitScope))].join(' ')
}

/** Returns the parts of a scope that another one lacks. */
export function withoutScope(scope: string | undefined, other: string): string {
  const known = new Set(splitScope(other))
  return splitScope(scope)
    .filter((part) => !known.has(part))
    .join(' ')
}

/** Returns the parts of a scope that another one has, too. */
export function commonScope(scope: string, other: string): string {
  const known = new Set(splitScope(other))
  return splitScope(scope)
    .filter((part) => known.has(part))
    .join(' ')
}

export function coversScope(granted: string | undefined, wanted: string | undefined): boolean {
  const parts = new Set(splitScope(granted))
  return splitScope(wanted).every((part) => parts.has(part))
}

export function sameScope(one: string | undefined, other: string | undefined): boolean {
  return coversScope(one, other) && coversScope(other, one)
}

export function scopeSize(scope: string | undefined): number {
  return new Set(splitScope(scope)).size
}
