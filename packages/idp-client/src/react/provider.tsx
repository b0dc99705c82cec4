import type { Context, ReactElement, ReactNode } from 'react'
import { createContext, useContext, useEffect, useInsertionEffect, useMemo, useRef, useState } from 'react'
import type { Page, PageOptions } from '../browser/page.ts'
import { createPage, plainPage } from '../browser/page.ts'
import { announcePage, mockedPage } from '../browser/page-state.ts'
import { resolveRoutes } from '../browser/routes.ts'

export interface IdpProviderProps extends PageOptions {
  readonly children?: ReactNode
}

const PageContext: Context<Page | null> = createContext<Page | null>(null)

/**
 * Provides user and paths to `useUser`, `withPageAuthRequired`, `getAccessToken` and the functions of
 * `idp-client/browser`. Optional: without it they use the defaults and the variables, and request the profile route
 * once. The user is stored in this component, so that a server which renders for several users at once never mixes them
 * up.
 *
 * @example
 * const session = await idp.getSession()
 * return <IdpProvider user={session?.user ?? null}>{children}</IdpProvider>
 */
export function IdpProvider({ user, routes, basePath, children }: IdpProviderProps): ReactElement {
  // As a string, so that inline `routes` are equal in every render.
  const key = JSON.stringify({ routes, basePath })
  const urls = useMemo(() => resolveRoutes(JSON.parse(key) as PageOptions), [key])
  const [{ store }] = useState(() => createPage({ user, routes, basePath }))
  const page = useMemo(() => ({ store, urls }), [store, urls])
  // The earliest effect, so that effects of the page may already request a token.
  useInsertionEffect(() => announcePage(page), [page])
  const seeded = useRef(user)
  useEffect(() => {
    if (user === undefined || user === seeded.current) return
    seeded.current = user
    store.entry(urls.profile).seed(user)
  }, [store, urls, user])
  const isSeeded = user !== undefined
  // Reports the signed-in user to other tabs (for example that there is none after a logout), even if no component
  // shows the user.
  useEffect(
    () => (isSeeded ? store.entry(urls.profile).subscribe(() => {}) : undefined),
    [store, urls, isSeeded],
  )
  return <PageContext.Provider value={page}>{children}</PageContext.Provider>
}

export function usePage(): Page {
  const provided = useContext(PageContext)
  return mockedPage ?? provided ?? plainPage()
}
