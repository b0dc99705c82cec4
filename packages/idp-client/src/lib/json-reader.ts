/**
 * Property of a store's `get` that returns what it parsed together with the JSON. Nothing else refers to that object, so the
 * library does not copy it. A `get` that replaces or wraps it lacks this property. All copies of the package share the symbol.
 */
const READ_JSON: unique symbol = Symbol.for('idp-client/read-json')

/** A value, and the JSON that it was parsed from. */
export interface ParsedJson<T> {
  readonly value: T
  readonly json: string
}

/** Creates the function `get` of a store, from the one that returns the JSON too. */
export function withJson<T>(
  read: (id: string) => Promise<ParsedJson<T> | null>,
): (id: string) => Promise<T | null> {
  return Object.assign(async (id: string) => (await read(id))?.value ?? null, { [READ_JSON]: read })
}

/** Returns the function that returns the JSON, too; undefined for a function that `withJson` did not create. */
export function jsonReader(get: unknown): ((id: string) => Promise<ParsedJson<unknown> | null>) | undefined {
  return (get as { [READ_JSON]?: (id: string) => Promise<ParsedJson<unknown> | null> })[READ_JSON]
}
