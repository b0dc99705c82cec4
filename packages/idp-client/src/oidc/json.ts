/** A JSON object of the provider. Read members by name only: which there are is up to the other side. */
export type JsonObject = { readonly [member: string]: unknown }

const withoutPrototype = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

function parse(text: string): unknown {
  try {
    return JSON.parse(text, withoutPrototype)
  } catch {
    // The parser's own error quotes the text, which may hold tokens.
    return null
  }
}

/**
 * The JSON object in `text`, or null for anything else. Members named `__proto__` are dropped at every depth, so that
 * code which merges the result later pollutes nothing.
 */
export function parseObject(text: string): JsonObject | null {
  const value = parse(text)
  return isObject(value) ? value : null
}

/** The JSON objects of the list in `text`, read alike; null when it is no list of objects. */
export function parseObjects(text: string): readonly JsonObject[] | null {
  const value = parse(text)
  return Array.isArray(value) && value.every(isObject) ? value : null
}

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function stringMember(object: JsonObject, name: string): string | undefined {
  const value = object[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function stringList(object: JsonObject, name: string): readonly string[] | undefined {
  const value = object[name]
  return Array.isArray(value)
    ? value.filter((entry): entry is string => typeof entry === 'string')
    : undefined
}
