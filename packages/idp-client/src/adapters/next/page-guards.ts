import { processWide } from '../../lib/registry.ts'

/** The pages of the application, as far as this process knows. */
interface Pages {
  /** Whether the application has created a page guard. */
  hasGuards: boolean
  /** Whether a page or a route handler has run here: the proxy may have a process or a realm of its own. */
  haveRun: boolean
  /** Requests that have passed since then without a page guard. */
  unguarded: number
}

const pages = (): Pages =>
  processWide('mark:next-pages/1', () => ({ hasGuards: false, haveRun: false, unguarded: 0 }))

/** How many requests may pass before a missing guard counts: Next.js loads pages when it starts, some at their first request. */
const MAX_UNGUARDED = 1000

export function markPageGuard(): void {
  pages().hasGuards = true
}

/** Notes that a page or a route handler, and not only the proxy, runs in this process. */
export function markPagesRun(): void {
  pages().haveRun = true
}

/** Returns whether a page guard may handle a request that the proxy passes on. False only if this process knows that none exists. */
export function mayHavePageGuards(): boolean {
  const known = pages()
  if (known.hasGuards || !known.haveRun) return true
  known.unguarded += 1
  return known.unguarded <= MAX_UNGUARDED
}
