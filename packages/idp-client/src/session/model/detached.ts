import { onFirstRead } from './on-first-read.ts'
import type { SessionData } from './session-data.ts'

/** A copy of JSON. Spreading copies a member that is named `__proto__` as a member, and so does what follows. */
function copyOfJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOfJson)
  const copy: Record<string, unknown> = { ...value }
  for (const name of Object.keys(copy)) {
    const member = copy[name]
    if (typeof member === 'object' && member !== null) copy[name] = copyOfJson(member)
  }
  return copy
}

/**
 * Returns a session for the application: what it changes in there reaches nothing that the library reads or writes later.
 * Members that are made when they are first read are copied then.
 */
export function detachedCopy(data: SessionData): SessionData {
  const copy: Record<string, unknown> = {}
  const plain = { configurable: true, enumerable: true, writable: true }
  for (const name of Object.keys(data)) {
    if (Object.getOwnPropertyDescriptor(data, name)?.get)
      onFirstRead(copy, name, () => copyOfJson(data[name]))
    else Object.defineProperty(copy, name, { ...plain, value: copyOfJson(data[name]) })
  }
  return copy as SessionData
}
