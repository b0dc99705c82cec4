import type { User } from '../session/model/session-data.ts'
import { announcedPage, mockedPage } from './page-state.ts'
import type { BrowserRoutes, RouteUrls } from './routes.ts'
import { resolveRoutes } from './routes.ts'
import type { UserStore } from './user-store.ts'
import { createUserStore } from './user-store.ts'

/** Route URLs and user store of a page. */
export interface Page {
  readonly store: UserStore
  readonly urls: RouteUrls
}

let plain: Page | undefined

/** Returns the announced page, otherwise one with default routes. */
export const currentPage = (): Page => mockedPage ?? announcedPage ?? plainPage()

/** Returns a page without options; on a server a new one per call, so that users are never mixed up. */
export function plainPage(): Page {
  if (typeof window === 'undefined') return createPage({})
  plain ??= createPage({})
  return plain
}

export interface PageOptions {
  /** Paths that differ from the default ones; they take precedence over the variables. */
  readonly routes?: BrowserRoutes | undefined
  /**
   * The application's base path; default `NEXT_PUBLIC_BASE_PATH` or `FRAMEWORK_PUBLIC_BASE_PATH`. Added exactly once.
   */
  readonly basePath?: string | undefined
  /**
   * The user that the server has read; then no request is needed. `null`: no user is signed in. If absent, the first
   * component that needs the user requests the profile route.
   */
  readonly user?: User | null | undefined
}

export function createPage(options: PageOptions): Page {
  const urls = resolveRoutes(options)
  const store = createUserStore()
  store.entry(urls.profile, options.user)
  return { store, urls }
}
