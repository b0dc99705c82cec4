/** A JSON object of the provider. Read members by name only: which there are is up to the other side. */
export type JsonObject = { readonly [member: string]: unknown }

const withoutPrototype = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

/**
 * The JSON object in `text`, or null for anything else. Members named `__proto__` are dropped at every depth, so that
 * code which merges the result later pollutes nothing.
 */
export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text, withoutPrototype)
    return isObject(value) ? value : null
  } catch {
    // The parser's own error quotes the text, which may hold tokens.
    return null
  }
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
