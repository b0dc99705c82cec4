/**
 * Returns whether this is the edge runtime of Next.js, which shares no memory with the server, even in `next start`. Read from
 * the global object, because an edge build warns of any other property of `process` than `env`.
 */
export function isEdgeRuntime(): boolean {
  return (globalThis as { readonly EdgeRuntime?: unknown }).EdgeRuntime !== undefined
}
