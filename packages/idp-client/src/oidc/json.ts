import { isObject } from '../lib/objects.ts'

/** A JSON object of the provider. Read its properties by name only: the provider decides which ones it has. */
export type JsonObject = { readonly [member: string]: unknown }

const withoutPrototype = (key: string, value: unknown): unknown => (key === '__proto__' ? undefined : value)

function parse(text: string): unknown {
  try {
    // The name as it is, or with any of its letters escaped. A reviver makes parsing several times slower.
    const mayNamePrototype = text.includes('__proto__') || text.includes('\\u')
    return mayNamePrototype ? JSON.parse(text, withoutPrototype) : JSON.parse(text)
  } catch {
    // The parser's own error quotes the input, which may contain tokens.
    return null
  }
}

/**
 * Parses a JSON object; returns `null` for any other input. Properties named `__proto__` are dropped at every depth, so
 * that code which merges the result later cannot pollute a prototype.
 */
export function parseObject(text: string): JsonObject | null {
  const value = parse(text)
  return isObject(value) ? value : null
}

/** Parses an array of JSON objects in the same way; returns `null` for any other input. */
export function parseObjects(text: string): readonly JsonObject[] | null {
  const value = parse(text)
  return Array.isArray(value) && value.every(isObject) ? value : null
}

/** One entry of `authorization_details` (RFC 9396 section 2). */
export type TypedObject = JsonObject & { readonly type: string }

const isTyped = (value: unknown): value is TypedObject => isObject(value) && typeof value['type'] === 'string'

/** How deep granted details may be nested. They are written as JSON, which fails at thousands of levels. */
const MAX_DEPTH = 64

function isNestedWithin(depth: number, value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return depth > 0 && Object.values(value).every((inner) => isNestedWithin(depth - 1, inner))
}

/**
 * Returns the granted details of a token response (RFC 9396 section 7). A value of another shape, or nested too deep, counts as an
 * empty list, because nothing in it can be compared with what was requested.
 */
export function toGrantedDetails(value: unknown): TypedObject[] {
  return Array.isArray(value) && value.every(isTyped) && isNestedWithin(MAX_DEPTH, value) ? value : []
}

/** Returns the property unless it is missing or empty; `undefined` for the body of a response that is not an object, too. */
export function stringProperty(object: JsonObject | null, name: string): string | undefined {
  const value = object?.[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

export function stringList(object: JsonObject | null, name: string): string[] | undefined {
  const value = object?.[name]
  return Array.isArray(value) ? value.filter((entry) => typeof entry === 'string') : undefined
}
