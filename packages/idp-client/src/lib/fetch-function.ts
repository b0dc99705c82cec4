/** A function like the global `fetch`, without the properties that runtimes add to it, such as `preconnect` of Bun. */
export type FetchFunction = (
  ...args: Parameters<typeof globalThis.fetch>
) => ReturnType<typeof globalThis.fetch>
