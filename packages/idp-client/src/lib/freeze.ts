import { isPlainObject } from './objects.ts'

function refuse(): never {
  throw new TypeError('This collection is read-only.')
}

function freezeCollection<T extends object>(collection: T, methods: readonly string[]): T {
  for (const method of methods) Object.defineProperty(collection, method, { value: refuse })
  return Object.freeze(collection)
}

/** Creates a map that its own methods cannot change; `Object.freeze` alone does not protect the entries of a map. */
export function frozenMap<K, V>(entries: Iterable<readonly [K, V]>): ReadonlyMap<K, V> {
  return freezeCollection(new Map(entries), ['set', 'delete', 'clear'])
}

export function frozenSet<T>(values: Iterable<T>): ReadonlySet<T> {
  return freezeCollection(new Set(values), ['add', 'delete', 'clear'])
}

/**
 * Freezes plain objects and arrays all the way down. Functions and instances of classes (keys, maps) stay as they are,
 * and so does `except`, an object that belongs to the application.
 */
export function deepFreeze<T>(value: T, except?: object): T {
  if (!(Array.isArray(value) || isPlainObject(value))) return value
  if (value === except || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const member of Object.values(value)) deepFreeze(member, except)
  return value
}
