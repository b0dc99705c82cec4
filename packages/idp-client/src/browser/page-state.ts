import type { User } from '../session/model/session-data.ts'
import type { Page } from './page.ts'
import type { RouteRequestError } from './request-error.ts'

/* State that the entry shares with the code that loads later (`requests.ts`). */

export let announcedPage: Page | undefined

/** Sets the page for functions that are not hooks; the last call wins. In the browser only, where a page has one user. */
export function announcePage(page: Page): void {
  announcedPage = page
}

export let mockedPage: Page | undefined

/** Sets the page of component tests, which takes precedence over every other one, until it is set to `undefined`. */
export function mockPage(page: Page | undefined): void {
  mockedPage = page
}

/** Changes whenever cached tokens may be those of another user. */
export let tokenEpoch = 0

/** Drops all cached tokens; pending requests are repeated. */
export function forgetTokens(): void {
  tokenEpoch++
}

/** State for components; replaced as a whole, never mutated. */
export interface UserState {
  readonly user: User | null
  /** True until the first response. */
  readonly isLoading: boolean
  /** Error of the last request, or that this user needs a new login for a token. */
  readonly error: RouteRequestError | null
}

/** Identifies the user and the organization of a session; `null` if no user is signed in. */
export const toIdentity = (user: User | null): string | null =>
  user && JSON.stringify([user.sub, user.org_id ?? user['org_name']])

export const known = (user: User | null): UserState => ({ user, isLoading: false, error: null })
