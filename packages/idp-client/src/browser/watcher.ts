import type { User } from '../session/model/session-data.ts'
import type { Route } from './ask-route.ts'
import { askRoute, toProperties } from './ask-route.ts'
import { currentUrls } from './current-urls.ts'
import type { RouteRequestError } from './request-error.ts'
import { listen, tellTabs } from './tabs.ts'
import type { UserState } from './user-state.ts'
import { known } from './user-state.ts'
import type { Watched } from './user-store.ts'

/** Keeps one entry of the user store up to date. */
export interface Watcher {
  /** Starts, continues or stops, depending on whether there are subscribers. */
  readonly attend: () => void
  /** One request that begins after this: what is on its way may be older than the change. */
  readonly refresh: () => Promise<void>
  /** Says to the other tabs who is signed in. */
  readonly tell: () => void
}

/** Milliseconds. */
const THROTTLE = 5_000

/** A shown user, to be notified of changes elsewhere. */
interface Shown {
  readonly url: string
  readonly subject: () => string | null
  readonly refresh: () => Promise<void>
  readonly fail: (error: RouteRequestError) => void
}

const shown = new Set<Shown>()

/** Whether a change of the user is noticed by itself. */
export const isUserShown = (): boolean => shown.size > 0

/** Whether the page shows another user of the session than this one. */
export const isOtherShown = (sub: unknown): boolean =>
  [...shown].some(({ subject, url }) => url === currentUrls().profile && (subject() ?? sub) !== sub)

/** Asks for the users again that are shown: the session may have become another one. */
export function recheckUsers(): void {
  for (const { refresh } of shown) void refresh()
}

/** Nothing but a new login brings a token again: said to everybody who shows the user, once for all who asked for one. */
export function reportFinal(error: RouteRequestError): void {
  // The session is gone: components that show its user learn it now, not at the next focus.
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

export function watch({ url, current, change, listeners, seeds }: Watched): Watcher {
  let askedAt = 0

  const subject = (): string | null => current().user?.sub ?? null

  function tell(): void {
    const { error, isLoading } = current()
    if (!isLoading && !error) tellTabs(subject())
  }

  const { share, refresh } = oneAtATime(async () => {
    const before = seeds()
    askedAt = performance.now()
    const next = await request(url, current)
    // A seed that arrived meanwhile is newer than this answer.
    if (seeds() === before && next !== current()) change(next)
  })

  function revisit({ data, type }: Partial<MessageEvent>): void {
    const { error, isLoading } = current()
    if (type === 'message') {
      if (isLoading || data !== subject()) void refresh()
      return
    }
    const isRecent = performance.now() - askedAt < THROTTLE
    if (type !== 'pageshow' && document.visibilityState !== 'hidden' && (error || !isRecent)) void share()
  }

  const self: Shown = {
    url,
    subject,
    refresh,
    fail(error) {
      // The first refusal says it all; those after it have other codes, since the refresh token is gone by then.
      const state = current()
      if (state.user && state.error?.status !== 401) change({ ...state, error })
    },
  }

  function attend(): void {
    // A test may have taken its environment down while this code was loading.
    if (typeof document === 'undefined') return
    if (listeners.size === 0) {
      shown.delete(self)
      listen(revisit, false)
      return
    }
    if (!shown.has(self)) {
      shown.add(self)
      listen(revisit, true)
      tell()
    }
    const { error, isLoading } = current()
    if (isLoading || error) void share()
    askedAt ||= performance.now()
  }

  return { attend, refresh, tell }
}

const profile: Route<User> = {
  route: 'profile',
  name: 'IdpError',
  isAnswer: (body): body is User => typeof toProperties<'sub'>(body).sub === 'string',
}

/** Never rejects. Returns the last state itself when nothing has changed, so that components do not render again. */
function request(url: string, last: () => UserState): Promise<UserState> {
  return askRoute(profile, url).then(
    (user) => {
      const { error, user: before } = last()
      return !error && JSON.stringify(user) === JSON.stringify(before) ? last() : known(user)
    },
    (error: RouteRequestError) =>
      error.status === 204 || error.status === 401 ? known(null) : { ...last(), isLoading: false, error },
  )
}
