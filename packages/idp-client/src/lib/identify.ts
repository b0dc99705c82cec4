import { processWide } from './registry.ts'

interface Identities {
  readonly known: WeakMap<object, number>
  last: number
}

/** Returns a number that names an object of the application in keys, such as its store; it keeps no object alive. */
export function identify(object: object): number {
  const identities = processWide<Identities>('cache:identities/1', () => ({ known: new WeakMap(), last: 0 }))
  const known = identities.known.get(object)
  if (known !== undefined) return known
  identities.last += 1
  identities.known.set(object, identities.last)
  return identities.last
}
