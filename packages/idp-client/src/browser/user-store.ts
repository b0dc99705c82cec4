import type { User } from '../session/session-data.ts'
import type { Route } from './ask-route.ts'
import { askRoute, membersOf } from './ask-route.ts'
import type { RouteRequestError } from './request-error.ts'
import { listen, tellTabs } from './tabs.ts'
import { forgetTokens } from './token-cache.ts'

/** What components see; replaced as a whole, never changed. */
export interface UserState {
  readonly user: User | null
  /** True until the first answer. */
  readonly isLoading: boolean
  /** Why the last request failed, or that this user needs a new login for a token. */
  readonly error: RouteRequestError | null
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
const THROTTLE = 5_000

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

/** What somebody shows, to be told of what happens elsewhere. */
interface Shown {
  readonly refresh: () => Promise<void>
  readonly fail: (error: RouteRequestError) => void
}

const shown = new Set<Shown>()

/** Whether a change of the user is noticed by itself. */
export const isUserShown = (): boolean => shown.size > 0

/** Asks for the users again that are shown: the session may have become another one. */
export function recheckUsers(): void {
  for (const { refresh } of shown) void refresh()
}

/** Nothing but a new login brings a token again: said to everybody who shows the user, once for all who asked for one. */
export function reportFinal(error: RouteRequestError): void {
  // The session is gone: whoever shows its user learns it now, not at the next focus.
  if (error.code === 'MISSING_SESSION') recheckUsers()
  else for (const { fail } of shown) fail(error)
}

interface Requests {
  /** Joins the request that is on its way. */
  readonly share: () => Promise<void>
  /** One that begins after this: what is on its way may be older than the change. */
  readonly refresh: () => Promise<void>
}

function oneAtATime(request: () => Promise<void>): Requests {
  let flight: Promise<void> | undefined
  let following: Promise<void> | undefined
  const share = (): Promise<void> => {
    flight ??= request().finally(() => {
      flight = undefined
    })
    return flight
  }
  const refresh = (): Promise<void> => {
    if (!flight) return share()
    following ??= flight.then(() => {
      following = undefined
      return share()
    })
    return following
  }
  return { share, refresh }
}

/** Somebody looks at the page (again). One that is new has just been asked for. */
function isVisit(event: Event): boolean {
  const { type, persisted } = event as Partial<PageTransitionEvent>
  if (type === 'message' || document.visibilityState === 'hidden') return false
  return type !== 'pageshow' || persisted === true
}

function createEntry(url: string, initial: UserState): UserEntry {
  const listeners = new Set<() => void>()
  let state = initial
  let seeds = 0
  // The clock is not read before the first subscription: a prerender must not touch it.
  let askedAt: number | undefined

  const subject = (): string | null => state.user?.sub ?? null
  const tell = (): void => {
    if (!state.isLoading && !state.error) tellTabs(subject())
  }

  function change(next: UserState): void {
    const { isLoading, user } = state
    state = next
    if (isLoading || user?.sub !== next.user?.sub) {
      if (!isLoading) forgetTokens()
      tell()
    }
    for (const listener of [...listeners]) listener()
  }

  const { share, refresh } = oneAtATime(async () => {
    const before = seeds
    askedAt = performance.now()
    const next = await request(url, () => state)
    // A seed that arrived meanwhile is newer than this answer.
    if (seeds === before && next !== state) change(next)
  })

  function revisit(event: Event): void {
    const { data, persisted } = event as Partial<MessageEvent & PageTransitionEvent>
    const isNews = event.type === 'message' && (state.isLoading || data !== subject())
    if (isNews) void refresh()
    // A page taken out of the back/forward cache may be from before a logout: it is always checked.
    const isRecent = askedAt !== undefined && performance.now() - askedAt < THROTTLE
    if (isVisit(event) && (persisted || state.error || !isRecent)) void share()
  }

  const self: Shown = {
    refresh,
    fail(error) {
      // The first refusal says it all; those after it have other codes, since the refresh token is gone by then.
      if (state.user && state.error?.status !== 401) change({ ...state, error })
    },
  }

  function subscribe(listener: () => void): () => void {
    // A server renders what it has; nothing may begin there.
    if (typeof window === 'undefined') return () => undefined
    listeners.add(listener)
    if (!shown.has(self)) {
      shown.add(self)
      listen(revisit, true)
      tell()
    }
    if (state.isLoading || state.error) void share()
    askedAt ??= performance.now()
    return () => {
      listeners.delete(listener)
      if (listeners.size > 0) return
      shown.delete(self)
      listen(revisit, false)
    }
  }

  function seed(user: User | null): void {
    seeds++
    change(known(user))
  }

  return { current: () => state, initial: () => initial, subscribe, refresh, seed }
}

const profile: Route<User> = {
  route: 'profile',
  name: 'IdpError',
  isAnswer: (body): body is User => typeof membersOf<'sub'>(body).sub === 'string',
}

/** Never rejects. Returns the last state itself when nothing has changed, so that components do not render again. */
function request(url: string, last: () => UserState): Promise<UserState> {
  return askRoute(profile, url).then(
    (user) => (isSame(user, last()) ? last() : known(user)),
    (error: RouteRequestError) =>
      error.status === 204 || error.status === 401
        ? known(null)
        : { user: last().user, isLoading: false, error },
  )
}

function isSame(user: User, { user: last, error }: UserState): boolean {
  return !error && JSON.stringify(user) === JSON.stringify(last)
}
