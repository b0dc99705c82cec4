/** Defines a property that is computed when it is first read. A closure keeps the value, since the object may be frozen. */
export function onFirstRead(holder: Record<string, unknown>, name: string, compute: () => unknown): void {
  let made: { value: unknown } | undefined
  Object.defineProperty(holder, name, {
    configurable: true,
    enumerable: true,
    get() {
      made ??= { value: compute() }
      return made.value
    },
    set(value: unknown) {
      made = { value }
    },
  })
}
