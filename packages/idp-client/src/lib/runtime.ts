/**
 * Whether this runs in the edge runtime of Next.js, also within `next start`: it shares no memory with the server. Read from the
 * global object, because Next warns of everything but `process.env` in an edge build.
 */
export function isEdgeRuntime(): boolean {
  return (globalThis as { readonly EdgeRuntime?: unknown }).EdgeRuntime !== undefined
}
