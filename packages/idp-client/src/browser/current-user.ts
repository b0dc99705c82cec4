import type { User } from '../session/model/session-data.ts'
import { announcePage } from './announced-page.ts'
import type { PageOptions } from './page.ts'
import { createPage, currentPage } from './page.ts'
import type { UserEntry } from './user-store.ts'

export interface UserOptions {
  /** Another path than the profile route; gets the base path in front unless it has it. */
  readonly route?: string | undefined
}

/**
 * Says what differs from the defaults: paths, base path, and the user whom the server has read already. Call it before
 * anything else; `IdpProvider` does the same by its props. Without effect on a server, where several users meet.
 *
 * @example
 * configure({ basePath: '/app', routes: { profile: '/me' } })
 */
export function configure(options: PageOptions): void {
  if (typeof window !== 'undefined') announcePage(createPage(options))
}

/**
 * The signed-in user, for any framework to bind to: `current()` is a state that never changes, `subscribe` calls back
 * whenever there is another one. The first subscriber starts the request. It is repeated when the window gets the focus (at
 * most every 5 seconds), when the network comes back, when the page leaves the back/forward cache, and when another tab
 * sees another user.
 *
 * @example
 * const store = userStore()
 * const end = store.subscribe(() => render(store.current()))
 */
export function userStore({ route }: UserOptions = {}): UserEntry {
  const { store, urls } = currentPage()
  return store.entry(route === undefined ? urls.profile : urls.locate(route))
}

/** Asks the profile route now: the user, or null when nobody is signed in. Rejects with a `RouteRequestError`. */
export async function fetchUser(options?: UserOptions): Promise<User | null> {
  const { current, refresh } = userStore(options)
  await refresh()
  const { error, user } = current()
  if (error) throw error
  return user
}
