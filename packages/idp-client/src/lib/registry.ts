/**
 * One process may load this package several times (Next instantiates the application's auth module once per realm of
 * its server, and Pages Router and App Router may load two copies). What must be shared lives here, in slots on one
 * global symbol. Every slot keys its entries by what makes a client the same client; nothing is shared by position.
 */
const root = Symbol.for('idp-client')

type Slots = Map<string, unknown>

function slots(): Slots {
  const holder = globalThis as { [root]?: Slots }
  holder[root] ??= new Map()
  return holder[root]
}

/** The process-wide value of a slot, made at the first request for it. The name carries a version when the shape changes. */
export function shared<T>(slot: string, create: () => T): T {
  const all = slots()
  if (!all.has(slot)) all.set(slot, create())
  return all.get(slot) as T
}
