/** Returns a function that creates a value for each object at its first call with it. It keeps no object alive. */
export function perObject<Key extends object, Value extends object>(
  create: (key: Key) => Value,
): (key: Key) => Value {
  const values = new WeakMap<Key, Value>()
  return (key) => {
    const known = values.get(key)
    if (known) return known
    const value = create(key)
    values.set(key, value)
    return value
  }
}
