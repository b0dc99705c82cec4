import { useMemo, useSyncExternalStore } from 'react'
import type { RouteRequestError } from '../browser/request-error.ts'
import type { User } from '../session/model/session-data.ts'
import { usePage } from './provider.tsx'

export interface UseUserOptions {
  /** Another path than the profile route of `IdpProvider`; gets the base path in front unless it has it. */
  readonly route?: string | undefined
}

export interface UserResult {
  /** Null while the first request runs and when nobody is signed in; after a failure, the last known user. */
  readonly user: User | null
  /** True until the first answer, also on the server unless `IdpProvider` knows the user. */
  readonly isLoading: boolean
  /**
   * Why the last request failed; null again after one that succeeded. 401 and 204 are answers, not failures. Also why
   * `getAccessToken` has found that this user needs a new login for a token (`FAILED_TO_REFRESH_TOKEN`,
   * `MISSING_REFRESH_TOKEN`): set once, however many asked.
   */
  readonly error: RouteRequestError | null
  /** Asks the profile route again, for example after a profile was edited; settles with the answer, never rejects. */
  readonly invalidate: () => Promise<void>
}

/**
 * The signed-in user in a client component. All components share one request per route. It is repeated when the window
 * gets the focus (at most every 5 seconds), when the network comes back, when the page leaves the back/forward cache, and
 * when another tab sees another user.
 *
 * @example
 * const { user, isLoading, error } = useUser()
 */
export function useUser({ route }: UseUserOptions = {}): UserResult {
  const { store, urls } = usePage()
  const entry = store.entry(route === undefined ? urls.profile : urls.locate(route))
  const state = useSyncExternalStore(entry.subscribe, entry.current, entry.initial)
  return useMemo(() => ({ ...state, invalidate: entry.refresh }), [state, entry])
}
