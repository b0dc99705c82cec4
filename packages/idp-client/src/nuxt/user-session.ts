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
   * Sends the browser to the login, and afterwards to a path of the application; default: the current page. Can be the handler
   * of an event: `@click="login"`.
   */
  readonly login: (returnTo?: string | Event) => Promise<unknown>
  /**
   * Sends the browser to the logout, and afterwards to a path of the application; default: the base URL. Register the URL of
   * another page at the provider.
   */
  readonly logout: (returnTo?: string | Event) => Promise<unknown>
}

/** An application of Nuxt, its page in the browser or on the server, and its URLs. */
export interface Application {
  readonly app: NuxtApp
  readonly page: Page
  readonly baseUrl: string
  readonly logoutUrl: string
}

/** A user session, which follows the user of the page from the first call of `follow`. */
interface FollowedSession extends UserSession {
  readonly follow: () => void
}

/** Creates the user session of an application: one for each request on the server, one for each page in a browser. */
export function createUserSession({ app, baseUrl, logoutUrl, page }: Application): FollowedSession {
  const { current, refresh, subscribe } = page.store.entry(page.urls.profile)
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

  async function leave(url: string, path?: string | Event): Promise<unknown> {
    const target =
      typeof path === 'string' ? withQuery(url, { returnTo: baseUrl.replace(/\/$/, '') + path }) : url
    return app.runWithContext(() => navigateTo(target, { external: true }))
  }

  return {
    user: computed(() => state.value.user),
    loggedIn: computed(() => state.value.user !== null),
    isLoading: computed(() => state.value.isLoading),
    error: computed(() => state.value.error),
    fetch: async () => (import.meta.server ? undefined : refresh()),
    login: (path) =>
      leave(page.urls.login, typeof path === 'string' ? path : app.$router.currentRoute.value.fullPath),
    logout: (path) => leave(logoutUrl, path),
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
