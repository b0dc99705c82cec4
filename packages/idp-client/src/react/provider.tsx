import type { Context, ReactElement, ReactNode } from 'react'
import { createContext, useContext, useEffect, useInsertionEffect, useMemo, useRef, useState } from 'react'
import { announcePage } from '../browser/announced-page.ts'
import type { Page, PageOptions } from '../browser/page.ts'
import { createPage, plainPage } from '../browser/page.ts'
import type { RouteOptions } from '../browser/routes.ts'
import { resolveRoutes } from '../browser/routes.ts'

export interface IdpProviderProps extends PageOptions {
  readonly children?: ReactNode
}

const PageContext: Context<Page | null> = createContext<Page | null>(null)

/**
 * Gives `useUser`, `withPageAuthRequired`, `getAccessToken` and the functions of `idp-client/browser` their user and their
 * paths. Optional: without it they work with the defaults and the variables, and ask the profile route once. The user
 * lives in this component, so that a server which renders for several people at once never mixes them up.
 *
 * @example
 * const session = await idp.getSession()
 * return <IdpProvider user={session?.user ?? null}>{children}</IdpProvider>
 */
export function IdpProvider({ user, routes, basePath, children }: IdpProviderProps): ReactElement {
  // As text, so that routes which are written out in the element are the same in every render.
  const given = JSON.stringify({ routes, basePath })
  const urls = useMemo(() => resolveRoutes(JSON.parse(given) as RouteOptions), [given])
  const [{ store }] = useState(() => createPage({ user, routes, basePath }))
  const page = useMemo(() => ({ store, urls }), [store, urls])
  // Of all effects the first, so that those of the page may ask for a token already.
  useInsertionEffect(() => announcePage(page), [page])
  const seeded = useRef(user)
  useEffect(() => {
    if (user === undefined || user === seeded.current) return
    seeded.current = user
    store.entry(urls.profile).seed(user)
  }, [store, urls, user])
  const isSeeded = user !== undefined
  // Other tabs learn who is signed in here, for instance nobody after a logout, also where no component shows the user.
  useEffect(
    () => (isSeeded ? store.entry(urls.profile).subscribe(() => {}) : undefined),
    [store, urls, isSeeded],
  )
  return <PageContext.Provider value={page}>{children}</PageContext.Provider>
}

export function usePage(): Page {
  return useContext(PageContext) ?? plainPage()
}
