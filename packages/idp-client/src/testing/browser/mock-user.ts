import type { UserState } from '../../browser/page-state.ts'
import { mockPage } from '../../browser/page-state.ts'
import { browserError } from '../../browser/request-error.ts'
import { resolveRoutes } from '../../browser/routes.ts'
import type { UserEntry } from '../../browser/user-store.ts'
import type { User } from '../../session/model/session-data.ts'

/** The state that components get; without a property no user is signed in. */
export interface MockedUser {
  readonly user?: User | null
  /** The first request is pending. */
  readonly isLoading?: boolean
  /** HTTP status of a request that failed; `error` is then that of a route which responded with it. */
  readonly failedWith?: number
}

let state: UserState
const listeners = new Set<() => void>()

const entry: UserEntry = {
  current: () => state,
  initial: () => state,
  subscribe(listener) {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  },
  refresh: async () => {},
  seed: () => {},
}

/**
 * Lets `useUser` of every framework, and `userStore`, return this state, without requests and whatever `IdpProvider` or `configure`
 * say. Another call changes the state of mounted components. Returns a function that ends it.
 *
 * @example
 * mockUser({ user: { sub: 'alice', name: 'Alice' } })
 * mockUser({ isLoading: true })
 */
export function mockUser({ user = null, isLoading = false, failedWith }: MockedUser = {}): () => void {
  const error =
    failedWith === undefined
      ? null
      : browserError('INTERNAL_ERROR', `The profile route responded with ${failedWith}.`, {
          status: failedWith,
        })
  state = { user, isLoading, error }
  mockPage({ store: { entry: () => entry, recheck: () => {} }, urls: resolveRoutes({}) })
  for (const listener of [...listeners]) listener()
  return () => mockPage(undefined)
}
