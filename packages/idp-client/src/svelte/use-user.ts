import type { UserOptions } from '../browser/current-user.ts'
import { userStore } from '../browser/current-user.ts'
import type { UserState } from '../browser/page-state.ts'

/** Options of `useUser`. */
export type UseUserOptions = UserOptions

/** A readable store of Svelte, which components read as `$account`. */
export interface UserResult {
  /** Calls back at once and at every change; the first subscriber starts the request. */
  readonly subscribe: (run: (state: UserState) => void) => () => void
  /** Requests the profile route again; resolves after the response, never rejects. */
  readonly invalidate: () => Promise<void>
}

/**
 * Returns the signed-in user as a readable store of `{ user, isLoading, error }`. All components share one request per route,
 * as described for `userStore` of `idp-client/browser`, whose `configure` sets paths and a user from the server.
 *
 * @example
 * const account = useUser()
 * // {$account.user?.name}
 */
export function useUser(options?: UseUserOptions): UserResult {
  const { current, refresh, subscribe } = userStore(options)
  return {
    subscribe(run) {
      run(current())
      return subscribe(() => run(current()))
    },
    invalidate: refresh,
  }
}
