/**
 * Property of a store's `get`: the function that returns what it parsed together with the JSON. Nothing else refers to that
 * object, so the library does not copy it. All copies of the package share the symbol.
 */
const READ_JSON: unique symbol = Symbol.for('idp-client/read-json')

/** A value, and the JSON that it was parsed from. */
export interface ParsedJson<T> {
  readonly value: T
  readonly json: string
}

type JsonReader<T> = (id: string) => Promise<ParsedJson<T> | null>

/** Creates the function `get` of a store, from the one that returns the JSON too. */
export function withJson<T>(read: JsonReader<T>): (id: string) => Promise<T | null> {
  const get = async (id: string): Promise<T | null> => (await read(id))?.value ?? null
  return Object.assign(get, { [READ_JSON]: { get, read } })
}

/**
 * Returns the function that returns the JSON, too; undefined for a function that `withJson` did not create. Spies and tracers
 * copy properties to the functions by which they replace others: these have to be called.
 */
export function jsonReader(get: unknown): JsonReader<unknown> | undefined {
  const known = (get as { [READ_JSON]?: { get: unknown; read: JsonReader<unknown> } })[READ_JSON]
  return known?.get === get ? known?.read : undefined
}
