import { useMemo, useSyncExternalStore } from 'react'
import type { RouteRequestError } from '../browser/request-error.ts'
import type { User } from '../session/model/session-data.ts'
import { usePage } from './provider.tsx'

export interface UseUserOptions {
  /** Path to use instead of the profile route of `IdpProvider`; the base path is added unless it is already there. */
  readonly route?: string | undefined
}

export interface UserResult {
  /** `null` during the first request and if no user is signed in; after a failure, the last known user. */
  readonly user: User | null
  /** True until the first response, also on the server unless `IdpProvider` has the user. */
  readonly isLoading: boolean
  /**
   * Error of the last request; `null` after a successful one. 401 and 204 are not failures. Also set, once for all
   * callers, if `getAccessToken` has found that this user needs a new login for a token (`FAILED_TO_REFRESH_TOKEN`,
   * `MISSING_REFRESH_TOKEN`).
   */
  readonly error: RouteRequestError | null
  /**
   * Requests the profile route again, for example after the profile was edited; resolves after the response, never
   * rejects.
   */
  readonly invalidate: () => Promise<void>
}

/**
 * Returns the signed-in user in a client component. All components share one request per route. It is repeated when the
 * window gets the focus (at most every 5 seconds), when the network comes back, when the page leaves the back/forward
 * cache, and when another tab reports another user or organization.
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
