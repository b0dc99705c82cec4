import type { User } from '../session/model/session-data.ts'
import type { PageOptions } from './page.ts'
import { createPage, currentPage } from './page.ts'
import { announcePage } from './page-state.ts'
import type { UserEntry } from './user-store.ts'

export interface UserOptions {
  /** Path to use instead of the profile route; the base path is added unless it is already there. */
  readonly route?: string | undefined
}

/**
 * Sets what differs from the defaults: paths, base path, and the user that the server has already read. Call it before
 * anything else; `IdpProvider` does the same with its props. No effect on a server, which serves several users.
 *
 * @example
 * configure({ basePath: '/app', routes: { profile: '/me' } })
 */
export function configure({ user, ...paths }: PageOptions): void {
  if (typeof window === 'undefined') return
  const page = createPage(paths)
  // Not the initial state, in which a page hydrates: a server has rendered it without this user.
  if (user !== undefined) page.store.entry(page.urls.profile).seed(user)
  announcePage(page)
}

/**
 * Returns the store of the signed-in user, for any framework to bind to: `current()` returns an immutable state,
 * `subscribe` calls back on every change. The first subscriber starts the request. It is repeated when the window gets
 * the focus (at most every 5 seconds), when the network comes back, when the page leaves the back/forward cache, and
 * when another tab reports another user or organization.
 *
 * @example
 * const store = userStore()
 * const end = store.subscribe(() => render(store.current()))
 */
export function userStore({ route }: UserOptions = {}): UserEntry {
  const { store, urls } = currentPage()
  return store.entry(route === undefined ? urls.profile : urls.locate(route))
}

/**
 * Requests the profile route and returns the user, or `null` if no user is signed in. Rejects with a
 * `RouteRequestError`.
 */
export async function fetchUser(options?: UserOptions): Promise<User | null> {
  const { current, refresh } = userStore(options)
  await refresh()
  const { error, user } = current()
  if (error) throw error
  return user
}
