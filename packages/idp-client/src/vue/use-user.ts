import type { ComputedRef } from 'vue'
import { computed, onMounted, onScopeDispose, shallowRef } from 'vue'
import type { UserOptions } from '../browser/current-user.ts'
import { userStore } from '../browser/current-user.ts'
import type { RouteRequestError } from '../browser/request-error.ts'
import type { User } from '../session/model/session-data.ts'

/** Options of `useUser`. */
export type UseUserOptions = UserOptions

export interface UserResult {
  /** `null` during the first request and if no user is signed in; after a failure, the last known user. */
  readonly user: ComputedRef<User | null>
  /** True until the first response, and always on the server and until the component is mounted. */
  readonly isLoading: ComputedRef<boolean>
  /** Error of the last request; `null` after a successful one. 401 and 204 are not failures. */
  readonly error: ComputedRef<RouteRequestError | null>
  /** Requests the profile route again; resolves after the response, never rejects. */
  readonly invalidate: () => Promise<void>
}

/**
 * Returns the signed-in user as refs. Call it in the setup of a component. All components share one request per route, as
 * described for `userStore` of `idp-client/browser`, whose `configure` sets paths and a user from the server.
 *
 * @example
 * const { user, isLoading } = useUser()
 */
export function useUser(options?: UseUserOptions): UserResult {
  const store = userStore(options)
  const state = shallowRef(store.initial())
  const update = (): void => {
    state.value = store.current()
  }
  let unsubscribe = (): void => {}
  // Not before: the first render has to be that of the server.
  onMounted(() => {
    unsubscribe = store.subscribe(update)
    update()
  })
  onScopeDispose(() => unsubscribe())
  return {
    user: computed(() => state.value.user),
    isLoading: computed(() => state.value.isLoading),
    error: computed(() => state.value.error),
    invalidate: store.refresh,
  }
}
