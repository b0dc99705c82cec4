import type { User } from '../session/model/session-data.ts'
import { requests } from './on-demand.ts'
import type { RouteRequestError } from './request-error.ts'
import { forgetTokens } from './token-epoch.ts'
import type { UserState } from './user-state.ts'
import { known, loading } from './user-state.ts'
import type { Watcher } from './watcher.ts'

/** The user behind one profile route. The functions need no `this`. */
export interface UserEntry {
  readonly current: () => UserState
  /** The state that the server rendered: React compares it with the page while it hydrates. */
  readonly initial: () => UserState
  /** The first subscriber starts the request, if there is anything to ask for. */
  readonly subscribe: (listener: () => void) => () => void
  /** Asks again; a request that is on its way already does not count, since it may be older than the change. */
  readonly refresh: () => Promise<void>
  /** Takes over what the server has rendered since. */
  readonly seed: (user: User | null) => void
}

export interface UserStore {
  readonly entry: (url: string, seed?: User | null) => UserEntry
}

/** An entry as its watcher sees it, which loads later. */
export interface Watched {
  readonly url: string
  readonly current: () => UserState
  readonly change: (next: UserState) => void
  readonly listeners: ReadonlySet<unknown>
  /** How often the server has rendered a user since. */
  readonly seeds: () => number
}

/** One entry per address, however many components ask. A `seed` is a user known from the start (null: nobody). */
export function createUserStore(): UserStore {
  const entries = new Map<string, UserEntry>()
  return {
    entry(url, seed) {
      const entry = entries.get(url) ?? createEntry(url, seed === undefined ? loading : known(seed))
      entries.set(url, entry)
      return entry
    },
  }
}

function tell(listener: () => void): void {
  // A broken one must not keep a sign-out from the others.
  try {
    listener()
  } catch (error) {
    reportError(error)
  }
}

function createEntry(url: string, initial: UserState): UserEntry {
  const listeners = new Set<() => void>()
  let state = initial
  let seeds = 0
  let watcher: Watcher | undefined

  function change(next: UserState): void {
    const { isLoading, user } = state
    state = next
    if (isLoading || user?.sub !== next.user?.sub) {
      if (!isLoading) forgetTokens()
      watcher?.tell()
    }
    for (const listener of [...listeners]) tell(listener)
  }

  const self: Watched = {
    url,
    current: () => state,
    change,
    listeners,
    seeds: () => seeds,
  }

  /** Never rejects. A watcher that cannot be loaded counts as a failed request for its callers. */
  async function watched(use: (watcher: Watcher) => unknown, isRequest?: boolean): Promise<void> {
    try {
      const { watch } = await requests()
      watcher ??= watch(self)
    } catch (error) {
      if (isRequest || state.isLoading)
        change({ ...state, isLoading: false, error: error as RouteRequestError })
      // Absent where a test has taken its environment down meanwhile.
      for (const type of ['focus', 'online']) globalThis.addEventListener?.(type, attend, { once: true })
      return
    }
    await use(watcher)
  }

  const restored = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) void refresh()
  }

  const attend = (): void => void watched(({ attend }) => attend())

  function subscribe(listener: () => void): () => void {
    // A server renders what it has; nothing may begin there.
    if (typeof window === 'undefined') return () => undefined
    listeners.add(listener)
    window.addEventListener('pageshow', restored)
    attend()
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      window.removeEventListener('pageshow', restored)
      watcher?.attend()
    }
  }

  function seed(user: User | null): void {
    seeds++
    change(known(user))
  }

  const refresh = (): Promise<void> => watched(({ refresh }) => refresh(), true)

  return { current: self.current, initial: () => initial, subscribe, refresh, seed }
}
