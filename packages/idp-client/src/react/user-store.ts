import type { User } from '../session/session-data.ts'
import { askRoute, membersOf, misrouted, unreachable } from './ask-route.ts'
import { forgetTokens } from './token-cache.ts'

/** What components see; replaced as a whole, never changed. */
export interface UserState {
  readonly user: User | null
  /** True until the first answer. */
  readonly isLoading: boolean
  readonly error: Error | null
}

/** The user behind one profile route. The functions need no `this`. */
export interface UserEntry {
  readonly current: () => UserState
  /** What the server rendered: React compares it with the page while it hydrates. */
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

/** Milliseconds. */
const throttle = 5_000

const loading: UserState = { user: null, isLoading: true, error: null }
const known = (user: User | null): UserState => ({ user, isLoading: false, error: null })

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

/** One function per entry that components show: asks again for a user. */
const shown = new Set<() => Promise<void> | null>()

/** Asks for the users again that components show: something else says that a session has ended. */
export function recheckUsers(): void {
  for (const recheck of shown) void recheck()
}

function createEntry(url: string, initial: UserState): UserEntry {
  const listeners = new Set<() => void>()
  let state = initial
  let flight: Promise<void> | undefined
  let following: Promise<void> | undefined
  // The clock is not read before the first subscription: a prerender must not touch it.
  let askedAt: number | undefined

  function change(next: UserState): void {
    if (!state.isLoading && state.user?.sub !== next.user?.sub) forgetTokens()
    state = next
    for (const listener of [...listeners]) listener()
  }

  async function load(): Promise<void> {
    const before = state
    askedAt = performance.now()
    const next = await request(url, before)
    // A seed that arrived meanwhile is newer than this answer.
    if (state === before && next !== before) change(next)
  }

  function share(): Promise<void> {
    flight ??= load().finally(() => {
      flight = undefined
    })
    return flight
  }

  function refresh(): Promise<void> {
    if (!flight) return share()
    following ??= flight.then(() => {
      following = undefined
      return share()
    })
    return following
  }

  const recheck = (): Promise<void> | null => state.user && refresh()

  function revisit(event: Event): void {
    if (document.visibilityState === 'hidden') return
    // A page taken out of the back/forward cache may be from before a logout: it is always checked.
    const { type, persisted } = event as Partial<PageTransitionEvent>
    if (type === 'pageshow' && !persisted) return
    const recent = askedAt !== undefined && performance.now() - askedAt < throttle
    if (persisted || state.error || !recent) void share()
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener)
    // What is there already is not added twice.
    listen(revisit, true)
    shown.add(recheck)
    if (state.isLoading || state.error) void share()
    askedAt ??= performance.now()
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      listen(revisit, false)
      shown.delete(recheck)
    }
  }

  return {
    current: () => state,
    initial: () => initial,
    subscribe,
    refresh,
    seed: (user) => change(known(user)),
  }
}

/** Calls back when the user returns to the page, and when the network does. */
export function listen(revisit: (event: Event) => void, on: boolean): void {
  const method = on ? 'addEventListener' : 'removeEventListener'
  document[method]('visibilitychange', revisit)
  for (const type of ['focus', 'online', 'pageshow']) window[method](type, revisit)
}

/** Never rejects. Returns `last` itself when nothing has changed, so that components do not render again. */
async function request(url: string, last: UserState): Promise<UserState> {
  const failed = (message: string, cause?: unknown): UserState => ({
    user: last.user,
    isLoading: false,
    error: new Error(message, { cause }),
  })
  try {
    const { status, body } = await askRoute(url)
    if (status === 204 || status === 401) return known(null)
    if (status !== 200) return failed(`The profile route answered with status ${status}.`)
    if (!isUser(body)) return failed(misrouted('profile'))
    return isSame(body, last) ? last : known(body)
  } catch (error) {
    return failed(unreachable('profile'), error)
  }
}

function isUser(value: unknown): value is User {
  return typeof membersOf<'sub'>(value).sub === 'string'
}

function isSame(user: User, { user: last, error }: UserState): boolean {
  return !error && JSON.stringify(user) === JSON.stringify(last)
}
