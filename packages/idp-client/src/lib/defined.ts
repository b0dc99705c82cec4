import { setOwn } from './own-properties.ts'

/** Names of the properties that may be undefined. */
type OptionalName<T> = {
  [Name in keyof T]-?: unknown extends T[Name] ? never : undefined extends T[Name] ? Name : never
}[keyof T]

/** An object without the properties that are undefined: those that may be become optional. */
export type Defined<T> = T extends unknown
  ? Omit<T, OptionalName<T>> & { [Name in OptionalName<T>]?: Exclude<T[Name], undefined> }
  : never

/** Returns a copy of an object without the properties that are undefined, in the same order. */
export function defined<const T extends object>(value: T): Defined<T> {
  const copy: Record<string, unknown> = {}
  for (const [name, each] of Object.entries(value)) if (each !== undefined) setOwn(copy, name, each)
  return copy as Defined<T>
}
