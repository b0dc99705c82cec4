import type { ComputedRef } from 'vue'
import type { NuxtApp } from '#imports'
import { computed, navigateTo, shallowRef, useNuxtApp } from '#imports'
import type { Page } from '../browser/page.ts'
import type { RouteRequestError } from '../browser/request-error.ts'
import { withQuery } from '../browser/with-query.ts'
import type { User } from '../session/model/session-data.ts'

/** The signed-in user, and how to change who that is. */
export interface UserSession {
  /** `null` if no user is signed in, and while the user is not known; after a failure, the last known user. */
  readonly user: ComputedRef<User | null>
  /** Whether there is a user. */
  readonly loggedIn: ComputedRef<boolean>
  /** True until the user is known: on pages that are cached or prerendered, until the browser has requested the user. */
  readonly isLoading: ComputedRef<boolean>
  /** Error of the last request; `null` after a successful one. 401 and 204 are not failures. */
  readonly error: ComputedRef<RouteRequestError | null>
  /** Requests the profile route again; resolves after the response, never rejects. No effect on the server. */
  readonly fetch: () => Promise<void>
  /**
   * Sends the browser to the login, and afterwards to a path of the application, such as `/orders`, with or without the base URL.
   * Default, also for anything but a path: the current page. Can be the handler of an event: `@click="login"`.
   */
  readonly login: (returnTo?: string | Event) => Promise<unknown>
  /**
   * Sends the browser to the logout, and afterwards to a path of the application, as `login` does. Default, also for anything
   * but a path: `APP_BASE_URL`. Register the URL of another page at the provider.
   */
  readonly logout: (returnTo?: string | Event) => Promise<unknown>
}

/** An application of Nuxt, its page in the browser or on the server, and the URL of its logout. */
export interface Application {
  readonly app: NuxtApp
  readonly page: Page
  readonly logoutUrl: string
}

/** A user session, which follows the user of the page from the first call of `follow`. */
interface FollowedSession extends UserSession {
  readonly follow: () => void
}

/** Returns whether the argument of `login` or `logout` is a path, and not the URL of another site or an event. */
function isPath(returnTo: unknown): returnTo is string {
  if (typeof returnTo !== 'string') return false
  // Browsers remove tabs and line breaks, and take a backslash for a slash.
  if (/^\/(?![/\\\t\n\r])/.test(returnTo)) return true
  if (import.meta.dev) {
    // biome-ignore lint/suspicious/noConsole: for developers, who would only see that another page follows.
    console.warn('idp-client: login() and logout() ignore what is not a path such as /orders.')
  }
  return false
}

/** Creates the user session of an application: one for each request on the server, one for each page in a browser. */
export function createUserSession({ app, logoutUrl, page }: Application): FollowedSession {
  const { store, urls } = page
  const { current, refresh, subscribe } = store.entry(urls.profile)
  const state = shallowRef(current())
  let isFollowed = false

  const update = (): void => {
    state.value = current()
  }
  const start = (): void => {
    subscribe(update)
    update()
  }
  function follow(): void {
    if (isFollowed || import.meta.server) return
    isFollowed = true
    // Not before: the first render has to be that of the server.
    if (app.isHydrating) app.hooks.hookOnce('app:suspense:resolve', start)
    else start()
  }

  async function leave(url: string, returnTo?: string): Promise<unknown> {
    const target = returnTo === undefined ? url : withQuery(url, { returnTo })
    return app.runWithContext(() => navigateTo(target, { external: true }))
  }
  const currentPath = (): string => app.$router.resolve(app.$router.currentRoute.value.fullPath).href

  return {
    user: computed(() => state.value.user),
    loggedIn: computed(() => state.value.user !== null),
    isLoading: computed(() => state.value.isLoading),
    error: computed(() => state.value.error),
    fetch: async () => (import.meta.server ? undefined : refresh()),
    login: (returnTo) => leave(urls.login, urls.locate(isPath(returnTo) ? returnTo : currentPath())),
    logout: (returnTo) => leave(logoutUrl, isPath(returnTo) ? urls.locate(returnTo) : undefined),
    follow,
  }
}

/**
 * Returns the signed-in user as refs, on the server and in the browser. All callers share one request per page, which is not
 * needed if the server has rendered the user. It is repeated as described for `userStore` of `idp-client/browser`.
 *
 * @example
 * const { user, loggedIn, logout } = useUserSession()
 */
export function useUserSession(): UserSession {
  const { follow, ...session } = useNuxtApp().$userSession as FollowedSession
  follow()
  return session
}
