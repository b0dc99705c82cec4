import { setOwn, shallowCopy } from '../../lib/own-properties.ts'
import { getDeferred, onFirstRead } from './on-first-read.ts'
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

/**
 * Returns a copy of a session for the application, so that its changes do not affect the session of the library. Properties
 * that are computed when they are first read are copied then, but the user now: applications print the session.
 */
export function detachedCopy(data: SessionData): SessionData {
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(data)) {
    const deferred = getDeferred(data, name)
    if (deferred && name !== 'user') onFirstRead(copy, name, () => copyOfJson(data[name]))
    else setOwn(copy, name, deferred?.compute?.() ?? copyOfJson(data[name]))
  }
  return copy as SessionData
}
