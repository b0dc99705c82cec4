import { setOwn, shallowCopy } from '../../lib/own-properties.ts'
import type { SessionData } from './session-data.ts'

/** Returns a deep copy of JSON, in which a property named `__proto__` is like any other. */
function copyOfJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOfJson)
  const copy = shallowCopy(value as Record<string, unknown>)
  for (const name of Object.keys(copy))
    if (typeof copy[name] === 'object') setOwn(copy, name, copyOfJson(copy[name]))
  return copy
}

/** Returns a copy of a session for the application, so that its changes do not affect the session of the library. */
export const detachedCopy = (data: SessionData): SessionData => copyOfJson(data) as SessionData
