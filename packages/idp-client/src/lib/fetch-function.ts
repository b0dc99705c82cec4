/** A `fetch` of the application: a function like the global one, without properties that runtimes add to that (`preconnect` of Bun). */
export type FetchFunction = (
  ...args: Parameters<typeof globalThis.fetch>
) => ReturnType<typeof globalThis.fetch>
