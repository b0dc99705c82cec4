/** Computes a member when it is first read. The value is kept beside the object, which may have been frozen by then. */
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
