import type { User } from '../session/model/session-data.ts'
import { requests } from './on-demand.ts'
import type { UserState } from './page-state.ts'
import { forgetTokens, known, toIdentity } from './page-state.ts'
import type { RouteRequestError } from './request-error.ts'
import type { Watcher } from './watcher.ts'

const loading: UserState = { user: null, isLoading: true, error: null }

/** The user of one profile route. The functions need no `this`. */
export interface UserEntry {
  readonly current: () => UserState
  /** State that the server rendered: React compares it with the page during hydration. */
  readonly initial: () => UserState
  /** Adds a listener. The first one starts the request, unless the user is known. */
  readonly subscribe: (listener: () => void) => () => void
  /** Requests the user again; does not join a pending request, which may be older than the change. */
  readonly refresh: () => Promise<void>
  /** Replaces the user by the one that the server has rendered since. */
  readonly seed: (user: User | null) => void
}

export interface UserStore {
  readonly entry: (url: string, seed?: User | null) => UserEntry
  /** Requests every known user again, also one that no component shows at the moment: the session may have ended. */
  readonly recheck: () => void
}

/** An entry as its watcher sees it, which is loaded later. */
export interface Watched {
  readonly url: string
  readonly current: () => UserState
  readonly change: (next: UserState) => void
  readonly listeners: ReadonlySet<unknown>
  /** Returns how often the server has rendered a user since. */
  readonly seeds: () => number
}

/**
 * Creates a store with one entry per URL, shared by all components. A `seed` is a user that is known from the start
 * (`null`: none).
 */
export function createUserStore(): UserStore {
  const entries = new Map<string, UserEntry>()
  return {
    entry(url, seed) {
      const entry = entries.get(url) ?? createEntry(url, seed === undefined ? loading : known(seed))
      entries.set(url, entry)
      return entry
    },
    recheck() {
      for (const { current, refresh } of entries.values()) if (current().user) void refresh()
    },
  }
}

function notify(listener: () => void): void {
  // A failing listener must not hide a sign-out from the others.
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
    const { error, isLoading, user } = state
    state = next
    const isOther = toIdentity(user) !== toIdentity(next.user)
    // Tokens requested before the first response are those of its user, unless nobody is signed in by then.
    if ((isOther && !isLoading) || !(next.user || next.error)) forgetTokens()
    if (isOther || isLoading || error) watcher?.post()
    for (const listener of [...listeners]) notify(listener)
  }

  const self: Watched = {
    url,
    current: () => state,
    change,
    listeners,
    seeds: () => seeds,
  }

  /**
   * Loads the watcher and calls `use`. Never rejects: if it cannot be loaded, the state gets the error of a failed
   * request if one was pending.
   */
  async function withWatcher(use: (watcher: Watcher) => unknown, isRequest?: boolean): Promise<void> {
    try {
      const { watch } = await requests()
      watcher ??= watch(self)
    } catch (error) {
      if (isRequest || state.isLoading)
        change({ ...state, isLoading: false, error: error as RouteRequestError })
      // Absent if a test has removed its environment meanwhile.
      for (const type of ['focus', 'online']) globalThis.addEventListener?.(type, attend, { once: true })
      return
    }
    await use(watcher)
  }

  const restored = ({ persisted }: PageTransitionEvent): void => {
    if (persisted) void refresh()
  }

  const attend = (): void => void withWatcher(({ attend }) => attend())

  function subscribe(listener: () => void): () => void {
    // A server renders the known state and must not start anything.
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

  const refresh = (): Promise<void> => withWatcher(({ refresh }) => refresh(), true)

  return { current: self.current, initial: () => initial, subscribe, refresh, seed }
}
