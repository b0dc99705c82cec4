import type { User } from '../session/model/session-data.ts'
import type { Route } from './ask-route.ts'
import { currentUrls, requestRoute, toProperties } from './ask-route.ts'
import type { UserState } from './page-state.ts'
import { forgetTokens, known, toIdentity } from './page-state.ts'
import type { RouteRequestError } from './request-error.ts'
import { hasPage, listen, notifyTabs } from './tabs.ts'
import { startTimer } from './timer.ts'
import type { Watched } from './user-store.ts'

/** Keeps one entry of the user store up to date. */
export interface Watcher {
  /** Starts, continues or stops, depending on the subscribers. */
  readonly attend: () => void
  /** Sends one request that starts after this call: a pending one may be older than the change. */
  readonly refresh: () => Promise<void>
  /** Reports the signed-in user and the organization to the other tabs. */
  readonly post: () => void
}

/** Milliseconds. */
const THROTTLE = 5_000

/** A shown user, which changes elsewhere are reported to. */
interface Shown {
  readonly url: string
  readonly current: () => UserState
  readonly refresh: () => Promise<void>
  readonly fail: (error: RouteRequestError) => void
}

const shown = new Set<Shown>()

/** Returns whether the page shows the user, so that a change is noticed without further requests. */
export const isUserShown = (): boolean => shown.size > 0

/** Returns whether the page shows another user of the session than this one. */
export const isOtherShown = (sub: unknown): boolean =>
  [...shown].some(({ current, url }) => url === currentUrls().profile && (current().user?.sub ?? sub) !== sub)

/** Requests every shown user again: the session may have changed. */
export function recheckUsers(): void {
  for (const { refresh } of shown) void refresh()
}

/** Drops all tokens, and reports that only a new login yields one, to everything that shows the user; once for all callers. */
export function reportFinal(error: RouteRequestError): void {
  forgetTokens()
  // The session is gone: update its users now, not at the next focus.
  if (error.code === 'MISSING_SESSION' || error.code === 'SESSION_EXPIRED') recheckUsers()
  else for (const { fail } of shown) fail(error)
}

interface Requests {
  /** Joins the pending request. */
  readonly share: () => Promise<void>
  /** Sends one that starts after this call: a pending one may be older than the change. */
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

export function watch({ url, current, change, listeners, seeds }: Watched): Watcher {
  let sinceRequest = startTimer()
  /** Whether the user may have changed while nothing showed it. */
  let isOutdated = false
  /** Says that the user needs a new login, if a token was refused since the latest request was sent. */
  let rejection: RouteRequestError | null = null

  const identity = (): string | null => toIdentity(current().user)

  function post(): void {
    const { error, isLoading } = current()
    if (!isLoading && !error) notifyTabs(identity())
  }

  const { share, refresh } = oneAtATime(async () => {
    const before = seeds()
    begin()
    const next = await request(url, current)
    // A seed or a rejection that arrived meanwhile is newer than this response.
    if (seeds() !== before || next === current()) return
    const { isLoading, user } = current()
    const isSame = isLoading || user?.sub === next.user?.sub
    change(next.user && rejection && isSame ? { ...next, error: rejection } : next)
  })

  function begin(): void {
    sinceRequest = startTimer()
    rejection = null
    if (hasPage()) observe()
  }

  function observe(): void {
    isOutdated = false
    listen(revisit, true)
  }

  function revisit({ data, persisted, type }: Partial<MessageEvent & PageTransitionEvent>): void {
    const isRestored = type === 'pageshow'
    // A page that was loaded, not restored.
    if (isRestored && !persisted) return
    if (listeners.size === 0) {
      isOutdated = true
      listen(revisit, false)
      return
    }
    const { error, isLoading, user } = current()
    if (type === 'message') {
      // Not for every error: two tabs that ask for a token again without it would call each other without end.
      if (isLoading || (error && !user) || data !== identity()) void refresh()
      return
    }
    const isRecent = sinceRequest() < THROTTLE
    // The store itself requests the user of a restored page, also if this code could not be loaded.
    if (!isRestored && document.visibilityState !== 'hidden' && (error || !isRecent)) void share()
  }

  const self: Shown = {
    url,
    current,
    refresh,
    fail(error) {
      rejection ??= error
      // Only the first rejection is shown; later ones have other codes, because the refresh token is gone by then.
      const state = current()
      if (state.user && state.error?.status !== 401) change({ ...state, error })
    },
  }

  function attend(): void {
    if (!hasPage()) return
    if (listeners.size === 0) {
      shown.delete(self)
      return
    }
    if (!shown.has(self)) {
      shown.add(self)
      if (isOutdated) void refresh()
      else {
        observe()
        post()
      }
    }
    const { error, isLoading } = current()
    // A new login for tokens is still needed, whatever the profile route responds.
    if (isLoading || (error && error.status !== 401)) void share()
  }

  return { attend, refresh, post }
}

const profile: Route<User> = {
  route: 'profile',
  name: 'IdpError',
  isValid: (body): body is User => typeof toProperties<'sub'>(body).sub === 'string',
}

/** Never rejects. Returns the last state itself if nothing has changed, so that components do not render again. */
function request(url: string, last: () => UserState): Promise<UserState> {
  return requestRoute(profile, url).then(
    (user) => {
      const { error, user: before } = last()
      return !error && JSON.stringify(user) === JSON.stringify(before) ? last() : known(user)
    },
    (error: RouteRequestError) =>
      error.status === 204 || error.status === 401 ? known(null) : { ...last(), isLoading: false, error },
  )
}
