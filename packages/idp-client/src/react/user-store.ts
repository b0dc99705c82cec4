import type { User } from '../session/session-data.ts'

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
  readonly entry: (url: string) => UserEntry
}

/** Milliseconds. */
const throttle = 5_000

const loading: UserState = { user: null, isLoading: true, error: null }
const known = (user: User | null): UserState => ({ user, isLoading: false, error: null })

/** One entry per address, however many components ask. `seeds` are users known from the start (null: nobody is signed in). */
export function createUserStore(seeds: ReadonlyMap<string, User | null> = new Map()): UserStore {
  const entries = new Map<string, UserEntry>()
  return {
    entry(url) {
      const existing = entries.get(url)
      if (existing) return existing
      const seed = seeds.get(url)
      const created = createEntry(url, seed === undefined ? loading : known(seed))
      entries.set(url, created)
      return created
    },
  }
}

function createEntry(url: string, initial: UserState): UserEntry {
  const listeners = new Set<() => void>()
  let state = initial
  let flight: Promise<void> | undefined
  let following: Promise<void> | undefined
  // The clock is not read before the first subscription: a prerender must not touch it.
  let askedAt: number | undefined

  function change(next: UserState): void {
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

  function revisit(event: Event): void {
    if (document.visibilityState === 'hidden') return
    // A page taken out of the back/forward cache may be from before a logout: it is always checked.
    const restored = event.type === 'pageshow'
    if (restored && !('persisted' in event && event.persisted)) return
    const recent = askedAt !== undefined && performance.now() - askedAt < throttle
    if (restored || state.error || !recent) void share()
  }

  function subscribe(listener: () => void): () => void {
    listeners.add(listener)
    if (listeners.size === 1) listen(revisit, true)
    if (state.isLoading || state.error) void share()
    askedAt ??= performance.now()
    return () => {
      listeners.delete(listener)
      if (listeners.size === 0) listen(revisit, false)
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

function listen(revisit: (event: Event) => void, on: boolean): void {
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
    const response = await fetch(url, { credentials: 'same-origin', headers: { accept: 'application/json' } })
    if (response.status === 204 || response.status === 401) return known(null)
    if (response.status !== 200) return failed(`The profile route answered with status ${response.status}.`)
    const user: unknown = await response.json().catch(() => undefined)
    if (!isUser(user)) return failed(misrouted)
    return isSame(user, last) ? last : known(user)
  } catch (error) {
    return failed('The profile route cannot be reached.', error)
  }
}

const misrouted =
  'The answer of the profile route is not a user. Check that the proxy or middleware matches it, and its path in <IdpProvider>.'

function isUser(value: unknown): value is User {
  return typeof value === 'object' && value !== null && 'sub' in value && typeof value.sub === 'string'
}

function isSame(user: User, { user: last, error }: UserState): boolean {
  return last !== null && error === null && JSON.stringify(user) === JSON.stringify(last)
}
