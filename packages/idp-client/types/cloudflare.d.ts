/** The function of the Workers runtime that the library uses. */
declare module 'cloudflare:workers' {
  export const waitUntil: ((work: Promise<unknown>) => void) | undefined
}
