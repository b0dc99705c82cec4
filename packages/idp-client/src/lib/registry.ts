/**
 * One process may load this package several times (Next instantiates the application's auth module once per realm of
 * its server, and Pages Router and App Router may load two copies). What must be shared lives here, in slots on one
 * global symbol. Every slot keys its entries by what makes a client the same client; nothing is shared by position.
 */
const root = Symbol.for('idp-client')

/**
 * - `cache`: can be fetched or derived again
 * - `mark`: names that are remembered, so that nothing happens twice; without tokens
 * - `state`: what no browser, store or provider has (yet)
 * - `queue`: what is running and what waits for it
 */
export type SlotKind = 'cache' | 'mark' | 'state' | 'queue'

/** Kind, name, and a version that changes with the shape: two versions of this package may meet in one process. */
export type Slot = `${SlotKind}:${string}/${number}`

type Slots = Map<string, unknown>

function slots(): Slots {
  const holder = globalThis as { [root]?: Slots }
  holder[root] ??= new Map()
  return holder[root]
}

/** Returns the process-wide value of a slot, and creates it at the first call. */
export function shared<T>(slot: Slot, create: () => T): T {
  const all = slots()
  if (!all.has(slot)) all.set(slot, create())
  return all.get(slot) as T
}

/** Returns the key of an entry: different parts never have the same key. */
export function toKey(...parts: readonly unknown[]): string {
  return JSON.stringify(parts)
}
