import { setOwn, shallowCopy } from '../../lib/own-properties.ts'

/** Returns a deep copy of JSON; undefined for a value that a round trip through JSON would change. */
function copyOfJson(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || value === null) return value
  if (typeof value !== 'object') return Number.isFinite(value) ? value : undefined
  if (Array.isArray(value)) {
    const items = Array.from(value, copyOfJson)
    return items.includes(undefined) ? undefined : items
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return undefined
  const copy = shallowCopy(value as Record<string, unknown>)
  for (const name of Object.keys(copy)) {
    const given = copy[name]
    const property = copyOfJson(given)
    if (property === undefined) return undefined
    if (property !== given) setOwn(copy, name, property)
  }
  return copy
}

/** Returns a deep copy of a value as JSON would have it; a store may return values of other types, such as dates. */
export function jsonCopy<T extends object>(value: T): T {
  return (copyOfJson(value) ?? JSON.parse(JSON.stringify(value))) as T
}
