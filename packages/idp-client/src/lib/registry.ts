/**
 * One process may load this package several times (Next.js evaluates the application's auth module once per realm of its
 * server, and Pages Router and App Router may load two copies). The copies share the registry: a map on one global symbol.
 * Its entries are created by `processWide`. Clients share entries, so the keys in an entry contain whatever two clients must
 * not share.
 */
const root = Symbol.for('idp-client')

/**
 * - `cache`: can be fetched or derived again
 * - `mark`: names that are remembered, so that nothing happens twice; without tokens
 * - `state`: what no browser, store or provider has (yet)
 * - `queue`: what is running and what waits for it
 */
export type EntryKind = 'cache' | 'mark' | 'state' | 'queue'

/** Kind, name, and a version that changes with the shape: two versions of this package may meet in one process. */
export type EntryName = `${EntryKind}:${string}/${number}`

type Registry = Map<string, unknown>

function registry(): Registry {
  const holder = globalThis as { [root]?: Registry }
  holder[root] ??= new Map()
  return holder[root]
}

/** Returns the value of a registry entry, which all copies of the package share. Creates it at the first call. */
export function processWide<T>(name: EntryName, create: () => T): T {
  const entries = registry()
  if (!entries.has(name)) entries.set(name, create())
  return entries.get(name) as T
}

/** Like `processWide`, with a value for each object of the application, such as its store. It keeps no object alive. */
export function processWideFor<T>(name: EntryName, object: object, create: () => T): T {
  const values = processWide(name, () => new WeakMap<object, T>())
  const value = values.get(object) ?? create()
  values.set(object, value)
  return value
}

/**
 * Returns a function that creates a value for each object at its first call with it, for this copy of the package only. It keeps no
 * object alive.
 */
export function perObject<Key extends object, Value extends object>(
  create: (key: Key) => Value,
): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => {
    const known = values.get(key)
    if (known) return known
    const value = create(key)
    values.set(key, value)
    return value
  }
}

/** Returns one string for several parts. Different parts never have the same key. */
export function toKey(...parts: readonly unknown[]): string {
  return JSON.stringify(parts)
}
