import { setOwn } from '../../lib/own-properties.ts'
import { isDeferred, onFirstRead } from './on-first-read.ts'
import type { SessionData } from './session-data.ts'

/** Returns a deep copy of JSON. Spreading copies a property named `__proto__` like any other. */
function copyOfJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOfJson)
  const copy: Record<string, unknown> = { ...value }
  for (const name of Object.keys(copy)) {
    const property = copy[name]
    if (typeof property === 'object' && property !== null) copy[name] = copyOfJson(property)
  }
  return copy
}

/** Returns whether a round trip through JSON would not change the value. */
function isJson(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  if (typeof value !== 'object') return typeof value === 'string' || typeof value === 'boolean'
  if (value === null) return true
  if (Array.isArray(value)) return value.every(isJson)
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype && Object.values(value).every(isJson)
}

/** Returns a deep copy of a session as JSON would have it; a store may return values of other types, such as dates. */
export function jsonCopy(data: SessionData): SessionData {
  return (isJson(data) ? copyOfJson(data) : JSON.parse(JSON.stringify(data))) as SessionData
}

/**
 * Returns a copy of a session for the application, so that its changes do not affect the session of the library. Properties
 * that are computed when they are first read are copied then, but the user now: applications print the session.
 */
export function detachedCopy(data: SessionData): SessionData {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(data)) {
    if (name !== 'user' && isDeferred(data, name)) onFirstRead(copy, name, () => copyOfJson(data[name]))
    else setOwn(copy, name, copyOfJson(data[name]))
  }
  return copy as SessionData
}
