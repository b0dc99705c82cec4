import type { User } from '../session/model/session-data.ts'
import { announcedPage } from './announced-page.ts'
import type { RouteOptions, RouteUrls } from './routes.ts'
import { resolveRoutes } from './routes.ts'
import type { UserStore } from './user-store.ts'
import { createUserStore } from './user-store.ts'

/** Where the routes of a page are, and the users behind them. */
export interface Page {
  readonly store: UserStore
  readonly urls: RouteUrls
}

let plain: Page | undefined

/** Returns the announced page, or one with default routes. */
export const currentPage = (): Page => announcedPage ?? plainPage()

/** A page of which nothing was said: on a server one per call, so that nobody meets another user in it. */
export function plainPage(): Page {
  if (typeof window === 'undefined') return createPage({})
  plain ??= createPage({})
  return plain
}

export interface PageOptions extends RouteOptions {
  /**
   * The user whom the server has read: known at once then, without a request. `null` says that nobody is signed in; left
   * out, the first who wants to know asks the profile route.
   */
  readonly user?: User | null | undefined
}

export function createPage(options: PageOptions): Page {
  const urls = resolveRoutes(options)
  const store = createUserStore()
  store.entry(urls.profile, options.user)
  return { store, urls }
}
