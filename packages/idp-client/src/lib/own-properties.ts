type Properties = Record<string, unknown>

/** Sets a property of the object itself; an assignment to `__proto__` would replace the prototype instead. */
export function setOwn(target: Properties, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(target, name, { value, configurable: true, enumerable: true, writable: true })
  else target[name] = value
}

/**
 * Adds the properties of another object, and returns `target`. For hundreds of properties V8 needs a multiple of the time to
 * spread two objects into a new one.
 */
export function addOwn(target: Properties, source: Readonly<Properties>): Properties {
  for (const name of Object.keys(source)) setOwn(target, name, source[name])
  return target
}
