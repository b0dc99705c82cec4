import type { Context, ReactElement, ReactNode } from 'react'
import { createContext, useContext, useEffect, useInsertionEffect, useMemo, useRef, useState } from 'react'
import type { User } from '../session/session-data.ts'
import { announceUrls } from './page-urls.ts'
import type { BrowserRoutes, RouteUrls } from './routes.ts'
import { resolveRoutes } from './routes.ts'
import type { UserStore } from './user-store.ts'
import { createUserStore } from './user-store.ts'

export interface IdpProviderProps {
  /**
   * The user of the session that the server has read: `useUser` then answers at once, without a request. `null` says that
   * nobody is signed in; left out (or undefined), the first `useUser` asks the profile route.
   */
  readonly user?: User | null | undefined
  /** Paths that differ from the default ones; they win over the variables. */
  readonly routes?: BrowserRoutes | undefined
  /** The application's base path; default `NEXT_PUBLIC_BASE_PATH` or `FRAMEWORK_PUBLIC_BASE_PATH`. Put in front exactly once. */
  readonly basePath?: string | undefined
  readonly children?: ReactNode
}

/** What hooks get from the provider around them. */
export interface IdpEnvironment {
  readonly store: UserStore
  readonly urls: RouteUrls
}

const EnvironmentContext: Context<IdpEnvironment | null> = createContext<IdpEnvironment | null>(null)

/**
 * Gives `useUser`, `withPageAuthRequired` and `getAccessToken` their user and their paths. Optional: without it they work with the defaults
 * and the variables, and ask the profile route once. The user lives in this component, so that a server which renders
 * for several people at once never mixes them up.
 *
 * @example
 * const session = await idp.getSession()
 * return <IdpProvider user={session?.user ?? null}>{children}</IdpProvider>
 */
export function IdpProvider({ user, routes, basePath, children }: IdpProviderProps): ReactElement {
  const { login, profile, accessToken } = routes ?? {}
  const urls = useMemo(
    () => resolveRoutes({ routes: { login, profile, accessToken }, basePath }),
    [login, profile, accessToken, basePath],
  )
  // Of all effects the first, so that those of the page may ask for a token already.
  useInsertionEffect(() => announceUrls(urls), [urls])
  const [store] = useState(() => {
    const created = createUserStore()
    created.entry(urls.profile, user)
    return created
  })
  const seeded = useRef(user)
  useEffect(() => {
    if (user === undefined || user === seeded.current) return
    seeded.current = user
    store.entry(urls.profile).seed(user)
  }, [store, urls, user])
  const environment = useMemo(() => ({ store, urls }), [store, urls])
  return <EnvironmentContext.Provider value={environment}>{children}</EnvironmentContext.Provider>
}

export function useEnvironment(): IdpEnvironment {
  return useContext(EnvironmentContext) ?? withoutProvider()
}

let ofThisPage: IdpEnvironment | undefined

function withoutProvider(): IdpEnvironment {
  if (typeof window === 'undefined') return createEnvironment()
  ofThisPage ??= createEnvironment()
  return ofThisPage
}

function createEnvironment(): IdpEnvironment {
  return { store: createUserStore(), urls: resolveRoutes({}) }
}
